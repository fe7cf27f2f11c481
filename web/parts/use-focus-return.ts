import { useEffect, useRef, useState } from "react";

/**
 * Gives the focus back when the dialog that uses it goes: to where it was before, or to the page's content where that is gone.
 * Mantine's own return needs a dialog that stays mounted while it is closed.
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

/** Gives the focus to the page's content when a row goes and takes the focus with it: `count` is of the rows that are shown. */
export function useFocusAfterRemoval(count: number): void {
  const before = useRef(count);
  useEffect(() => {
    if (count < before.current && document.activeElement === document.body) focusContent();
    before.current = count;
  }, [count]);
}

const focusContent = (): void => document.getElementById("content")?.focus({ preventScroll: true });
