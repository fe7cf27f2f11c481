import type { Dump } from "./dump.ts";
import { pageText } from "./dump.ts";
import { summed, sumParts, textEntry, type Entry } from "./archive-writer.ts";
import { backupFormat, countersName, headerName, manifestName, secretsName, type Manifest } from "./manifest.ts";

/** A snapshot of everything that a backup contains. */
export type Source = {
  dump: Dump;
  /** Published files and waiting uploads, by their names in the archive. */
  files(): AsyncIterable<Entry>;
  /** How many files the database refers to that are absent. */
  missing: number;
  /** The counters of the limits; undefined if there are none yet or Redis has them. */
  counters: Entry | undefined;
  /** Ends the snapshot and releases its files. Further calls do nothing. */
  close(): Promise<void>;
};

export type BackupOptions = {
  program: string;
  /** ms since the Unix epoch. */
  now: number;
  /**
   * The secrets key, undefined if the backup leaves it out. `keys` is called once every row has been read. It returns the ids of the keys in use,
   * and throws if the backup could not be opened.
   */
  secrets: { text: string | undefined; keys: () => string[] };
  progress: (part: string, done: number) => void;
};

/** Rows are collected until an entry has this many characters. */
const entryLength = 1 << 20;

/** Yields the entries of a backup. The last one is the manifest, which `result` then has. */
export async function* backupEntries(source: Source, options: BackupOptions, result: { manifest?: Manifest }): AsyncGenerator<Entry> {
  const { program, now, secrets } = options;
  yield textEntry(headerName, `${JSON.stringify({ format: backupFormat, program })}\n`);
  const sums = sumParts();
  yield* summed(parts(source, options), sums);
  const { engine, migrations, tables, sequences } = source.dump;
  result.manifest = {
    format: backupFormat,
    program,
    madeAt: now,
    engine,
    migrations,
    tables,
    sequences,
    secrets: { isIncluded: secrets.text !== undefined, keys: secrets.keys() },
    missing: source.missing,
    parts: sums.end(),
  };
  yield textEntry(manifestName, `${JSON.stringify(result.manifest, null, 2)}\n`);
}

async function* parts(source: Source, { secrets, progress }: BackupOptions): AsyncGenerator<Entry> {
  if (secrets.text !== undefined) yield textEntry(secretsName, `${secrets.text}\n`);
  for (const table of source.dump.tables) {
    let [text, rows, number, all] = ["", 0, 1, 0];
    const entry = (): Entry => textEntry(`database/${table.name}/${String(number++).padStart(6, "0")}.jsonl`, text, rows);
    for await (const page of source.dump.rows(table)) {
      text += pageText(page);
      rows += page.length;
      progress(table.name, (all += page.length));
      if (text.length < entryLength) continue;
      yield entry();
      [text, rows] = ["", 0];
    }
    if (rows > 0) yield entry();
  }
  if (source.counters) yield { ...source.counters, name: countersName };
  let files = 0;
  for await (const file of source.files()) {
    yield file;
    progress("files", ++files);
  }
}
