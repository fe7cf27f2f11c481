import { readFileSync } from "node:fs";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "iovalkey";
import pg from "pg";
import { addUsage } from "../../src/callers/usage/usage.store.ts";
import { openPostgres } from "../../src/platform/db/postgres.ts";
import { newSecretsKey } from "../../src/platform/secrets.ts";
import { startPostgres } from "../../test/support/postgres-process.ts";
import { startRedis } from "../../test/support/redis-process.ts";
import { cpuMs } from "../cpu.ts";
import { makeFolder, openShop, type Shop } from "../shop.ts";
import type { Costs, RequestCost } from "./model.ts";

/** The costs of one request of a kind, including those that the simulation does not need. */
type Measured = RequestCost & { statements: number; postgresBytes: number; redisCommands: number; redisBytes: number };
export type MeasuredCosts = Costs & {
  kinds: Record<string, Measured>;
  idle: { statementsPerSecond: number; redisCommandsPerSecond: number };
};

const requests = 4_000;
const atOnce = 16;
const animals = 1_000;
const idleMs = 4_000;
const usageAccounts = 1_000;

/** Measures what each kind of request costs a node, PostgreSQL and Redis on this machine, one kind after another. */
export async function measureCosts(): Promise<MeasuredCosts> {
  await using opened = new AsyncDisposableStack();
  const server = opened.adopt(await startPostgres(), (one) => one.remove());
  const line = opened.adopt(await countMessages(new URL(server.url)), (one) => one.close());
  const redis = opened.adopt(await startRedis(), (one) => one.stop());
  const env = { DATABASE_URL: line.url, REDIS_URL: redis.url, SECRETS_KEY: newSecretsKey(), LOG_LEVEL: "warn" };
  // creates the account without the line, which cannot answer while this process waits for the command
  const folder = opened.adopt(makeFolder({ ...env, DATABASE_URL: server.url }), (one) => one.remove());
  const shop = opened.adopt(await openShop(folder, env), (one) => one.stop());
  const pool = opened.adopt(new pg.Pool({ connectionString: server.url, max: 1 }), (one) => one.end());
  const store = opened.adopt(new Redis(redis.url), (one) => one.disconnect());
  await fill(pool, shop.accountId);
  const read = () => readCounters({ shop, pool, store, line });

  const before = await read();
  await sleep(idleMs);
  const idle = less(await read(), before, idleMs / 1_000);
  const kinds: Record<string, Measured> = {};
  let key = 0;
  const sends: [name: string, isWrite: boolean, send: () => Promise<Response>][] = [
    ["`GET /pets/{id}`", false, () => shop.ask("GET", "/pets/7")],
    ["`GET /pets`, 20 of them", false, () => shop.ask("GET", "/pets?limit=20")],
    ["`POST /store/orders`", true, () => order(shop, ++key, {})],
    ["`POST /store/orders` with an `Idempotency-Key`", true, () => order(shop, ++key, { "idempotency-key": `key ${key}` })],
  ];
  for (const [name, isWrite, send] of sends) {
    await many(200, send); // warms caches, query plans and code
    const [from, startedAt] = [await read(), performance.now()];
    await many(requests, send);
    const seconds = (performance.now() - startedAt) / 1_000;
    const spent = less(await read(), from, 1);
    const own = (pick: (counters: Counters) => number): number => Math.max(0, pick(spent) - pick(idle) * seconds) / requests;
    kinds[name] = {
      nodeUs: own(({ nodeUs }) => nodeUs),
      postgresUs: own((counters) => counters.postgresUs),
      redisUs: own(({ redisUs }) => redisUs),
      roundTrips: own(({ syncs }) => syncs),
      isWrite,
      statements: own(({ statements }) => statements),
      postgresBytes: own(({ bytes }) => bytes),
      redisCommands: own(({ redisCommands }) => redisCommands),
      redisBytes: own(({ redisBytes }) => redisBytes),
    };
  }
  return {
    kinds,
    usageRowUs: await usageRowUs(server.url, pool),
    idleNodeUs: idle.postgresUs,
    idle: { statementsPerSecond: idle.statements, redisCommandsPerSecond: idle.redisCommands },
  };
}

async function order({ url, key }: Shop, n: number, headers: Record<string, string>): Promise<Response> {
  const body = JSON.stringify({ petId: 1 + (n % animals), quantity: 1 });
  return fetch(`${url}/store/orders`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    body,
  });
}

