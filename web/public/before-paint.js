// Runs before the first paint, so that a dark page never flashes white and no text changes its typeface.
{
  const root = document.documentElement;
  const kept = (/** @type {string} */ key) => {
    try {
      return localStorage.getItem(key);
    } catch {
      return null;
    }
  };
  // the key is the one that Mantine keeps the choice under
  const chosen = kept("mantine-color-scheme-value");
  const isDark = chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  root.setAttribute("data-mantine-color-scheme", isDark ? "dark" : "light");
  // web/frame/use-idle.ts loads the typeface when the first page is idle; the pages after it have it
  if (kept("typeface") === "loaded") root.setAttribute("data-typeface", "");
}
