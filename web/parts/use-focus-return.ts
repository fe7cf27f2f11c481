import { useEffect, useRef, useState } from "react";

/**
 * Restores the focus when a dialog unmounts: to the element that had it before, or to the page's content if that is gone.
 * Mantine restores it only for dialogs that stay mounted while closed.
 */
export function useFocusReturn(): void {
  const [before] = useState(() => document.activeElement);
  useEffect(
    () => () => {
      if (document.activeElement !== document.body) return;
      const isThere = before instanceof HTMLElement && before !== document.body && before.isConnected;
      if (isThere) before.focus({ preventScroll: true });
      else focusContent();
    },
    [before],
  );
}

/** Moves the focus to the page's content when the focused row is removed. `count` is the number of rows shown. */
export function useFocusAfterRemoval(count: number): void {
  const before = useRef(count);
  useEffect(() => {
    if (count < before.current && document.activeElement === document.body) focusContent();
    before.current = count;
  }, [count]);
}

const focusContent = (): void => document.getElementById("content")?.focus({ preventScroll: true });
