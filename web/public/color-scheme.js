// Before the first paint, so that a dark page never flashes white. The key is the one that Mantine keeps the choice under.
{
  let chosen;
  try {
    chosen = localStorage.getItem("mantine-color-scheme-value");
  } catch {
    chosen = null;
  }
  const isDark = chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.setAttribute("data-mantine-color-scheme", isDark ? "dark" : "light");
}
