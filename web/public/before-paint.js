// Runs before the first paint, so that a dark page never flashes white and no text changes its typeface.
{
  const root = document.documentElement;
  const chosen = (() => {
    try {
      return localStorage.getItem("mantine-color-scheme-value"); // Mantine stores the choice under this key
    } catch {
      return null;
    }
  })();
  const isDark = chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  root.setAttribute("data-mantine-color-scheme", isDark ? "dark" : "light");

  // The page is hidden until the typeface is there. If it comes late or fails, the page has the system's until it is loaded again.
  const waitMs = 2_000;
  const { typeface = "", range = "" } = /** @type {HTMLScriptElement} */ (document.currentScript).dataset;
  const face = new FontFace("Inter Variable", `url("${typeface}")`, { weight: "100 900", unicodeRange: range });
  const show = () => root.removeAttribute("data-waits");
  const late = setTimeout(show, waitMs);
  root.setAttribute("data-waits", "");
  const use = () => {
    if (!root.hasAttribute("data-waits")) return;
    clearTimeout(late);
    document.fonts.add(face);
    root.setAttribute("data-typeface", "");
    show();
  };
  face.load().then(use, show);
}
