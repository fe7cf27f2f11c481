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
  void loadTypeface();
  isIdle = true;
  for (const listener of listeners) listener();
}

/** Loads the typeface for later pages, which then use it from their first paint (`web/public/before-paint.js`). */
async function loadTypeface(): Promise<void> {
  try {
    const faces = await document.fonts.load("1em 'Inter Variable'");
    if (faces.length > 0) localStorage.setItem("typeface", "loaded");
  } catch {
    // the system's typeface stays
  }
}
