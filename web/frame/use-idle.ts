import { useSyncExternalStore } from "react";

let isIdle = false;
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Returns whether the page has finished loading, so that other code can load without delaying it. Once true, stays true, on later pages too. */
export function useIdle(): boolean {
  return useSyncExternalStore(subscribe, () => isIdle);
}

/** Marks the page as idle, for all that wait for it. */
export function markIdle(): void {
  if (isIdle) return;
  performance.mark("idle");
  isIdle = true;
  for (const listener of listeners) listener();
}
