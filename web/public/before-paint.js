// Runs before the first paint, so that a dark page never flashes white and no text changes its typeface.
{
  const root = document.documentElement;
  const stored = (/** @type {string} */ key) => {
    try {
      return localStorage.getItem(key);
    } catch {
      return null;
    }
  };
  // Mantine stores the choice under this key
  const chosen = stored("mantine-color-scheme-value");
  const isDark = chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  root.setAttribute("data-mantine-color-scheme", isDark ? "dark" : "light");
  // web/frame/use-idle.ts loads the typeface when the first page is idle; later pages use it
  if (stored("typeface") === "loaded") root.setAttribute("data-typeface", "");
}
