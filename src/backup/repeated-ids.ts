import { storedLosses, type Rewind } from "../platform/nodes/rewinds.ts";
import { namedMax, numbered } from "./check-rules.ts";
import type { Ask, Dump } from "./dump.ts";
import { openPostgresDump } from "./postgres-dump.ts";

/**
 * The ids of a table from `from` to `to`, which were given out before a loss and are given out again. `used` has the first of those that rows have again, and
 * `usedCount` says how many there are.
 */
type RepeatedIdsOfTable = { table: string; from: number; to: number; used: number[]; usedCount: number };

/** A loss, with its repeated ids by table. */
export type RewindReport = Omit<Rewind, "ids"> & { ids: RepeatedIdsOfTable[] };

/** Rows whose ids nobody outside the service sees. */
const internal = new Set(["event_outbox", "acme_usage"]);

/** Lists the losses that nodes have found in a database, and which ids from before a loss it has given out again since. */
export async function findRewinds(url: string): Promise<RewindReport[]> {
  const dump = await openPostgresDump(url);
  try {
    const reports: RewindReport[] = [];
    for (const rewind of await storedLosses(dump.ask)) reports.push({ ...rewind, ids: await repeatedIn(dump, rewind) });
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

const timeOf = (at: number): string => new Date(at).toISOString();

/** Says what was lost, and what follows from it. */
export function rewindText({ foundAt, from, to, changes, ids, sent }: RewindReport): string {
  const found = `At ${timeOf(foundAt)} a node found that the database went back in time`;
  const lost =
    from === null
      ? `${found}, and lacks all that the node knew: it is an older copy or another database.`
      : `${found}: what was written from ${timeOf(from)} to ${timeOf(to)} is gone. Ids and positions of events of that time are given out again: ` +
        "compare orders with payments, and delivered webhooks with the log.";
  const undone = changes.map(({ kind, subject }) => `${kind} ${subject}`).join(", ");
  return [
    lost + (undone === "" ? "" : ` Changes to these are undone, so that a revoked key works again: ${undone}.`),
    ...ids.map(repeatedText),
    ...(sent.length === 0 ? [] : [`  Webhook endpoints have events that are gone: ${named(sent.map(sentText), sent.length)}.`]),
  ].join("\n");
}

function repeatedText({ table, from, to, used, usedCount }: RepeatedIdsOfTable): string {
  const range = from === to ? `${from} was` : `${from} to ${to} were`;
  const again = usedCount === 0 ? "none of them is in use again yet" : `in use again: ${named(used.map(String), usedCount)}`;
  return `  Ids of ${table}: ${range} given out before the loss; ${again}.`;
}

const sentText = ({ accountId, webhookId, position, messageId }: RewindReport["sent"][number]): string =>
  `${messageId} (position ${position} of account ${accountId}) at endpoint ${webhookId}`;

function named(all: string[], count: number): string {
  const first = all.slice(0, namedMax);
  return `${first.join(", ")}${count > first.length ? `, and ${count - first.length} more` : ""}`;
}
