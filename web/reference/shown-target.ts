import { useLocation } from "@tanstack/react-router";
import { useEffect } from "react";

/** Shows the element that the address's hash names: unfolds its parents, scrolls to it, focuses it, and marks it with `data-marked`. */
export function useShownTarget(): void {
  const location = useLocation();
  useEffect(() => {
    const target = document.getElementById(location.hash);
    if (!target) return;
    for (let folded = target.closest("details"); folded; folded = folded.parentElement?.closest("details") ?? null) folded.open = true;
    target.setAttribute("tabindex", "-1");
    target.focus({ preventScroll: true });
    target.scrollIntoView();
    target.dataset["marked"] = "";
    return () => {
      delete target.dataset["marked"];
    };
  }, [location]);
}
