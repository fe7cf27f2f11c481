import { useEffect, useEffectEvent, useLayoutEffect, useRef, useState, type RefObject } from "react";
import { flushSync } from "react-dom";
import { scrollScale, type ScrollScale } from "./scroll-scale.ts";
import { bodyTop, heightBetween, indexOf, rowAtEdge, rowsIn } from "./table-rows.ts";

/** Rows kept beyond each edge of the window, so that Tab always reaches a next row. Below `overscanMin` rows, more are added. */
const overscan = 12;
const overscanMin = 6;
/** Scrolling past more window heights than this at once is a jump to a place in the list; a shorter scroll moves along the rows. */
const windowsAlong = 4;
const restMs = 150;

/** The rows in the document, from `first` to before `last`, and the heights of a row and of the gaps around them in px. */
export type RowWindow = { first: number; last: number; before: number; after: number; rowPx: number };
type View = { first: number; before: number; rowPx: number };
/** A row near the upper edge of the window, and its distance from the beginning of the list in px. */
type Anchor = { row: HTMLElement; top: number };
/** The rows in the document, with the values from which `nextView` chooses the next ones. */
type Layout = RowWindow & { table: HTMLTableElement | null; count: number; size: number; scale: ScrollScale };

/**
 * Chooses which of `count` rows are in the document. The row at the upper edge of the window stays in place when rows above it are added,
 * are removed, or differ from their guessed height. If the list is higher than an element may be, the scroll bar moves to its
 * proportional place when scrolling stops.
 */
export function useRowWindow(table: RefObject<HTMLTableElement | null>, count: number, rowPxGuess: number, isCards: boolean): RowWindow {
  const [view, setView] = useState<View>({ first: 0, before: 0, rowPx: rowPxGuess });
  const anchor = useRef<Anchor>(undefined);
  const measuredShape = useRef("");
  const laidOutCount = useRef(0);
  const resting = useRef<ReturnType<typeof setTimeout>>(undefined);
  const shown = rowWindowOf(view, count);
  const { first, before, rowPx } = shown;
  const layout = (): Layout => ({ ...shown, table: table.current, count, size: sizeOf(rowPx), scale: scrollScale(count * rowPx) });

  const rested = useEffectEvent(() => {
    const far = drift(layout());
    if (far !== 0) flushSync(() => setView({ first, before: before + far, rowPx }));
  });
  const scrolled = useEffectEvent(() => {
    clearTimeout(resting.current);
    resting.current = setTimeout(() => rested(), restMs);
    const next = nextView(layout());
    if (next) flushSync(() => setView({ ...next, rowPx }));
    anchor.current = anchorIn(table.current);
  });
  const laidOut = useEffectEvent(() => {
    keepInPlace(anchor.current, table.current);
    anchor.current = anchorIn(table.current);
    if (count !== laidOutCount.current) {
      const next = nextView(layout()) ?? { first, before };
      setView({ first: next.first, before: next.before + drift(layout()), rowPx });
    }
    laidOutCount.current = count;
    const shape = `${table.current?.offsetWidth} ${isCards}`;
    const heights = rowsIn(table.current).map((row) => row.offsetHeight);
    if (shape === measuredShape.current || heights.length === 0) return;
    measuredShape.current = shape;
    const mean = heights.reduce((sum, height) => sum + height, 0) / heights.length;
    if (Math.abs(mean - rowPx) > 1) setView({ first, before, rowPx: mean });
  });

  // oxlint-disable-next-line react/set-state-in-effect -- the height of rows is known once they are laid out
  useLayoutEffect(() => laidOut());
  useEffect(() => {
    const stop = watchScrolling(table.current, { onResize: () => laidOut(), onScroll: () => scrolled() });
    return () => {
      clearTimeout(resting.current);
      stop();
    };
  }, [table]);
  return shown;
}

