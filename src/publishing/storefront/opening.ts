import type { StorefrontSettings } from "./settings.ts";

/** A time span of a day in minutes after midnight; `to` is more than 1,440 if it ends on the next day. */
type Span = [from: number, to: number];
/** The spans of each day, from Monday to Sunday. */
export type Week = Span[][];

const dayNames = [
  ["monday", "mon", "mo", "montag"],
  ["tuesday", "tue", "tues", "tu", "di", "dienstag"],
  ["wednesday", "wed", "we", "mi", "mittwoch"],
  ["thursday", "thu", "thur", "thurs", "th", "do", "donnerstag"],
  ["friday", "fri", "fr", "freitag"],
  ["saturday", "sat", "sa", "samstag", "sonnabend"],
  ["sunday", "sun", "su", "so", "sonntag"],
];
const dayNumber = new Map(dayNames.flatMap((names, day) => names.map((name) => [name, day] as const)));
const groups = new Map([
  ["daily", [0, 1, 2, 3, 4, 5, 6]],
  ["every day", [0, 1, 2, 3, 4, 5, 6]],
  ["täglich", [0, 1, 2, 3, 4, 5, 6]],
  ["weekdays", [0, 1, 2, 3, 4]],
  ["weekend", [5, 6]],
  ["weekends", [5, 6]],
]);
const closed = new Set(["closed", "–", "-", "geschlossen"]);
const dayMinutes = 24 * 60;

/**
 * Reads opening hours that a shop wrote for people, such as `Mon – Fri` with `9 – 18`. Returns undefined if a line cannot be read for sure: then pages
 * only show what the shop wrote. Days without a line are closed.
 *
 * Two lines may concern one day. If they name the same days, and their times do not overlap, both count. Otherwise the line with fewer days replaces
 * the other for its days, as in `Daily` and `Sun`, whichever comes first, if it says "closed" or its times overlap the first ones of the other. What it
 * means is not sure in any other case: `Tue` with `14 – 18` beside `Mon – Fri` with `9 – 12` may add to that line or replace it.
 */
export function weekOf(hours: StorefrontSettings["hours"]): Week | undefined {
  const lines: Line[] = [];
  for (const { days, time } of hours) {
    const line = { days: daysOf(days), spans: spansOf(time) };
    if (!isRead(line)) return undefined;
    lines.push(line);
  }
  const week: (Line | undefined)[] = dayNames.map(() => undefined);
  for (const line of lines.toSorted((a, b) => b.days.length - a.days.length))
    for (const day of line.days) {
      const both = together(week[day], line);
      if (both === undefined) return undefined;
      week[day] = both;
    }
  const spans = week.map((line) => line?.spans ?? []);
  return spans.some(({ length }) => length > 0) ? spans : undefined;
}

/** The days of a line in their order, and its spans in theirs; none if it says "closed". */
type Line = { days: number[]; spans: Span[] };

const isRead = (line: { [F in keyof Line]: Line[F] | undefined }): line is Line => line.days !== undefined && line.spans !== undefined;

/** What two lines say about a day that both name, of which the second does not name more days; undefined if that is not sure. */
function together(before: Line | undefined, line: Line): Line | undefined {
  if (before === undefined) return line;
  const [first] = before.spans;
  if (before.days.join() === line.days.join()) {
    const spans = apart([...before.spans, ...line.spans]);
    return first === undefined || line.spans.length === 0 ? undefined : spans && { ...line, spans };
  }
  if (before.days.length === line.days.length) return undefined;
  const isSure = first === undefined || line.spans.length === 0 || apart([first, line.spans[0]!]) === undefined;
  return isSure ? line : undefined;
}

/** The spans in their order; undefined if any two overlap. */
function apart(spans: Span[]): Span[] | undefined {
  const sorted = spans.toSorted(([a], [b]) => a - b);
  return sorted.every(([from], place) => place === 0 || sorted[place - 1]![1] <= from) ? sorted : undefined;
}

const partsOf = (text: string): string[] => text.split(/[,;&/+]|\band\b|\bund\b/).map((part) => part.trim());
const endsOf = (text: string): string[] => text.split(/[–—-]|\bto\b|\bbis\b/).map((part) => part.trim());

