import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import sql, { type Sql } from "sql-template-tag";
import type { Database } from "../src/platform/db/database.ts";
import { openPostgresHeartbeat } from "../src/platform/db/postgres-heartbeat.ts";
import { readersMax } from "../src/platform/db/postgres-readers.ts";
import { writersMax } from "../src/platform/db/postgres-writers.ts";
import { openPostgres } from "../src/platform/db/postgres.ts";
import { Problem } from "../src/platform/problem.ts";
import { newDatabase } from "./support/postgres.ts";
import { until } from "./support/until.ts";

const quick = sql`SELECT 1`;
/** Waits until the test releases a lock. */
const stuck = sql`SELECT pg_advisory_xact_lock_shared(1)`;

async function openScene(t: TestContext) {
  const { url, drop } = await newDatabase();
  const db = openPostgres(url, { onError: () => undefined });
  const heartbeat = openPostgresHeartbeat(url, { onError: () => undefined });
  const outside = new pg.Client(url);
  await outside.connect();
  await outside.query("SELECT pg_advisory_lock(1)");
  t.after(async () => {
    await outside.end();
    await Promise.all([db.close(), heartbeat.close()]);
    await drop();
  });
  /** The connections that wait for the lock, and since when, in an order of their own. */
  const stuckConnections = async (): Promise<string[]> => {
    const { rows } = await outside.query<{ pid: number; since: string }>(`
      SELECT pid, query_start::text AS since FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock' ORDER BY pid`);
    return rows.map(({ pid, since }) => `${pid} since ${since}`);
  };
  const release = () => outside.query("SELECT pg_advisory_unlock(1)");
  return { db, heartbeat, stuckConnections, release };
}

type Way = { run: (db: Pick<Database, "query" | "write">, query: Sql) => Promise<unknown>; connections: number };

const ways: Record<string, Way> = {
  reads: { run: (db, query) => db.query(query), connections: readersMax },
  transactions: { run: (db, query) => db.write((tx) => tx.query(query)), connections: writersMax },
};

for (const [kind, { run, connections }] of Object.entries(ways))
  test(`${kind} of one account occupy at most half of the connections, and delay no other account, no other work and no heartbeat`, async (t) => {
    const { db, heartbeat, stuckConnections, release } = await openScene(t);
    const hold = { isOn: true };
    /** Asks again when the wait for the lock or for a connection has ended, so that both last until the release. */
    const occupy = async (): Promise<void> => {
      for (; hold.isOn; await pause(50)) {
        const [outcome] = await Promise.allSettled([run(db.as({ caller: 1 }), stuck)]);
        if (outcome.status === "fulfilled") return;
        assert.ok(outcome.reason instanceof Problem);
        assert.deepEqual([outcome.reason.code, outcome.reason.headers], ["unavailable", { "retry-after": "1" }]);
      }
    };
    const occupied = Promise.all(Array.from({ length: 200 }, occupy));
    // Repeated where the server ended a wait for the lock meanwhile: nobody may need that.
    await until(async () => {
      const before = await stuckConnections();
      if (before.length === 0) return false;
      assert.ok(before.length <= connections / 2, `${before.length} of ${connections} are stuck`);
      for (const other of [db.as({ caller: 2 }), db.as({ caller: 3 }), db, heartbeat]) await run(other, quick);
      return String(await stuckConnections()) === String(before);
    });
    hold.isOn = false;
    await release();
    await occupied;
    assert.equal(db.load().pool?.connections, 0);
    await run(db.as({ caller: 1 }), quick);
  });
