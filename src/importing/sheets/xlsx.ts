import type { Bytes } from "../../platform/archives/archive-bytes.ts";
import { Problem } from "../../platform/problem.ts";
import type { CsvRow } from "../csv.ts";
import { cellsCharactersMax, columnsMax, dateText, isDateFormat, numberText, openRows, type Part, type Sheet } from "./sheet-rows.ts";
import { allOf, forEachTag, readXml } from "./xml.ts";

/** The archive that a workbook is: the name of its file, and its parts by path. */
type Archive = { file: string; part: (path: string) => Part | undefined };
const stringsBytesMax = 64 * 1_048_576;

/** Lists the sheets of an Excel workbook (ECMA-376), and reads the cells of one. */
export async function openXlsx(archive: Archive): Promise<{ sheets: Sheet[]; rows: (sheet: Sheet) => AsyncGenerator<CsvRow> }> {
  const { file } = archive;
  const top = await relations(archive, "_rels/.rels", "");
  const workbook = top.find(({ type }) => type.endsWith("/officeDocument"))?.target ?? "xl/workbook.xml";
  const slash = workbook.lastIndexOf("/") + 1;
  const [folder, base] = [workbook.slice(0, slash), workbook.slice(slash)];
  const related = await relations(archive, `${folder}_rels/${base}.rels`, folder);
  const sheets: Sheet[] = [];
  let isFrom1904 = false;
  await forEachTag(contentOf(archive, workbook), file, (name, { name: title = "", state, id, date1904 }) => {
    if (name === "workbookPr") isFrom1904 = date1904 === "1" || date1904 === "true";
    if (name !== "sheet") return;
    const target = related.find((one) => one.id === id);
    if (target?.type.endsWith("/worksheet"))
      sheets.push({ name: title, isHidden: state !== undefined && state !== "visible", path: target.target });
  });
  const partOf = (type: string) => related.find((one) => one.type.endsWith(type))?.target;
  let shared: Promise<[string[], SheetContext["isDate"]]> | undefined;
  async function* rows(sheet: Sheet): AsyncGenerator<CsvRow> {
    shared ??= Promise.all([sharedStrings(archive, partOf("/sharedStrings")), dateStyles(archive, partOf("/styles"))]);
    const [strings, isDate] = await shared;
    yield* cellsOf(contentOf(archive, sheet.path), { file, strings, isDate, isFrom1904 });
  }
  return { sheets, rows };
}

function contentOf({ file, part }: Archive, path: string): Bytes {
  const found = part(path);
  if (!found)
    throw new Problem("invalid_request", `${file} is a damaged workbook: ${JSON.stringify(path.slice(0, 120))} is missing. Save it again.`);
  return found.content;
}

async function relations(archive: Archive, path: string, folder: string): Promise<{ id: string; type: string; target: string }[]> {
  const found: { id: string; type: string; target: string }[] = [];
  const part = archive.part(path);
  if (!part) return found;
  await forEachTag(part.content, archive.file, (name, { Id: id = "", Type: type = "", Target: target = "", TargetMode: mode }) => {
    if (name === "Relationship" && mode !== "External") found.push({ id, type, target: resolved(folder, target) });
  });
  return found;
}

function resolved(folder: string, target: string): string {
  const steps: string[] = [];
  for (const step of (target.startsWith("/") ? target.slice(1) : folder + target).split("/"))
    if (step === "..") steps.pop();
    else if (step !== ".") steps.push(step);
  return steps.join("/");
}

async function sharedStrings(archive: Archive, path: string | undefined): Promise<string[]> {
  const strings: string[] = [];
  if (path === undefined) return strings;
  let bytes = 0;
  const count = (characters: number): void => {
    bytes += 2 * characters;
    if (bytes > stringsBytesMax)
      throw new Problem("invalid_request", `${archive.file} has over 64 MiB of different texts. Save it as CSV, and choose that file.`);
  };
  const read = readXml<string>(contentOf(archive, path), archive.file, (emit) => {
    let [text, isText, isPhonetic] = ["", false, false];
    return {
      open(name) {
        if (name === "si") text = "";
        else if (name === "rPh") isPhonetic = true;
        else if (name === "t") isText = !isPhonetic;
      },
      text(piece) {
        if (!isText) return;
        count(piece.length);
        text += piece;
      },
      close(name) {
        if (name === "t") isText = false;
        else if (name === "rPh") isPhonetic = false;
        else if (name === "si") {
          count(8);
          emit(unescaped(text));
        }
      },
    };
  });
  for await (const string of read) strings.push(string);
  return strings;
}

