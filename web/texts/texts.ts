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