function daysOf(text: string): number[] | undefined {
  const found: number[] = [];
  for (const part of partsOf(text.toLowerCase())) {
    const group = groups.get(part);
    const ends = endsOf(part).map((name) => dayNumber.get(name.replaceAll(".", "")));
    const [first, last = first] = ends;
    if (group !== undefined) found.push(...group);
    else if (ends.length > 2 || first === undefined || last === undefined || (ends.length === 2 && ends[1] === undefined)) return undefined;
    else for (let day = first; ; day = (day + 1) % 7) if ((found.push(day), day === last)) break;
  }
  return [...new Set(found)].toSorted((a, b) => a - b);
}

function spansOf(text: string): Span[] | undefined {
  const plain = text.toLowerCase().trim();
  if (closed.has(plain)) return [];
  const spans = partsOf(plain).map(spanOf);
  return spans.every((span) => span !== undefined) ? apart(spans) : undefined;
}

type Half = "am" | "pm" | undefined;

const noon = 12 * 60;
/** A span past midnight is sure if it begins no earlier than this, and ends by that time. */
const eveningFrom = 17 * 60;
const nightUntil = 6 * 60;

/**
 * Reads a span such as `9 – 18`, `9:30 – 12` or `1 – 5 pm`. Returns undefined for one that a shop may mean otherwise, as `9 – 5` on a clock of 12 hours.
 */
function spanOf(text: string): Span | undefined {
  const [start, end, ...more] = endsOf(text).map(timeOf);
  if (start === undefined || end === undefined || more.length > 0) return undefined;
  const to = end.minutes + (end.half === "pm" ? noon : 0);
  const from = startOf(start, { ...end, to });
  if (from === undefined || from === to || from >= dayMinutes || to > dayMinutes) return undefined;
  if (to > from) return [from, to];
  const isMidnight = to === 0 && end.half === undefined;
  return isMidnight || (from >= eveningFrom && to <= nightUntil) ? [from, to + dayMinutes] : undefined;
}

/** The start of a span in minutes; undefined if it is not sure which half of the day is meant. */
function startOf({ minutes, half }: Time, end: { half: Half; to: number }): number | undefined {
  const isOf24 = end.half === undefined && end.to > noon + 59;
  if (half === "pm") return end.half === undefined && !isOf24 ? undefined : minutes + noon;
  if (half === "am") return minutes < 60 || (end.half === undefined && !isOf24) ? undefined : minutes;
  if (end.half !== "pm") return minutes < 60 || minutes >= (isOf24 ? 5 : 7) * 60 ? minutes : undefined;
  if (minutes >= noon || minutes + noon >= end.to) return minutes;
  return minutes >= 60 && minutes < 6 * 60 ? minutes + noon : undefined; // `9 – 10 pm` may begin in the morning
}

/** A time as it is written. `minutes`: after midnight, or after noon with "pm". */
type Time = { minutes: number; half: Half };

function timeOf(text: string): Time | undefined {
  const match = /^(\d{1,2})(?:[:.](\d{2}))? ?(am|pm|a\.m\.|p\.m\.|h|uhr)?$/.exec(text);
  if (match === null) return undefined;
  const [, hours = "", minutes = "0", suffix = ""] = match;
  const half: Half = suffix.startsWith("a") ? "am" : suffix.startsWith("p") ? "pm" : undefined;
  if (half !== undefined && (Number(hours) < 1 || Number(hours) > 12)) return undefined;
  const total = (half === undefined ? Number(hours) : Number(hours) % 12) * 60 + Number(minutes);
  return Number(minutes) < 60 && total <= dayMinutes ? { minutes: total, half } : undefined;
}

/** The hours as schema.org has them. A time there is before 24:00, and one that is not after the start is on the next day. */
export function openingData(hours: StorefrontSettings["hours"]): object[] | undefined {
  return weekOf(hours)?.flatMap((spans, day) =>
    spans.map(([from, to]) => ({
      "@type": "OpeningHoursSpecification",
      dayOfWeek: `https://schema.org/${dayNames[day]![0]!.replace(/^./, (letter) => letter.toUpperCase())}`,
      opens: clockTime(from),
      closes: to === dayMinutes ? "23:59" : clockTime(to % dayMinutes),
    })),
  );
}

function clockTime(minutes: number): string {
  return `${String(Math.floor(minutes / 60)).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}`;
}
