import { UnreadableArchive } from "../../platform/archives/archive-bytes.ts";
import type { RandomAccess } from "../../platform/archives/zip-directory.ts";
import { readZip } from "../../platform/archives/zip-reader.ts";
import { Problem } from "../../platform/problem.ts";
import type { CsvRow } from "../csv.ts";
import { rowsOfOds, sheetsOfOds } from "./ods.ts";
import type { Part, Sheet } from "./sheet-rows.ts";
import { openXlsx } from "./xlsx.ts";

type Workbook = { sheets: Sheet[]; rows: (sheet: Sheet) => AsyncGenerator<CsvRow> };

const partsMax = 10_000;
const partBytesMax = 2 * 1_024 * 1_048_576;

/**
 * Opens a workbook of Excel (.xlsx) or OpenDocument (.ods) to read its cells as text, in Node and in a browser. Never holds more of it than the texts
 * that its cells share, at most 64 MiB.
 *
 * @throws Problem `invalid_request`
 */
export async function openWorkbook(access: RandomAccess, file: string): Promise<Workbook> {
  const entries = await readZip(access, partsMax).catch((error: unknown) => {
    throw error instanceof UnreadableArchive ? asRefusal(error, file) : error;
  });
  const byName = new Map(entries.map((entry) => [entry.name.toLowerCase(), entry]));
  const part = (path: string): Part | undefined => {
    const found = byName.get(path.toLowerCase());
    if (found && found.size > partBytesMax)
      throw new Problem("invalid_request", `${file} has a sheet of over 2 GiB. Save it as CSV, and choose that file.`);
    return found && { size: found.size, content: { [Symbol.asyncIterator]: () => refusing(found, file) } };
  };
  const content = part("content.xml");
  const isExcel = byName.has("[content_types].xml");
  if (byName.has("xl/workbook.bin") || (!isExcel && !content))
    throw new Problem("invalid_request", `${file} is not a workbook that can be read. Save it as .xlsx or CSV, and choose that file.`);
  if (!isExcel && content)
    return { sheets: await sheetsOfOds(content.content, file), rows: (sheet) => rowsOfOds(content.content, file, sheet) };
  return openXlsx({ file, part });
}

/** The most sheets that are searched for rows. */
const sheetsMax = 50;

/** The visible sheets that have rows. */
export async function sheetsWithRows({ sheets, rows }: Workbook): Promise<Sheet[]> {
  const found: Sheet[] = [];
  for (const sheet of sheets.filter(({ isHidden }) => !isHidden).slice(0, sheetsMax))
    if (sheet.hasRows ?? (await hasRows(rows(sheet)))) found.push(sheet);
  return found;
}

/** A sheet that cannot be read counts as one with rows: choosing it says why. */
async function hasRows(rows: AsyncGenerator<CsvRow>): Promise<boolean> {
  try {
    const { done = false } = await rows.next();
    await rows.return(undefined);
    return !done;
  } catch (error) {
    if (error instanceof Problem) return true;
    throw error;
  }
}

/** The sheet with a name, and by default the first visible one with rows. @throws Problem `invalid_request` */
export async function sheetOf(workbook: Workbook, file: string, name?: string): Promise<Sheet> {
  const { sheets } = workbook;
  const visible = name === undefined ? ((await sheetsWithRows(workbook))[0] ?? sheets.find(({ isHidden }) => !isHidden)) : undefined;
  const found = name === undefined ? (visible ?? sheets[0]) : sheets.find((sheet) => sheet.name === name);
  if (found) return found;
  const names = sheets.slice(0, 20).map((sheet) => JSON.stringify(sheet.name.slice(0, 100)));
  throw new Problem(
    "invalid_request",
    `${file} has no ${name === undefined ? "sheet" : `sheet ${JSON.stringify(name)}, but ${names.join(", ")}`}.`,
  );
}

async function* refusing({ content }: Part, file: string): AsyncGenerator<Uint8Array> {
  try {
    yield* content;
  } catch (error) {
    throw error instanceof UnreadableArchive ? asRefusal(error, file) : error;
  }
}

function asRefusal({ message }: UnreadableArchive, file: string): Problem {
  return new Problem("invalid_request", `${file} ${message}. Save it again.`);
}
