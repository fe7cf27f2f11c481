const dayMs = 86_400_000;
const builtInDates = /^(?:1[4-9]|2[0-2]|2[7-9]|3[0-6]|4[5-7]|5[0-8])$/;

/** Whether a number format of a spreadsheet shows a date or a time. */
export function isDateFormat(id: string, code: string | undefined): boolean {
  if (code === undefined) return builtInDates.test(id);
  const shown = code.replaceAll(/"[^"]*"|\\.|_.|\*.|\[(?![hms]+\])[^\][]*\]/gi, "").split(";", 1)[0]!;
  return /[ymdhs]/i.test(shown.replaceAll(/general/gi, ""));
}

/** A number as text: integers with all digits that it has, others with the 15 digits that spreadsheets keep. */
export function numberText(text: string): string {
  const number = text.trim() === "" ? Number.NaN : Number(text);
  if (!Number.isFinite(number)) return text;
  if (Number.isSafeInteger(number)) return String(number);
  return Number.isInteger(number) ? text : String(Number(number.toPrecision(15)));
}

/** The ISO date of a day counted from 1900 or 1904, with the time if it has one; only the time on day 0. */
export function dateText(text: string, isFrom1904: boolean): string {
  const days = Number(text);
  if (text.trim() === "" || !(days >= 0 && days < 2_958_466)) return text;
  // 1900 counts as a leap year, as Lotus 1-2-3 had it.
  const epoch = isFrom1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, days < 60 ? 31 : 30);
  const iso = new Date(epoch + Math.round((days * dayMs) / 1_000) * 1_000).toISOString();
  if (days < 1 && days > 0) return iso.slice(11, 19);
  return iso.endsWith("T00:00:00.000Z") ? iso.slice(0, 10) : iso.slice(0, 19);
}