/** The most rows in the document. */
function sizeOf(rowPx: number): number {
  return Math.ceil(innerHeight / rowPx) + 2 * overscan;
}

function rowWindowOf(view: View, count: number): RowWindow {
  const { rowPx } = view;
  const size = sizeOf(rowPx);
  const first = Math.max(0, Math.min(view.first, count - size));
  const last = Math.min(count, first + size);
  // leaves room to scroll further if heights were guessed too low
  const room = Math.min((count - last) * rowPx, 2 * innerHeight);
  const before = first === 0 ? 0 : view.before - (view.first - first) * rowPx;
  const { scrolledPx } = scrollScale(count * rowPx);
  const after = last === count ? 0 : Math.max(scrolledPx - before - (last - first) * rowPx, room);
  return { first, last, before, after, rowPx };
}

function watchScrolling(table: HTMLTableElement | null, { onResize, onScroll }: { onResize: () => void; onScroll: () => void }) {
  const observer = new ResizeObserver(onResize);
  if (table) observer.observe(table);
  addEventListener("scroll", onScroll, { passive: true });
  addEventListener("resize", onScroll);
  return () => {
    observer.disconnect();
    removeEventListener("scroll", onScroll);
    removeEventListener("resize", onScroll);
  };
}

/** The rows that should be in the document for the window's position; undefined if they already are. */
function nextView(layout: Layout): Omit<View, "rowPx"> | undefined {
  const { table, first, last, count, size, rowPx } = layout;
  const edge = rowAtEdge(table);
  if (edge) {
    const index = indexOf(edge);
    const isEnough = index - first >= overscanMin || first === 0;
    if (isEnough && (last === count || last - index >= size - 2 * overscan + overscanMin)) return undefined;
    return viewAround(layout, index, edge.getBoundingClientRect().top - bodyTop(table));
  }
  const place = Math.max(0, Math.min(count - 1, placeBeyond(layout)));
  return viewAround(layout, Math.floor(place), -bodyTop(table) - (place % 1) * rowPx);
}

/** The rows around one whose distance from the beginning of the list is `top`. */
function viewAround({ table, rowPx }: Layout, index: number, top: number): Omit<View, "rowPx"> {
  const from = Math.max(0, index - overscan);
  return { first: from, before: Math.max(0, top - heightBetween(table, from, index, rowPx)) };
}

/** How far the scroll bar is from its proportional place in px; 0 if it is not worth moving it. */
function drift({ table, first, before, rowPx, scale }: Layout): number {
  const edge = rowAtEdge(table);
  if (!edge || first === 0) return 0;
  const inList = indexOf(edge) * rowPx - edge.getBoundingClientRect().top;
  const far = Math.max(-before, scale.toScrolled(inList) + bodyTop(table));
  return Math.abs(far) > innerHeight ? far : 0;
}

/** The row at the window's upper edge when the window shows none of the rows in the document. */
function placeBeyond({ table, first, last, rowPx, scale }: Layout): number {
  const all = rowsIn(table);
  const [top, bottom] = [all[0]?.getBoundingClientRect().top ?? 0, all.at(-1)?.getBoundingClientRect().bottom ?? 0];
  const [from, gone] = top > 0 ? [first, -top] : [last, -bottom];
  return Math.abs(gone) <= windowsAlong * innerHeight ? from + gone / rowPx : scale.toList(-bodyTop(table)) / rowPx;
}

function keepInPlace(anchor: Anchor | undefined, table: HTMLTableElement | null): void {
  if (!anchor?.row.isConnected || bodyTop(table) >= 0) return;
  const moved = anchor.row.getBoundingClientRect().top - bodyTop(table) - anchor.top;
  if (Math.abs(moved) > 0.5) scrollBy({ top: moved, behavior: "instant" });
}

function anchorIn(table: HTMLTableElement | null): Anchor | undefined {
  const row = rowAtEdge(table);
  return row && { row, top: row.getBoundingClientRect().top - bodyTop(table) };
}
