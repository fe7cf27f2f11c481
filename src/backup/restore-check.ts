import { checkCounters } from "./check-counters.ts";
import { checkContentSizes } from "./check-content.ts";
import { attemptCheck, checkAnswerPage, checkRows, openFaults, type Ask, type Faults, type SecretsCheck } from "./check-database.ts";
import type { Dump, Table, TableSum } from "./dump.ts";
import { ArchiveError, countersName, type Manifest } from "./manifest.ts";

export type RestoreCheck = {
  manifest: Manifest;
  /** Every column of encrypted secrets. */
  columns: SecretsCheck["columns"];
  /** Whether to restore data that breaks the rules too. */
  withFaults: boolean;
};

/** Checks a restored state before it replaces another: each table must equal the manifest, and the data must follow the rules. */
export type Checking = {
  /** The rows of an archive, checked while they are loaded. */
  rows: Dump["rows"];
  /**
   * @param counters path of the counters of the limits, which may be absent
   * @param sizeOf returns the length of a published file by its name
   * @throws ArchiveError
   */
  finish(sums: Map<string, TableSum>, ask: Ask, counters: string, sizeOf: (form: string) => Promise<number | undefined>): Promise<void>;
};

export function openChecking(dump: Pick<Dump, "migrations" | "rows" | "tables" | "sequences">, restore: RestoreCheck): Checking {
  const { manifest, columns, withFaults } = restore;
  const faults = openFaults();
  async function* watched(table: Table): ReturnType<Dump["rows"]> & AsyncGenerator {
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
      await checkRows(dump, ask, { keyIds: manifest.secrets.keys, columns }, faults);
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
