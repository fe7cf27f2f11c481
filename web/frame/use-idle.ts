import { useIsFetching } from "@tanstack/react-query";
import { useRouterState } from "@tanstack/react-router";
import { useEffect, useState } from "react";

/** So that what a later page needs loads at once. */
let wasIdle = false;
/** Longer than the pauses between the reads of a page that is loading. */
const quietMs = 300;

/** Returns whether the page has shown what it has, so that code for later may load without delaying it. Stays true from then on. */
export function useIdle(): boolean {
  const [isIdle, setIdle] = useState(wasIdle);
  const isLoading = useRouterState({ select: ({ status }) => status === "pending" });
  const isReading = useIsFetching() > 0;
  useEffect(() => {
    if (isIdle || isLoading || isReading) return;
    const timer = setTimeout(() => {
      if (!wasIdle) performance.mark("idle");
      wasIdle = true;
      setIdle(true);
    }, quietMs);
    return () => clearTimeout(timer);
  }, [isIdle, isLoading, isReading]);
  return isIdle;
}
