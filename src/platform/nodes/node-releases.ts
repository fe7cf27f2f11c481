import { setTimeout as sleep } from "node:timers/promises";
import sql from "sql-template-tag";
import type { Database, Queryable } from "../db/database.ts";
import { migrate, type Migration, type OnStep } from "../db/migrate.ts";
import { programVersion } from "../program-version.ts";
import { databaseTime } from "./nodes.ts";

/** A node with a lease. `name` is its machine and process if it says them, else the id of its lease. */
export type LiveNode = { name: string; release: string; isTooOld: boolean };

/** Longer than the lease of a node that has just been stopped. */
const waitMs = 10_000;
const lookEveryMs = 500;

/** The last migration of release 1.0.0. */
const lastOf100 = 13;

type Row = { node: { id: string; release?: string | null; host?: string | null; folding?: string | null }; last: number };

/** Lists the nodes that serve a database on PostgreSQL, whichever release made its tables. */
export async function listLiveNodes(db: Pick<Queryable, "query">): Promise<LiveNode[]> {
  const [has] = await db.query<{ nodes: boolean }>(sql`SELECT to_regclass('nodes') IS NOT NULL AS nodes`);
  if (!has?.nodes) return [];
  // as JSON, because earlier releases made the table with fewer columns
  const rows = await db.query<Row>(sql`
    SELECT to_jsonb(nodes) AS node, (SELECT MAX(number) FROM migrations) AS last FROM nodes
    WHERE lease_until > ${databaseTime("postgres")} ORDER BY id`);
  return rows.map(({ node, last }) => {
    const release = releaseOf(node, last);
    return { name: node.host ?? node.id, release, isTooOld: isTooOld(release, programVersion()) };
  });
}

/** Nodes later than 1.2.0 record their release. Those of 1.2.0 record how they fold names, and earlier ones neither. */
function releaseOf({ release, folding }: Row["node"], last: number): string {
  if (release) return release;
  if (folding) return "1.2.0";
  return last > lastOf100 ? "1.1.0" : "1.0.0";
}

/** Whether a node of this release may not run beside one of `own`: those of one minor version and of the next may. */
export function isTooOld(release: string, own: string): boolean {
  const [major = 0, minor = 0] = release.split(".").map(Number);
  const [ownMajor = 0, ownMinor = 0] = own.split(".").map(Number);
  return major < ownMajor || (major === ownMajor && minor < ownMinor - 1);
}

/** One line that names the nodes that are too old to run beside this release; undefined without any. */
export function tooOldLine(nodes: LiveNode[], addresses: string[]): string | undefined {
  const old = nodes.filter((node) => node.isTooOld);
  if (old.length === 0) return undefined;
  const releases = [...new Set(old.map(({ release }) => release))].join(" and ");
  const from = addresses.length === 0 ? "" : `, with connections from ${addresses.join(", ")}`;
  return (
    `${old.length === 1 ? "a node" : `${old.length} nodes`} of release ${releases} serve${old.length === 1 ? "s" : ""} this database, and cannot run ` +
    `beside ${programVersion()}: ${old.map(({ name }) => name).join(", ")}${from}`
  );
}

/** Lists the addresses of the processes of this program that were connected before this one. */
export async function addressesOfNodes(db: Pick<Queryable, "query">): Promise<string[]> {
  const rows = await db.query<{ address: string }>(sql`
    SELECT DISTINCT host(client_addr) AS address FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'petstore%'
      AND client_addr IS NOT NULL AND backend_start < (SELECT backend_start FROM pg_stat_activity WHERE pid = pg_backend_pid()) ORDER BY 1`);
  return rows.map(({ address }) => address);
}

/**
 * Brings a database up to date that nodes may serve, as `migrate` does. A node that is too old to run beside this release would count wrong on the newer
 * tables, so none may serve: waits for the leases of nodes that were just stopped, and checks again before each migration, which may have waited for its locks.
 *
 * @throws Error with one line that names these nodes
 */
export async function migrateShared(
  db: Pick<Database, "engine" | "query" | "write">,
  now: number,
  migrations: Migration[],
  onStep: OnStep = () => undefined,
): Promise<string[]> {
  await awaitOlderNodes(db, onStep);
  return migrate(db, now, migrations, onStep, { guard: refuseOlderNodes });
}

async function awaitOlderNodes(db: Pick<Queryable, "query">, onStep: OnStep): Promise<void> {
  const endsAt = performance.now() + waitMs;
  for (let isFirst = true; performance.now() < endsAt; isFirst = false) {
    const line = await olderNodesLine(db);
    if (line === undefined) return;
    if (isFirst) onStep(`Waiting for the end of leases: ${line}`);
    await sleep(lookEveryMs);
  }
  await refuseOlderNodes(db);
}

async function refuseOlderNodes(db: Pick<Queryable, "query">): Promise<void> {
  const line = await olderNodesLine(db);
  if (line !== undefined) throw new Error(`${line}: stop them all, and start again`);
}

async function olderNodesLine(db: Pick<Queryable, "query">): Promise<string | undefined> {
  return tooOldLine(await listLiveNodes(db), await addressesOfNodes(db));
}
