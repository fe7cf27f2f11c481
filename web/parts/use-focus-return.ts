import { useEffect, useState } from "react";

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
      (isThere ? before : document.getElementById("content"))?.focus({ preventScroll: true });
    },
    [before],
  );
}
