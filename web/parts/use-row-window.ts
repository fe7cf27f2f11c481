import { useEffect, useEffectEvent, useLayoutEffect, useRef, useState, type RefObject } from "react";
import { flushSync } from "react-dom";
import { scrollScale } from "./scroll-scale.ts";
import { bodyTop, heightBetween, indexOf, rowAtEdge, rowsIn } from "./table-rows.ts";

/** Rows beyond the window's edge that are there already, so that Tab always has a next one, and how few of them may be left. */
const overscan = 12;
const overscanMin = 6;
/** Scrolling farther than so many windows at once is a way to a place, less a way along the rows. */
const windowsAlong = 4;
const restMs = 150;

/** The rows in the document, from `first` to before `last`, and the height of the gaps around them in px. */
export type RowWindow = { first: number; last: number; before: number; after: number; rowPx: number };
type View = { first: number; before: number; rowPx: number };
/** A row near the upper edge of the window, and how far below the list's beginning it stands. */
type Anchor = { row: HTMLElement; top: number };

/**
 * Which of `count` rows are in the document. The row at the upper edge of the window stays where it is, whatever becomes of those above it
 * and however wrong their heights were guessed; where the list is higher than an element may be, the bar moves to where it
 * should be as soon as scrolling rests.
 */
export function useRowWindow(table: RefObject<HTMLTableElement | null>, count: number, rowPxGuess: number): RowWindow {
  const [view, setView] = useState<View>({ first: 0, before: 0, rowPx: rowPxGuess });
  const anchor = useRef<Anchor>(undefined);
  const measuredWidth = useRef(0);
  const laidOutCount = useRef(0);
  const resting = useRef<ReturnType<typeof setTimeout>>(undefined);

  const rowPx = view.rowPx;
  const scale = scrollScale(count * rowPx);
  const size = Math.ceil(innerHeight / rowPx) + 2 * overscan;
  const first = Math.max(0, Math.min(view.first, count - size));
  const last = Math.min(count, first + size);
  // where heights were guessed too low there is always room to scroll on
  const room = Math.min((count - last) * rowPx, 2 * innerHeight);
  const before = first === 0 ? 0 : view.before - (view.first - first) * rowPx;
  const after = last === count ? 0 : Math.max(scale.scrolledPx - before - (last - first) * rowPx, room);

  const rested = useEffectEvent(() => {
    const far = drift();
    if (far !== 0) flushSync(() => setView({ first, before: before + far, rowPx }));
  });
  const restSoon = useEffectEvent(() => {
    clearTimeout(resting.current);
    resting.current = setTimeout(() => rested(), restMs);
  });
  const scrolled = useEffectEvent(() => {
    restSoon();
    const to = viewAt();
    if (to) flushSync(() => setView({ ...to, rowPx }));
    holdAnchor();
  });
  const laidOut = useEffectEvent(() => {
    keepAnchor();
    holdAnchor();
    if (count !== laidOutCount.current) {
      const to = viewAt() ?? { first, before };
      setView({ first: to.first, before: to.before + drift(), rowPx });
    }
    laidOutCount.current = count;
    const width = table.current?.offsetWidth ?? 0;
    const heights = rowsIn(table.current).map((row) => row.offsetHeight);
    if (width === measuredWidth.current || heights.length === 0) return;
    measuredWidth.current = width;
    const mean = heights.reduce((sum, height) => sum + height, 0) / heights.length;
    if (Math.abs(mean - rowPx) > 1) setView({ first, before, rowPx: mean });
  });

  // oxlint-disable-next-line react/set-state-in-effect -- how high rows are is known once they are laid out
  useLayoutEffect(() => laidOut());
  useEffect(() => {
    const observer = new ResizeObserver(() => laidOut());
    if (table.current) observer.observe(table.current);
    const onScroll = () => scrolled();
    addEventListener("scroll", onScroll, { passive: true });
    addEventListener("resize", onScroll);
    return () => {
      observer.disconnect();
      clearTimeout(resting.current);
      removeEventListener("scroll", onScroll);
      removeEventListener("resize", onScroll);
    };
  }, [table]);
  return { first, last, before, after, rowPx };

  /** The rows that should be in the document for where the window is; undefined where they are. */
  function viewAt(): Omit<View, "rowPx"> | undefined {
    const edge = rowAtEdge(table.current);
    if (edge) {
      const index = indexOf(edge);
      const isEnough = index - first >= overscanMin || first === 0;
      if (isEnough && (last === count || last - index >= size - 2 * overscan + overscanMin)) return undefined;
      return around(index, edge.getBoundingClientRect().top - bodyTop(table.current));
    }
    const place = Math.max(0, Math.min(count - 1, placeBeyond()));
    return around(Math.floor(place), -bodyTop(table.current) - (place % 1) * rowPx);
  }

  /** How far the bar is from where it should be, in px; 0 where that is not worth moving it. */
  function drift(): number {
    const edge = rowAtEdge(table.current);
    if (!edge || first === 0) return 0;
    const inList = indexOf(edge) * rowPx - edge.getBoundingClientRect().top;
    const far = Math.max(-before, scale.toScrolled(inList) + bodyTop(table.current));
    return Math.abs(far) > innerHeight ? far : 0;
  }

  /** The row at the window's upper edge where none of those in the document is there. */
  function placeBeyond(): number {
    const all = rowsIn(table.current);
    const [top, bottom] = [all[0]?.getBoundingClientRect().top ?? 0, all.at(-1)?.getBoundingClientRect().bottom ?? 0];
    const [from, gone] = top > 0 ? [first, -top] : [last, -bottom];
    return Math.abs(gone) <= windowsAlong * innerHeight ? from + gone / rowPx : scale.toList(-bodyTop(table.current)) / rowPx;
  }

  /** Rows around one that stands so far below the list's beginning. */
  function around(index: number, top: number): Omit<View, "rowPx"> {
    const from = Math.max(0, index - overscan);
    return { first: from, before: Math.max(0, top - heightBetween(table.current, from, index, rowPx)) };
  }

  function keepAnchor(): void {
    const { row, top = 0 } = anchor.current ?? {};
    if (!row?.isConnected || bodyTop(table.current) >= 0) return;
    const moved = row.getBoundingClientRect().top - bodyTop(table.current) - top;
    if (Math.abs(moved) > 0.5) scrollBy({ top: moved, behavior: "instant" });
  }

  function holdAnchor(): void {
    const row = rowAtEdge(table.current);
    anchor.current = row && { row, top: row.getBoundingClientRect().top - bodyTop(table.current) };
  }
}
