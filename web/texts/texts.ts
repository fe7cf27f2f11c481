import { en } from "./en.ts";

export type Texts = typeof en;

/** The languages there are, by the first part of their tag (RFC 5646). */
const languages: Record<string, Texts> = { en };

/** The texts in the first language of the reader that there is. */
export const texts: Texts =
  navigator.languages.map((tag) => languages[tag.split("-")[0]?.toLowerCase() ?? ""]).find((found) => found !== undefined) ?? en;

/** A moment in the reader's time zone and way of writing. */
export function formatMoment(moment: Date): string {
  return new Intl.DateTimeFormat(undefined, { dateStyle: "long", timeStyle: "short" }).format(moment);
}

/** A moment in UTC, which is named: for what is the same for all readers. */
export function formatMomentUtc(moment: Date): string {
  const date = { year: "numeric", month: "long", day: "numeric" } as const;
  const time = { hour: "numeric", minute: "2-digit", timeZone: "UTC", timeZoneName: "short" } as const;
  return new Intl.DateTimeFormat(undefined, { ...date, ...time }).format(moment);
}

/** The time of day in the reader's time zone. */
export function formatTime(moment: Date): string {
  return new Intl.DateTimeFormat(undefined, { timeStyle: "medium" }).format(moment);
}

/** A moment in the reader's time zone, short enough for a table. */
export function formatShortMoment(moment: Date): string {
  return new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" }).format(moment);
}

/** A number in the reader's way of writing. */
export function formatNumber(value: number): string {
  return new Intl.NumberFormat().format(value);
}

/** A part of a whole (0 to 1) as a percentage. */
export function formatPercent(part: number): string {
  return new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 0 }).format(part);
}

/** A size in the largest unit of 1,024s that leaves a whole number before the point. */
export function formatBytes(bytes: number): string {
  const units = ["bytes", "KiB", "MiB", "GiB"];
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(bytes, 1)) / 10));
  const digits = new Intl.NumberFormat(undefined, { maximumFractionDigits: power === 0 ? 0 : 1 });
  return `${digits.format(bytes / 1024 ** power)} ${units[power]}`;
}
