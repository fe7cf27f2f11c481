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
 * Reads opening hours that a shop wrote for people, such as `Mon – Fri` with `9 – 18`. Returns undefined if a line does not parse: then pages
 * only show what the shop wrote.
 */
export function weekOf(hours: StorefrontSettings["hours"]): Week | undefined {
  if (hours.length === 0) return undefined;
  const week: Week = dayNames.map(() => []);
  for (const { days, time } of hours) {
    const [numbers, spans] = [daysOf(days), spansOf(time)];
    if (numbers === undefined || spans === undefined) return undefined;
    for (const day of numbers) week[day]!.push(...spans);
  }
  for (const spans of week) spans.sort(([a], [b]) => a - b);
  return week.some((spans) => spans.length > 0) ? week : undefined;
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
  return [...new Set(found)];
}

function spansOf(text: string): Span[] | undefined {
  const plain = text.toLowerCase().trim();
  if (closed.has(plain)) return [];
  const spans = partsOf(plain).map(spanOf);
  return spans.every((span) => span !== undefined) ? spans : undefined;
}

type Half = "am" | "pm" | undefined;

function spanOf(text: string): Span | undefined {
  const [start, end, ...more] = endsOf(text).map(timeOf);
  if (start === undefined || end === undefined || more.length > 0) return undefined;
  const to = end.minutes + (end.half === "pm" ? dayMinutes / 2 : 0);
  const inMorning = start.minutes;
  const inAfternoon = start.minutes + dayMinutes / 2;
  const isAfternoon = start.half === "pm" || (start.half === undefined && end.half === "pm" && inAfternoon < to);
  const from = isAfternoon ? inAfternoon : inMorning;
  if (from === to || from >= dayMinutes || to > dayMinutes) return undefined;
  return [from, to > from ? to : to + dayMinutes];
}

function timeOf(text: string): { minutes: number; half: Half } | undefined {
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
