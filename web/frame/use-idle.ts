import { useIsFetching } from "@tanstack/react-query";
import { useRouterState } from "@tanstack/react-router";
import { useEffect, useState } from "react";

/** So that what a later page needs loads at once. */
let wasIdle = false;
/** Longer than the pauses between the reads of a page that is loading. */
const quietMs = 300;

/** Loads the typeface for the pages after this one, which then have it from their first paint (`web/public/before-paint.js`). */
async function loadTypeface(): Promise<void> {
  try {
    const faces = await document.fonts.load("1em 'Inter Variable'");
    if (faces.length > 0) localStorage.setItem("typeface", "loaded");
  } catch {
    // the system's own does too
  }
}

/** Returns whether the page has shown what it has, so that code for later may load without delaying it. Stays true from then on. */
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
