import { attempt } from "../platform/parse.ts";
import { linesOf, readEntries, textOf, type ArchivedFile } from "./archive.ts";
import { pageLength, pageRows, type Column, type DumpedRows, type Table, type Value } from "./dump.ts";
import { ArchiveError, headerName, manifestName, partOf, secretsName, type Manifest } from "./manifest.ts";

const secretsBytesMax = 4_096;

/** A checked archive, read again from its beginning to load it. */
export type ArchiveDump = DumpedRows & {
  /** The secrets key, if the archive has it. */
  secrets: string | undefined;
  /** The files that follow the tables: counters, published files and waiting archives. Read them after the tables. */
  files(): AsyncIterable<ArchivedFile>;
  close(): Promise<void>;
};

/** An archive whose every byte was checked. `open` opens it from its beginning. */
export type CheckedArchive = { manifest: Manifest; open: () => Promise<ArchiveDump> };

/**
 * Opens an archive that `checkArchive` has checked. `files` ends with an error if the archive was changed since.
 *
 * @throws ArchiveError
 */
export async function openArchiveDump(
  source: AsyncIterable<Uint8Array>,
  passphrase: string | undefined,
  manifest: Manifest,
): Promise<ArchiveDump> {
  const entries = readEntries(source, passphrase);
  let step = await entries.next();
  const advance = async (): Promise<void> => void (step = await entries.next());
  if (!step.done && step.value.name === headerName) await advance();
  let secrets: string | undefined;
  if (!step.done && step.value.name === secretsName) {
    secrets = (await textOf(step.value, secretsBytesMax)).trim();
    await advance();
  }

  async function* rows(table: Table): AsyncGenerator<Value[][]> {
    while (!step.done && partOf(step.value.name) === `database/${table.name}`) {
      yield* pagesIn(step.value, table);
      await advance();
    }
  }

  async function* files(): AsyncGenerator<ArchivedFile> {
    for (; !step.done; await advance()) if (step.value.name !== manifestName) yield step.value;
  }

  const { migrations, tables, sequences } = manifest;
  return { migrations, tables, sequences, secrets, rows, files, close: async () => void (await entries.return(undefined)) };
}

/** Bounds a page by its rows and its length, so that an archive cannot fill the memory. */
async function* pagesIn(entry: ArchivedFile, table: Table): AsyncGenerator<Value[][]> {
  let page: Value[][] = [];
  let length = 0;
  for await (const line of linesOf(entry)) {
    page.push(rowIn(line, table));
    length += line.length;
    if (page.length < pageRows && length < pageLength) continue;
    yield page;
    [page, length] = [[], 0];
  }
  if (page.length > 0) yield page;
}

/** Longer lines are checked before they are parsed, because nested lists take many times their length in memory. */
const plainLength = 64 << 10;

function rowIn(line: string, { name, columns }: Table): Value[] {
  const damaged = new ArchiveError(`is damaged: a row of ${name} does not have the values of its columns`);
  if (line.length > plainLength && !isFlat(line, columns.length)) throw damaged;
  const row = attempt((): unknown => JSON.parse(line));
  if (!Array.isArray(row) || row.length !== columns.length || !row.every((value, at) => isValue(value, columns[at]!))) throw damaged;
  return row as Value[];
}

function isValue(value: unknown, { type }: Column): boolean {
  if (value === null) return true;
  if (type === "integer") return Number.isSafeInteger(value);
  if (type === "boolean") return typeof value === "boolean";
  return typeof value === "string" && (type === "text" || (value.length % 2 === 0 && /^[0-9a-f]*$/.test(value)));
}

/** Whether a line is one flat list of at most this many values. */
function isFlat(line: string, values: number): boolean {
  let [commas, isText] = [0, false];
  for (let at = 1; at < line.length; at++) {
    const character = line[at];
    if (isText && character === "\\") at += 1;
    else if (character === '"') isText = !isText;
    else if (!isText && (character === "[" || character === "{")) return false;
    else if (!isText && character === "," && ++commas >= values) return false;
  }
  return line.startsWith("[");
}
