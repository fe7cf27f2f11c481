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
  if (id.length > idCharactersMax && [...id].length > idCharactersMax) return `the id is over ${idCharactersMax} characters`;
  const made = spreadsheetForms.find(([form]) => form.test(id));
  return made && `the id “${id}”: a spreadsheet has ${made[1]} it; format the column as text in the source, and export it again`;
}
