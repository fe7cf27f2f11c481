const rfc3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;
const earliest = Date.parse("0000-01-01T00:00:00Z");
const latest = Date.parse("9999-12-31T23:59:59.999Z");

/**
 * Parses a date and time of RFC 3339 with a zone. A leap second counts as the next second; fractions of a millisecond are cut off.
 *
 * @returns milliseconds since the Unix epoch, or undefined if the text is not such a date, or is outside the years 0–9999 in UTC
 */
export function parseDateTime(text: string): number | undefined {
  const match = rfc3339.exec(text);
  if (!match) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [number, number, number, number, number, number];
  const zoneHours = Number(match[9] ?? 0);
  const zoneMinutes = Number(match[10] ?? 0);
  if (hour > 23 || minute > 59 || second > 60 || zoneHours > 23 || zoneMinutes > 59) return undefined;
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return undefined;

  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second, Number((match[7] ?? "0").slice(0, 3).padEnd(3, "0")));
  const offset = (zoneHours * 60 + zoneMinutes) * 60_000 * (match[8] === "-" ? -1 : 1);
  const time = date.getTime() - offset;
  return time >= earliest && time <= latest ? time : undefined;
}

/** The last second and its text without the zone, which most times of a batch of writes share. */
let last = { second: NaN, text: "" };

/** The RFC 3339 text of a time, in UTC, with milliseconds only if there are any. */
export function formatDateTime(time: number): string {
  const whole = Math.trunc(time);
  const second = Math.floor(whole / 1_000);
  if (last.second !== second) last = { second, text: new Date(second * 1_000).toISOString().replace(".000Z", "") };
  const ms = whole - second * 1_000;
  return ms === 0 ? `${last.text}Z` : `${last.text}.${ms < 10 ? "00" : ms < 100 ? "0" : ""}${ms}Z`;
}

function daysIn(year: number, month: number): number {
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return month === 2 ? (leap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;
}