/** Excel writes characters that XML cannot have as _x000D_. */
function unescaped(text: string): string {
  return text.includes("_x")
    ? text.replaceAll(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    : text;
}

async function dateStyles(archive: Archive, path: string | undefined): Promise<(style: string | undefined) => boolean> {
  const codes = new Map<string, string>();
  const dates: boolean[] = [];
  let isOfCells = false;
  if (path === undefined) return () => false;
  const read = readXml<never>(contentOf(archive, path), archive.file, () => ({
    open(name, { numFmtId = "0", formatCode }) {
      if (name === "numFmt") codes.set(numFmtId, formatCode ?? "");
      else if (name === "cellXfs") isOfCells = true;
      else if (name === "xf" && isOfCells) dates.push(isDateFormat(numFmtId, codes.get(numFmtId)));
    },
    close(name) {
      if (name === "cellXfs") isOfCells = false;
    },
  }));
  await allOf(read);
  return (style) => dates[Number(style ?? 0)] === true;
}

type SheetContext = { file: string; strings: readonly string[]; isDate: (style: string | undefined) => boolean; isFrom1904: boolean };

function cellsOf(content: Bytes, reading: SheetContext): AsyncGenerator<CsvRow> {
  const damaged = (what: string): Problem =>
    new Problem("invalid_request", `${reading.file} is a damaged workbook: ${what}. Save it again.`);
  return readXml<CsvRow>(content, reading.file, (emit) => {
    const rows = openRows(reading.file, emit);
    let [line, column, value, isValue, isPhonetic] = [0, -1, "", false, false];
    let cell: { type: string; style: string | undefined } | undefined;
    return {
      open(name, { r, t: type = "n", s: style }) {
        if (name === "row") {
          const next = r === undefined ? line + 1 : Number(r);
          if (!(Number.isSafeInteger(next) && next > line)) throw damaged(`its row ${JSON.stringify(r)} comes after row ${line}`);
          [line, column] = [next, -1];
        } else if (name === "c") {
          column = r === undefined ? column + 1 : columnOf(r);
          if (!(column >= 0 && column < columnsMax)) throw damaged(`it has a cell at ${JSON.stringify(r)}`);
          [cell, value] = [{ type, style }, ""];
        } else if (name === "rPh") isPhonetic = true;
        else if (name === "v" || name === "t") isValue = cell !== undefined && !isPhonetic;
      },
      text(piece) {
        if (isValue && value.length <= cellsCharactersMax) value += piece;
      },
      close(name) {
        if (name === "v" || name === "t") isValue = false;
        else if (name === "rPh") isPhonetic = false;
        else if (name === "c" && cell) {
          rows.cell(column, textOf(value, cell, reading) ?? raise(damaged(`it has no text ${JSON.stringify(value.slice(0, 20))}`)));
          cell = undefined;
        } else if (name === "row") rows.end(line);
      },
    };
  });
}

function raise(problem: Problem): never {
  throw problem;
}

/** The column of a reference such as C5, counted from 0; -1 if it is none. */
function columnOf(reference: string): number {
  const letters = /^([A-Z]{1,3})\d{1,7}$/.exec(reference)?.[1] ?? "";
  return Array.from(letters).reduce((number, letter) => number * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}

/** Undefined if it refers to a text that the workbook does not have. */
function textOf(value: string, { type, style }: { type: string; style: string | undefined }, reading: SheetContext): string | undefined {
  switch (type) {
    case "s":
      return value === "" ? "" : reading.strings[/^\d+$/.test(value) ? Number(value) : -1];
    case "str":
    case "inlineStr":
      return unescaped(value);
    case "b":
      return value === "" ? "" : value === "1" || value === "true" ? "TRUE" : "FALSE";
    case "e":
      return "";
    case "d":
      return value;
    default:
      return reading.isDate(style) ? dateText(value, reading.isFrom1904) : numberText(value);
  }
}
