import { useQuery } from "@tanstack/react-query";
import { useLocation } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { flushSync } from "react-dom";
import { highlighterQuery } from "../frame/code-block.tsx";
import { useIdle } from "../frame/use-idle.ts";

/** The longest time that a busy page waits for its next slice. */
const waitMsMax = 200;

/**
 * Returns how many of `all` slices of a long page to render: the first at once, and one more whenever the browser is idle, so that
 * rendering does not delay the reader's input. Waits for the highlighter before the second slice, because all visible code is rendered
 * again once it has loaded. Printing, or an address with a hash, renders all slices at once.
 */
export function useSlices(all: number): number {
  const [count, setCount] = useState(1);
  const { hash } = useLocation();
  const { isFetched: isColoured } = useQuery(highlighterQuery);
  const isReady = useIdle() && isColoured;
  if (hash !== "" && count < all) setCount(all);
  useEffect(() => {
    if (isReady && count < all) return whenIdle(() => setCount((before) => Math.min(before + 1, all)));
    return undefined;
  }, [isReady, count, all]);
  useEffect(() => {
    const showAll = () => flushSync(() => setCount(all));
    addEventListener("beforeprint", showAll);
    return () => removeEventListener("beforeprint", showAll);
  }, [all]);
  return count;
}

/** Calls `work` once the browser has nothing else to do. Returns a function that cancels this. */
function whenIdle(work: () => void): () => void {
  // Safari before 26.2 does not have it
  if (!("requestIdleCallback" in globalThis)) {
    const timer = setTimeout(work, 50);
    return () => clearTimeout(timer);
  }
  const request = requestIdleCallback(work, { timeout: waitMsMax });
  return () => cancelIdleCallback(request);
}
