import type { TextField } from "./mapping-schema.ts";

/** Why a row is refused, in words that follow “line 4”. */
export type Reason = { reason: string };

export function isReason(value: unknown): value is Reason {
  return typeof value === "object" && value !== null && "reason" in value;
}

/** Returns the function that reads the first of a field's columns that is not empty, or else its default. */
export function textReader(field: TextField, header: readonly string[]): (cells: readonly string[]) => string {
  const indexes = field.columns.map((column) => header.indexOf(column));
  const transforms = field.transforms ?? [];
  return (cells) => {
    for (const index of indexes) {
      const value = transforms.reduce(transformed, (cells[index] ?? "").trim());
      if (value !== "") return value;
    }
    return field.default ?? "";
  };
}

/** Whether a text has more than `charactersMax` characters, in code points. */
export function isTooLong(value: string, charactersMax: number): boolean {
  return value.length > charactersMax && [...value].length > charactersMax;
}

function transformed(value: string, transform: "strip-stars"): string {
  switch (transform) {
    case "strip-stars":
      return withoutStars(value);
  }
}

/** Removes stars and spaces from both ends. A regular expression for the end would take quadratic time. */
function withoutStars(value: string): string {
  const isStarOrSpace = (character = "x"): boolean => character === "*" || character.trim() === "";
  let [start, end] = [0, value.length];
  while (start < end && isStarOrSpace(value[start])) start += 1;
  while (end > start && isStarOrSpace(value[end - 1])) end -= 1;
  return value.slice(start, end);
}

/** The longest id of a source, in code points. */
const idCharactersMax = 200;

const spreadsheetForms: [RegExp, string][] = [
  [/^[+-]?\d+([.,]\d+)?E[+-]\d+$/i, "shortened"],
  [/^\d[.,]\d+E\d+$/i, "shortened"],
  [/^\d{1,3}([,\u00A0\u202F]\d{3})+([.,]\d+)?$/, "grouped the digits of"],
  [/^\d{1,3}(\.\d{3}){2,}(,\d+)?$/, "grouped the digits of"],
  [/^#(N\/?[AV]|[\p{Lu}/0]+[!?]|#+)$/u, "put an error in place of"],
  [/^\d{1,2}(-|\. )(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mrz|mai|okt|dez)$/i, "made a date of"],
  [/^(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mrz|mai|okt|dez|janv|févr|juil|sept|déc)-\d{2}$/i, "made a date of"],
  [/^\d+[.,]0+$/, "added decimals to"],
];

/** Why a cell is not an id, in words that follow the row's line; undefined if it is one. Ids are text: `007` and `7` are two ids. */
export function idProblem(id: string): string | undefined {
  if (isTooLong(id, idCharactersMax)) return `the id is over ${idCharactersMax} characters`;
  const made = spreadsheetForms.find(([form]) => form.test(id));
  return made && `the id “${id}”: a spreadsheet has ${made[1]} it; format the column as text in the source, and export it again`;
}
