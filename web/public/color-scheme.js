// Before the first paint, so that a dark page never flashes white. The key is the one that Mantine keeps the choice under.
(function () {
  var chosen;
  try {
    chosen = localStorage.getItem("mantine-color-scheme-value");
  } catch (_) {
    chosen = null;
  }
  var dark = chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.setAttribute("data-mantine-color-scheme", dark ? "dark" : "light");
})();
