import "uplot/dist/uPlot.min.css";
import { useComputedColorScheme } from "@mantine/core";
import { useEffect, useEffectEvent, useRef, useState, type ReactNode } from "react";
import uPlot from "uplot";
import { formatNumber, formatShortMoment, texts } from "../texts/texts.ts";
import { heightOf, totalOf, type Bar, type Interval } from "./series.ts";
import styles from "./usage.module.css";

const heightPx = 260;
const secondsOfDay = 86_400;
/** The kinds of requests, from the bottom up, with the CSS variables of their colours. */
const kinds = [
  { id: "requests", label: texts.usage.passed, color: "--bar-fine" },
  { id: "refused", label: texts.usage.refused, color: "--bar-near" },
  { id: "banned", label: texts.usage.bannedRequests, color: "--bar-over" },
] as const;

type Props = { bars: Bar[]; interval: Interval; limit: number | undefined; label: string };

/** Requests over time, refused ones on top, with the plan's limit if they come near it. */
export function Chart({ bars, interval, limit, label }: Props): ReactNode {
  const [hovered, setHovered] = useState<number | null>(null);
  const scheme = useComputedColorScheme("light", { getInitialValueInEffect: false });
  const { hasLimit } = heightOf(bars, limit);
  const bar = hovered === null ? undefined : bars[hovered];
  return (
    <figure className={styles.figureBox}>
      {/* the key makes a new plot when the colours or steps change, because a plot's are fixed */}
      <Plot key={`${scheme} ${interval}`} bars={bars} limit={limit} label={label} onHover={setHovered} />
      <figcaption className={styles.legend}>
        {kinds.map(({ id, label: name }) => (
          <span key={id} className={styles.legendItem}>
            <span className={`${styles.swatch} ${styles[id]}`} /> {bar ? `${name}: ${formatNumber(bar[id])}` : name}
          </span>
        ))}
        {hasLimit && (
          <span className={styles.legendItem}>
            <span className={styles.limitLine} /> {texts.usage.limit}
          </span>
        )}
        {bar && <span className={styles.moment}>{formatShortMoment(new Date(bar.start))}</span>}
      </figcaption>
    </figure>
  );
}

type PlotProps = Omit<Props, "interval"> & { onHover: (place: number | null) => void };

function Plot({ bars, limit, label, onHover }: PlotProps): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(null);
  const shown = useRef({ bars, limit });
  const hover = useEffectEvent(onHover);
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const made = new uPlot(optionsFor(element.clientWidth, shown, hover), dataOf(shown.current.bars), element);
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: heightPx }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
    };
  }, []);
  useEffect(() => {
    shown.current = { bars, limit };
    plot.current?.setData(dataOf(bars));
  }, [bars, limit]);
  // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- an img cannot contain a canvas
  return <div ref={place} className={styles.plot} role="img" aria-label={label} />;
}

/** The total, the total without banned requests, and the total without banned and refused ones, drawn over each other in this order. */
function dataOf(bars: Bar[]): uPlot.AlignedData {
  return [
    bars.map(({ start }) => start / 1_000),
    bars.map(totalOf),
    bars.map(({ requests, refused }) => requests + refused),
    bars.map(({ requests }) => requests),
  ];
}

type Shown = { readonly current: { bars: Bar[]; limit: number | undefined } };

function optionsFor(width: number, shown: Shown, onHover: (place: number | null) => void): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const color = (name: string) => style.getPropertyValue(name).trim();
  const paths = uPlot.paths.bars?.({ size: [0.7, 24], align: 1 });
  const axis = { stroke: color("--mantine-color-dimmed"), grid: { stroke: color("--line"), width: 1 }, ticks: { show: false } };
  return {
    width,
    height: heightPx,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
    scales: {
      // a bar is drawn to the right of its start, so the axis ends one interval after the last start
      x: { range: (plot, first, last) => [first, last + stepOf(plot)] },
      y: { range: () => [0, heightOf(shown.current.bars, shown.current.limit).top] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        space: 72,
        values: (_plot, moments, _axis, _space, step) => moments.map((moment) => tick(moment, step)),
      },
      {
        ...axis,
        size: 64,
        incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 1e6, 1e7, 1e8, 1e9],
        values: (_plot, values) => values.map(formatNumber),
      },
    ],
    series: [
      {},
      ...kinds.toReversed().map(({ label, color: name }) => ({
        label,
        fill: color(name),
        stroke: color(name),
        width: 0,
        ...(paths && { paths }),
        points: { show: false },
      })),
    ],
    hooks: {
      setCursor: [(plot) => onHover(barAt(plot))],
      draw: [(plot) => drawLimit(plot, shown.current, color("--mantine-color-dimmed"))],
    },
  };
}

/** Seconds between bars. */
function stepOf({ data: [moments] }: uPlot): number {
  return (moments[1] ?? 0) - (moments[0] ?? 0);
}

/** The index of the bar under the pointer. */
function barAt(plot: uPlot): number | null {
  const { left } = plot.cursor;
  if (left === undefined || left < 0) return null;
  return Math.floor((plot.posToVal(left, "x") - (plot.data[0][0] ?? 0)) / stepOf(plot));
}

/** The label of a time on the axis: the time of day, or the date if ticks are days apart. Both in seconds. */
function tick(moment: number, step: number): string {
  const date = new Date(moment * 1_000);
  if (step >= secondsOfDay) return new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" }).format(date);
  return new Intl.DateTimeFormat(undefined, { timeStyle: "short" }).format(date);
}

function drawLimit(plot: uPlot, { bars, limit }: Shown["current"], color: string): void {
  if (limit === undefined || !heightOf(bars, limit).hasLimit) return;
  const { ctx, bbox } = plot;
  const y = Math.round(plot.valToPos(limit, "y", true));
  ctx.save();
  ctx.strokeStyle = color;
  ctx.lineWidth = 1.5 * devicePixelRatio;
  ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
  ctx.beginPath();
  ctx.moveTo(bbox.left, y);
  ctx.lineTo(bbox.left + bbox.width, y);
  ctx.stroke();
  ctx.restore();
}
