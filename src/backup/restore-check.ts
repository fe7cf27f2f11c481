import type { ArchiveDump, CheckedArchive } from "./archive-dump.ts";
import { attemptCheck, checkAnswerPage, checkRows, openFaults, type Faults } from "./check-database.ts";
import { checkContentSizes, checkCounters } from "./check-files.ts";
import type { Ask, DumpedRows, Progress, Table, TableSum, Value } from "./dump.ts";
import { ArchiveError, countersName, type Manifest } from "./manifest.ts";

/** What to restore, and how. */
export type Restore = {
  archive: CheckedArchive;
  /** Sets the old state aside, if there is one. */
  replace: boolean;
  /** Whether to restore data that breaks the rules too. */
  withFaults: boolean;
  progress: Progress;
};

/** Checks a restored state before it replaces another: each table must equal the manifest, and the data must follow the rules. */
export type RestoreCheck = {
  /** The rows of an archive, checked while they are loaded. */
  rows: DumpedRows["rows"];
  /**
   * @param counters path of the counters of the limits, which may be absent
   * @param sizeOf returns the length of a published file by its name
   * @throws ArchiveError
   */
  finish(sums: Map<string, TableSum>, ask: Ask, counters: string, sizeOf: (form: string) => Promise<number | undefined>): Promise<void>;
};

export function openChecking(dump: ArchiveDump, { archive: { manifest }, withFaults }: Restore): RestoreCheck {
  const faults = openFaults();
  async function* watched(table: Table): AsyncGenerator<Value[][]> {
    for await (const page of dump.rows(table)) {
      if (table.name === "idempotency") checkAnswerPage(table, page, faults);
      yield page;
    }
  }
  return {
    rows: watched,
    async finish(sums, ask, counters, sizeOf) {
      requireSums(sums, manifest);
      if (withFaults) return;
      await checkRows({ ...dump, ask }, manifest.secrets.keys, faults);
      const hasContent = dump.tables.some(({ name }) => name === "deployments");
      // if the service lacked files when it was backed up, so does the restored one
      if (hasContent && manifest.missing === 0) await checkContentSizes(sizeOf, ask, faults);
      await attemptCheck(faults, countersName, () => checkCounters(counters, faults));
      requireNone(faults);
    },
  };
}

function requireNone({ lines }: Faults): void {
  if (lines.length === 0) return;
  const more = lines.length === 1 ? "" : ` and ${lines.length - 1} more`;
  throw new ArchiveError(
    `has data with faults (${lines[0]}${more}): \`petstore verify\` names them, and --with-faults restores it all the same`,
  );
}

/** Compares the rows that were loaded with the manifest. @throws ArchiveError */
export function requireSums(sums: Map<string, TableSum>, { parts }: Manifest): void {
  for (const [table, { rows, sha256 }] of sums) {
    const part = parts.find(({ name }) => name === `database/${table}`);
    if (rows === (part?.rows ?? 0) && (part === undefined || part.sha256 === sha256)) continue;
    throw new ArchiveError(`was changed while it was restored, or spells rows of ${table} in another way than a backup does`);
  }
}
