/** A text of any length: its beginning, the unit that repeats, and its end. */
export type HostileText = { start: string; unit: string; end: string };

/** Texts for values: runs of what a pattern may take in more than one way, then something that it cannot take. */
export const valueTexts = combined(
  ["", "a", "2026-12-24T10:00:00."],
  ["a", "0", "1", " ", "\t", "\0", ".", "-", "_", "a.", "a-", "-a", "a ", "0:", "\u0301\u0316", "\ufb03", "🐕", "\ud800"].concat([
    "xn--a.",
    "xn--a",
    "\\",
    "/",
    "a/",
    "%",
    "@",
    "a@",
    "a@a.",
    '"',
    ",",
    "[",
    "İ",
    "名",
  ]),
  ["", "!", "\0"],
);

/** Texts that a header may hold. */
export const headerTexts = combined(
  ["", "a", 'application/json;a="', "bytes=", '"'],
  ["a", "0", " ", ",", ";", "a,", "a;", "a=", " ;", " ,", ';a="\\', '"', "a/b,", "*", ":", "[", "%c3", "é", 'W/"', "a.", "-", "q=0;"],
  ["", "x"],
);

function combined(starts: string[], units: string[], ends: string[]): HostileText[] {
  return starts.flatMap((start) => units.flatMap((unit) => ends.map((end) => ({ start, unit, end }))));
}

/** The text with as many units as give about `length` characters in the form that `form` writes. */
export function hostile({ start, unit, end }: HostileText, length: number, form = (text: string): string => text): string {
  return start + unit.repeat(Math.floor(length / form(unit.toWellFormed()).length)) + end;
}

/** A text as a test's message shows it. */
export function shownText({ start, unit, end }: HostileText): string {
  return JSON.stringify([start, unit, end]);
}
