import { en } from "./en.ts";

/** The pages' own texts, in English. Texts that the service sends are not here. */
export const texts = en;

/** A time in the reader's time zone and locale. */
export function formatMoment(moment: Date): string {
  return new Intl.DateTimeFormat(undefined, { dateStyle: "long", timeStyle: "short" }).format(moment);
}

/** A time in UTC, with the zone's name, for times that are the same for all readers. */
export function formatMomentUtc(moment: Date): string {
  const date = { year: "numeric", month: "long", day: "numeric" } as const;
  const time = { hour: "numeric", minute: "2-digit", timeZone: "UTC", timeZoneName: "short" } as const;
  return new Intl.DateTimeFormat(undefined, { ...date, ...time }).format(moment);
}

/** The time of day in the reader's time zone. */
export function formatTime(moment: Date): string {
  return new Intl.DateTimeFormat(undefined, { timeStyle: "medium" }).format(moment);
}

/** A time in the reader's time zone, in a short form for tables. */
export function formatShortMoment(moment: Date): string {
  return new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" }).format(moment);
}

const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000];

/** How long ago something was, such as "5 minutes ago"; undefined after a week, and for what is yet to come. Up to a minute ahead counts as now. */
export function formatAgo(ms: number): string | undefined {
  if (ms < -minuteMs || ms >= 7 * dayMs) return undefined;
  if (ms < minuteMs) return new Intl.RelativeTimeFormat(undefined, { numeric: "auto" }).format(0, "second");
  const [unit, unitMs] =
    ms < hourMs ? (["minute", minuteMs] as const) : ms < dayMs ? (["hour", hourMs] as const) : (["day", dayMs] as const);
  return new Intl.RelativeTimeFormat().format(-Math.floor(ms / unitMs), unit);
}

/** A number in the reader's locale. */
export function formatNumber(value: number): string {
  return new Intl.NumberFormat().format(value);
}

/** A part of a whole (0 to 1) as a percentage. */
export function formatPercent(part: number): string {
  return new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 0 }).format(part);
}

/** A size in the largest binary unit in which it is at least 1. */
export function formatBytes(bytes: number): string {
  const units = ["bytes", "KiB", "MiB", "GiB"];
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(bytes, 1)) / 10));
  const digits = new Intl.NumberFormat(undefined, { maximumFractionDigits: power === 0 ? 0 : 1 });
  return `${digits.format(bytes / 1024 ** power)} ${units[power]}`;
}
