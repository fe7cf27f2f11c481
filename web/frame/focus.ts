import { useEffect, useState, type RefObject } from "react";

/** Where a control is: in a column of a row of a list, from which the next one follows once it is gone. */
type Place = {
  control: HTMLElement;
  row: HTMLElement | null;
  list: Element | null;
  column: string | undefined;
  index: number;
  page: string;
};

/**
 * Restores the focus when a dialog or notice unmounts: to the control that had it before, or to what has come to its place.
 * Mantine restores it only for dialogs that stay mounted while closed. A notice may go without having had the focus, which `hadFocus` says.
 */
export function useFocusReturn(hadFocus?: RefObject<boolean>): void {
  const [before] = useState(() => placeOf(document.activeElement));
  useEffect(
    () => () => {
      if (document.activeElement === document.body && hadFocus?.current !== false) focusAt(before);
    },
    [before, hadFocus],
  );
}

/** How long (ms) a page may take to move the focus itself: into a dialog that opens, or back from one that closes. */
const patienceMs = 150;

/**
 * Keeps the focus in the page, which the browser takes from a control that is disabled or removed. A disabled control gets it back once it is enabled.
 * Where a control of a row is gone, another of the row gets it, or of the row that takes its place; for others the open dialog or the page's content does.
 */
export function useFocusKept(): void {
  useEffect(() => {
    let last: Place | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const onFocus = ({ target }: FocusEvent): void => {
      const place = placeOf(target as Element);
      last = place?.control.closest("[role=menu]") ? undefined : place;
    };
    const onPress = (): void => (last = undefined); // beside the controls a press takes the focus away, and in one it gives it
    function keep(): void {
      timer = undefined;
      if (!last || document.activeElement !== document.body) return;
      if (last.control.isConnected && last.control.matches(":disabled")) return;
      const place = last;
      last = undefined;
      focusAt(place);
    }
    const observer = new MutationObserver(() => {
      if (last && document.activeElement === document.body) timer ??= setTimeout(keep, patienceMs);
    });
    document.addEventListener("focusin", onFocus);
    document.addEventListener("pointerdown", onPress, { capture: true });
    observer.observe(document.body, { childList: true, subtree: true, attributeFilter: ["disabled"] });
    return () => {
      clearTimeout(timer);
      document.removeEventListener("focusin", onFocus);
      document.removeEventListener("pointerdown", onPress, { capture: true });
      observer.disconnect();
    };
  }, []);
}

function placeOf(control: Element | null): Place | undefined {
  if (!(control instanceof HTMLElement) || control === document.body) return undefined;
  const row = control.closest<HTMLElement>("tr, li");
  const column = control.closest("td")?.dataset["column"];
  return { control, row, list: row?.parentElement ?? null, column, index: row ? indexOf(row) : 0, page: location.pathname };
}

/** The place of a row in its list, of which a table has only a part in the document. */
function indexOf(row: HTMLElement): number {
  return Number(row.dataset["index"] ?? Array.from(row.parentElement?.children ?? []).indexOf(row));
}

const controls = ":is(a[href], button:not(:disabled), input:not(:disabled), select:not(:disabled))";

function focusAt(place: Place | undefined): void {
  const control = place?.control.isConnected ? place.control : place && controlAt(place);
  if (control !== null) (control ?? openDialog() ?? document.getElementById("content"))?.focus({ preventScroll: true });
}

function openDialog(): HTMLElement | undefined {
  const dialog = Array.from(document.querySelectorAll<HTMLElement>("[aria-modal=true]")).at(-1);
  return dialog?.querySelector<HTMLElement>("[data-autofocus]") ?? dialog;
}

/** The control that has come to a place: null if its row has only scrolled out of the part of the table in the document. */
function controlAt({ row, list, column, index, page }: Place): HTMLElement | null | undefined {
  if (page !== location.pathname) return undefined;
  const rows = list?.isConnected ? Array.from(list.querySelectorAll<HTMLElement>(":scope > [data-index], :scope > li")) : [];
  const last = rows.at(-1);
  const next = row?.isConnected
    ? row
    : (rows.find((one) => indexOf(one) === index) ?? (last && indexOf(last) === index - 1 ? last : undefined));
  if (!next) return last ? null : undefined;
  const ofColumn = column === undefined ? null : next.querySelector<HTMLElement>(`td[data-column="${column}"] ${controls}`);
  return ofColumn ?? next.querySelector<HTMLElement>(controls) ?? undefined;
}
