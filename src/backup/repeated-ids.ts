import type { Rewind } from "../platform/nodes/rewinds.ts";
import { numbered } from "./check-rules.ts";
import type { Ask, Dump } from "./dump.ts";
import { openPostgresDump } from "./postgres-dump.ts";

/**
 * The ids of a table from `from` to `to`, which were given out before a loss and are given out again. `used` has the first of those that rows have again, and
 * `usedCount` says how many there are.
 */
type RepeatedIdsOfTable = { table: string; from: number; to: number; used: number[]; usedCount: number };

/** A loss, with its repeated ids by table. */
export type RewindReport = Omit<Rewind, "ids"> & { ids: RepeatedIdsOfTable[] };

/** How many ids of a table are named. */
const namedMax = 20;
/** Rows whose ids nobody outside the service sees. */
const internal = new Set(["event_outbox", "acme_usage"]);

/** Looks up which ids that a database gave out before a loss it has given out again since. */
export async function findRepeatedIds(url: string, rewinds: readonly Rewind[]): Promise<RewindReport[]> {
  const dump = await openPostgresDump(url);
  try {
    const reports: RewindReport[] = [];
    for (const rewind of rewinds) reports.push({ ...rewind, ids: await repeatedIn(dump, rewind) });
    return reports;
  } finally {
    await dump.close();
  }
}

async function repeatedIn({ tables, ask }: Dump, { ids }: Rewind): Promise<RepeatedIdsOfTable[]> {
  const found: RepeatedIdsOfTable[] = [];
  for (const { sequence, after, to } of ids) {
    const table = numbered[sequence];
    if (table === undefined || internal.has(table) || !tables.some(({ name }) => name === table)) continue;
    found.push({ table, from: after + 1, to, ...(await usedOf(ask, table, after, to)) });
  }
  return found;
}

async function usedOf(ask: Ask, table: string, after: number, to: number): Promise<Pick<RepeatedIdsOfTable, "used" | "usedCount">> {
  const isRepeated = `FROM "${table}" WHERE id > ${after} AND id <= ${to}`;
  const [count] = await ask(`SELECT COUNT(*) AS count ${isRepeated}`);
  const rows = await ask(`SELECT id ${isRepeated} ORDER BY id LIMIT ${namedMax}`);
  return { used: rows.map(({ id }) => Number(id)), usedCount: Number(count?.["count"]) };
}