async function many(count: number, send: () => Promise<Response>): Promise<void> {
  let left = count;
  const one = async (): Promise<void> => {
    while (left-- > 0) {
      const answer = await send();
      await answer.arrayBuffer();
      if (!answer.ok) throw new Error(`${answer.url} answered ${answer.status}`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
}

type Counters = {
  nodeUs: number;
  postgresUs: number;
  redisUs: number;
  statements: number;
  syncs: number;
  bytes: number;
  redisCommands: number;
  redisBytes: number;
};
type Parts = { shop: Shop; pool: pg.Pool; store: Redis; line: { counts: Messages } };

async function readCounters({ shop, pool, store, line }: Parts): Promise<Counters> {
  const info = await store.info("all");
  const number = (name: string): number => Number(new RegExp(`^${name}:(\\d+)`, "m").exec(info)?.[1] ?? 0);
  const commands = [...info.matchAll(/^cmdstat_(\S+?):calls=(\d+),usec=(\d+)/gm)].filter(([, name]) => name !== "info");
  const { statements, syncs, bytes } = line.counts;
  return {
    nodeUs: (await cpuMs(new URL(shop.url).origin)) * 1_000,
    postgresUs: await postgresUs(pool),
    redisUs: processUs(number("process_id")),
    statements,
    syncs,
    bytes,
    redisCommands: commands.reduce((sum, [, , calls]) => sum + Number(calls), 0),
    redisBytes: number("total_net_input_bytes") + number("total_net_output_bytes"),
  };
}

function less(after: Counters, before: Counters, per: number): Counters {
  const entries = Object.entries(after).map(([name, value]) => [name, (value - before[name as keyof Counters]) / per]);
  return Object.fromEntries(entries) as Counters;
}

/** The CPU time of all running PostgreSQL processes. */
async function postgresUs(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ pid: number }>("SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()");
  return rows.reduce((sum, { pid }) => sum + processUs(pid), 0);
}

/** The CPU time of a process in µs (Linux). */
function processUs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[0]) / 1_000;
}

async function fill(pool: pg.Pool, accountId: number): Promise<void> {
  await pool.query(`
    INSERT INTO categories VALUES (${accountId}, 1, 'Dogs', 'dogs', NULL, 1);
    INSERT INTO pets (account_id, id, name, name_key, category_id, status, version) SELECT ${accountId}, n, 'Rex', 'rex', 1, 'available', 1 FROM generate_series(1, ${animals}) n;
    INSERT INTO inventory SELECT ${accountId}, n, 1000000000, 0, 'available', 1 FROM generate_series(1, ${animals}) n;
    INSERT INTO accounts SELECT n, 'Shop', 'pro', NULL, NULL, 1 FROM generate_series(1000001, 1000000 + ${usageAccounts}) n;
    ANALYZE`);
}

/** PostgreSQL's CPU for one row of usage, saved in the way that a node saves it. */
async function usageRowUs(url: string, pool: pg.Pool): Promise<number> {
  const db = openPostgres(url, { onError: () => undefined });
  try {
    const counted = Array.from({ length: usageAccounts }, (_, n) => ({ accountId: 1_000_001 + n, requests: 5, refused: 0, banned: 0 }));
    const save = (minute: number) =>
      db.write((tx) =>
        addUsage(
          tx,
          counted.flatMap((one) => [
            { ...one, minute, kind: "operation" as const, name: "getPet" },
            { ...one, minute, kind: "key" as const, name: "1" },
          ]),
        ),
      );
    await save(0);
    const before = await postgresUs(pool);
    const rounds = 5;
    for (let round = 1; round <= rounds; round++) await save(round * 60_000);
    return ((await postgresUs(pool)) - before) / (rounds * usageAccounts * 6);
  } finally {
    await db.close();
  }
}

type Messages = { statements: number; syncs: number; bytes: number };

/** A TCP line to PostgreSQL that counts statements, round trips and bytes (PostgreSQL's documentation, "Message Formats"). */
async function countMessages(target: URL) {
  const counts: Messages = { statements: 0, syncs: 0, bytes: 0 };
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    const count = counter(counts);
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on("error", () => socket.destroy()).on("close", () => open.delete(socket));
      socket.setNoDelay(true);
    }
    client.on("data", count);
    upstream.on("data", (chunk: Buffer) => void (counts.bytes += chunk.length));
    client.pipe(upstream).pipe(client);
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const url = new URL(target);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    counts,
    close: async () => {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Returns a function that counts the messages in the bytes of one connection: Execute and Query are statements, Sync and Query round trips. */
function counter(counts: Messages): (chunk: Buffer) => void {
  let rest = Buffer.alloc(0);
  let hasBegun = false;
  return (chunk) => {
    counts.bytes += chunk.length;
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      const head = hasBegun ? 1 : 0; // the first message has no type
      if (rest.length < head + 4) return;
      const length = head + rest.readUInt32BE(head);
      if (rest.length < length) return;
      const type = hasBegun ? String.fromCharCode(rest[0]!) : "";
      if (type === "E" || type === "Q") counts.statements += 1;
      if (type === "S" || type === "Q") counts.syncs += 1;
      hasBegun = true;
      rest = rest.subarray(length);
    }
  };
}
