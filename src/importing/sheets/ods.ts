import type { Bytes } from "../../platform/archives/archive-bytes.ts";
import type { CsvRow } from "../csv.ts";
import { cellsCharactersMax, columnsMax, numberText, openRows, type Sheet } from "./sheet-rows.ts";
import { allOf, readXml, type Attributes } from "./xml.ts";

const rowsMax = 1_048_576;

/** Lists the sheets of an OpenDocument spreadsheet (OASIS ODF). */
export async function sheetsOfOds(content: Bytes, file: string): Promise<Sheet[]> {
  const hidden = new Set<string>();
  const read = readXml<Sheet>(content, file, (emit) => {
    let [style, depth] = ["", 0];
    let sheet: Sheet | undefined;
    return {
      open(name, attributes) {
        if (name === "style") style = attributes["name"] ?? "";
        else if (name === "table-properties" && attributes["display"] === "false") hidden.add(style);
        else if (name === "table" && depth++ === 0) {
          const title = attributes["name"] ?? "";
          sheet = { name: title, isHidden: hidden.has(attributes["style-name"] ?? ""), path: title, hasRows: false };
        }
      },
      text(piece) {
        if (sheet && piece.trim() !== "") sheet.hasRows = true;
      },
      close(name) {
        if (name !== "table" || --depth > 0 || sheet === undefined) return;
        emit(sheet);
        sheet = undefined;
      },
    };
  });
  return allOf(read);
}

/** Reads the cells of one sheet. Repeated empty cells and rows, of which programs write a million, cost nothing. */
export function rowsOfOds(content: Bytes, file: string, sheet: Sheet): AsyncGenerator<CsvRow> {
  return readXml<CsvRow>(content, file, (emit) => {
    const rows = openRows(file, emit);
    let [depth, isSheet, line, column, times, notes] = [0, false, 1, 0, 1, 0];
    let cell: { attributes: Attributes; text: string; paragraphs: number } | undefined;
    let paragraph = 0;
    return {
      open(name, attributes) {
        if (name === "table" && depth++ === 0) isSheet = attributes["name"] === sheet.path;
        if (!isSheet || depth !== 1) return;
        if (name === "table-row") [column, times] = [0, repeated(attributes["number-rows-repeated"], rowsMax)];
        else if (name === "table-cell" || name === "covered-table-cell") cell = { attributes, text: "", paragraphs: 0 };
        else if (name === "annotation") notes++;
        else if (cell && notes === 0) {
          if (name === "p" && paragraph++ === 0 && cell.paragraphs++ > 0) cell.text += "\n";
          else if (name === "s") cell.text += " ".repeat(repeated(attributes["c"], 1_000));
          else if (name === "tab") cell.text += "\t";
          else if (name === "line-break") cell.text += "\n";
        }
      },
      text(piece) {
        if (cell && paragraph > 0 && notes === 0 && cell.text.length <= cellsCharactersMax) cell.text += piece;
      },
      close(name) {
        if (name === "table" && --depth === 0) isSheet = false;
        if (!isSheet || depth !== 1) return;
        if (name === "annotation") notes--;
        else if (name === "p" && notes === 0) paragraph--;
        else if (cell && (name === "table-cell" || name === "covered-table-cell")) {
          const text = textOf(cell);
          const count = repeated(cell.attributes["number-columns-repeated"], columnsMax);
          if (text !== "") for (let at = 0; at < count; at++) rows.cell(column + at, text);
          column += count;
          cell = undefined;
        } else if (name === "table-row") {
          rows.end(line, times);
          line += times;
        }
      },
    };
  });
}

function repeated(text: string | undefined, most: number): number {
  const number = text === undefined ? 1 : Number(text);
  return Number.isSafeInteger(number) && number > 0 ? Math.min(number, most) : 1;
}

function textOf({ attributes, text }: { attributes: Attributes; text: string }): string {
  const { value, "value-type": type } = attributes;
  if (/^(?:#[A-Z/0!?]+|Err:\d+)$/.test(text)) return "";
  if ((type === "float" || type === "percentage" || type === "currency") && value !== undefined) return numberText(value);
  if (type === "date") return (attributes["date-value"] ?? text).replace(/T00:00:00(?:\.0+)?$/, "");
  if (type === "boolean") return (attributes["boolean-value"] ?? text).toUpperCase();
  return type === "string" && text === "" ? (attributes["string-value"] ?? "") : text;
}
