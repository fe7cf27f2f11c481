import { useIsFetching } from "@tanstack/react-query";
import { useRouterState } from "@tanstack/react-router";
import { useEffect, useState } from "react";

/** Shared by all pages, so that code for a later page loads at once. */
let wasIdle = false;
/** Longer than the pauses between the reads of a page that is loading. */
const quietMs = 300;

/** Loads the typeface for later pages, which then use it from their first paint (`web/public/before-paint.js`). */
async function loadTypeface(): Promise<void> {
  try {
    const faces = await document.fonts.load("1em 'Inter Variable'");
    if (faces.length > 0) localStorage.setItem("typeface", "loaded");
  } catch {
    // the system's typeface stays
  }
}

/** Returns whether the page has finished loading, so that other code can load without delaying it. Once true, stays true. */
export function useIdle(): boolean {
  const [isIdle, setIdle] = useState(wasIdle);
  const isLoading = useRouterState({ select: ({ status }) => status === "pending" });
  const isReading = useIsFetching() > 0;
  useEffect(() => {
    if (isIdle || isLoading || isReading) return;
    const timer = setTimeout(() => {
      if (!wasIdle) {
        performance.mark("idle");
        void loadTypeface();
      }
      wasIdle = true;
      setIdle(true);
    }, quietMs);
    return () => clearTimeout(timer);
  }, [isIdle, isLoading, isReading]);
  return isIdle;
}
