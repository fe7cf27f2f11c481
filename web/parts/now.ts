import { useSyncExternalStore } from "react";
import { serverNow } from "../calls/server-clock.ts";

const listeners = new Set<() => void>();
let seconds = wholeSeconds();
let timer: ReturnType<typeof setInterval> | undefined;

/** Returns the service's time in ms, rounded down to whole steps (ms, at least 1,000). A component that calls it renders again with each step. */
export function useNow(stepMs = 1_000): number {
  return useSyncExternalStore(subscribe, () => Math.floor((secondsNow() * 1_000) / stepMs)) * stepMs;
}

/** While nothing subscribes, the timer is off and `seconds` is old. */
function secondsNow(): number {
  if (timer === undefined) seconds = wholeSeconds();
  return seconds;
}

function wholeSeconds(): number {
  return Math.floor(serverNow() / 1_000);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(tick, 1_000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

function tick(): void {
  seconds = wholeSeconds();
  for (const listener of listeners) listener();
}
