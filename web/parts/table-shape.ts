import { useLayoutEffect, useRef, useState, type RefObject } from "react";
import { flushSync } from "react-dom";

/** The least widths (px) of a column without a width and of one whose width is a percentage: the longest word of a usual name fits. */
const freeMin = 200;
const shareMin = 130;

/** `whole`: all columns. `narrow`: without those for wide tables only. `cards`: each row is a card. */
type Shape = "whole" | "narrow" | "cards";

/** The fields of a `Column` (`rows-table.tsx`) on which the shape depends. */
type Sized = { width?: string; isWideOnly?: boolean };
type TableShape<Column> = { place: RefObject<HTMLDivElement | null>; columns: Column[]; isCards: boolean };

/** Chooses how a table fits into `place`, the element around it: its columns differ from list to list, so the width of the window does not say. */
export function useTableShape<Column extends Sized>(columns: Column[]): TableShape<Column> {
  const place = useRef<HTMLDivElement>(null);
  const [shape, setShape] = useState<Shape>("whole");
  const few = columns.filter(({ isWideOnly }) => !isWideOnly);
  const [wholeMin, narrowMin] = [leastWidth(columns), leastWidth(few)];
  useLayoutEffect(() => {
    const { current } = place;
    if (!current) return undefined;
    const choose = (): void => {
      const { clientWidth } = current;
      setShape(clientWidth >= wholeMin ? "whole" : clientWidth >= narrowMin ? "narrow" : "cards");
    };
    choose();
    // before the next frame, which would show columns that do not fit
    const observer = new ResizeObserver(() => flushSync(choose));
    observer.observe(current);
    return () => observer.disconnect();
  }, [wholeMin, narrowMin]);
  return { place, columns: shape === "narrow" ? few : columns, isCards: shape === "cards" };
}

/** The least width (px) at which every column is wide enough. */
function leastWidth(columns: readonly Sized[]): number {
  const widths = columns.map(({ width }) => width ?? `${freeMin}px`);
  const shares = widths.filter((width) => width.endsWith("%")).map((width) => Number.parseFloat(width) / 100);
  const fixed = widths.reduce((sum, width) => sum + (width.endsWith("px") ? Number.parseFloat(width) : 0), 0);
  const rest = 1 - shares.reduce((sum, share) => sum + share, 0);
  return Math.max(fixed / rest, ...shares.map((share) => shareMin / share));
}
