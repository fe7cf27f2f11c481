import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import sql, { type Sql } from "sql-template-tag";
import { dayMs, hourMs } from "../clock.ts";
import type { Around, Queryable, Transaction } from "../db/database.ts";
import { openSession } from "../db/postgres-sessions.ts";
import { urlsOf } from "../db/postgres-url.ts";
import { writeDurably } from "../files.ts";
import { attempt } from "../parse.ts";
import { Problem } from "../problem.ts";
import { databaseTime, type Change } from "./nodes.ts";

/*
 * How a node notices that its PostgreSQL went back in time (decision 0119): a standby that lacked the last writes was promoted, an older copy was put
 * in its place, or another database. With each heartbeat a node raises the count in its row of `node_beats`, and remembers it in memory and in DATA_DIR.
 * If the row is missing or its count is lower than one that PostgreSQL has acknowledged, the database lost what was written since. The node stores the
 * loss in `database_losses`, where every node finds it, also one without memory. No node takes writes until the state of the database is accepted:
 * `accepted_states` has a later row than the node knew of that found the loss.
 */

/** A change that a node has applied, and when. */
type NotedChange = Change & { number: number; at: number };

/** The ids of a sequence above `after` up to `to`: given out before a loss, and given out again after it. */
type RepeatedIds = { sequence: string; after: number; to: number };

/** An event that this node has sent to a webhook endpoint. */
type SentEvent = { accountId: number; webhookId: number; position: number; messageId: string };

/**
 * A loss that a node found. `from` is the time of the last heartbeat that the database still has; null if it has none. All that was written since is gone.
 * `sent` has the events of that time that this node sent to webhook endpoints.
 */
export type Rewind = { foundAt: number } & Span & Lost;
type Span = { from: number | null; to: number };
type Lost = { changes: NotedChange[]; ids: RepeatedIds[]; sent: SentEvent[] };

/** What a node remembers of its database. */
type Memory = {
  node: string;
  /** Hosts and database, without user and password. */
  places: string[];
  /** The number of heartbeats that the database has acknowledged, the time of the last (ms, by its clock), and when its state was last accepted. */
  beats: number;
  at: number;
  acceptedAt: number;
  /** The last id of each sequence. */
  ids: Record<string, number>;
  changes: NotedChange[];
  sent: SentEvent[];
  /** The loss that it found, until its state is accepted. */
  rewind?: Rewind | undefined;
};

export const memoryName = "petstore.node";
const saveEveryMs = 1_000;
const changesMax = 100;
const sentMax = 200;
/** A node that was away for this long starts with a new count: its row may have been deleted. */
const awayMsMax = 60 * dayMs;
/** With `synchronous_commit=off` PostgreSQL itself may lose this many heartbeats, five seconds of them, when it crashes. */
const beatsOfACrash = 50;

export type Rewinds = {
  /** Counts a heartbeat in its transaction. Returns a function to call once that has committed. */
  count(tx: Transaction): Promise<() => void>;
  /** Whether the database has gone back since this was last asked: the numbers of changes that this node has applied are then given out again. */
  takeLoss(): boolean;
  /** Remembers a change that this node has applied. */
  note(change: Change & { number: number }): void;
  /** Remembers an event that this node has sent to a webhook endpoint. */
  noteSent(sent: SentEvent): void;
  /** Compares the database of a new connection, before anything is written on it. @throws Problem `unavailable` */
  check(db: Pick<Queryable, "query">): Promise<void>;
  /** Refuses transactions while the database lacks what this node knows, and before that is known. */
  around: Around;
  close(): Promise<void>;
};

type State = {
  memory: Memory;
  path: string;
  /** Those of `DATABASE_URL`. */
  places: string[];
  /** Whether the database has what this node knows. */
  known: "unknown" | "whole" | "rewound";
  /** Whether a loss was found that `takeLoss` has not returned. */
  hasLoss: boolean;
  onRewound: (reason: string | undefined) => void;
  savedAt: number;
  saving: Promise<void>;
};

/**
 * Opens the watch of a node.
 *
 * @param onRewound called with the reason when the database has gone back in time, and with undefined when its state was accepted
 */
export function openRewinds(dataDir: string, url: string, onRewound: State["onRewound"]): Rewinds {
  const path = join(dataDir, memoryName);
  const places = placesOf(url);
  const memory = readMemory(dataDir) ?? newMemory(places);
  const state: State = { memory, path, places, known: "unknown", hasLoss: false, onRewound, savedAt: -Infinity, saving: Promise.resolve() };
  return {
    count: (tx) => count(state, tx),
    takeLoss() {
      const { hasLoss } = state;
      state.hasLoss = false;
      return hasLoss;
    },
    note({ kind, subject, number }) {
      memory.changes = [...memory.changes, { kind, subject, number, at: memory.at }].slice(-changesMax);
    },
    noteSent(sent) {
      memory.sent.push(sent);
      if (memory.sent.length > sentMax) memory.sent.shift();
    },
    async check(db) {
      if (isRewound(state)) throw refusal(); // a write may have passed `around` before
      if (state.known !== "whole") return;
      const before = { ...memory }; // a heartbeat may be counted while the answer is on its way
      const row = await rowOf(db, memory);
      const loss = judge(before, row, places) === "rewound" ? { from: row.at, to: before.at } : row.loss;
      if (loss) refuse(state, loss); // the next heartbeat finds out what is lost
      if (isRewound(state)) throw refusal();
    },
    async around(operation, work) {
      if (operation === "transaction" && state.known !== "whole") throw refusal();
      return work();
    },
    async close() {
      await save(state);
    },
  };
}

const isRewound = (state: State): boolean => state.known === "rewound";

function refusal(): Problem {
  const message = "The database lacks what was stored before, and takes no changes until its operator has checked it. Try again later.";
  return new Problem("unavailable", message, { headers: { "retry-after": "60" } });
}

const portOfPostgres = "5432";

/** The hosts and databases of a URL, with their ports. */
const placesOf = (url: string): string[] =>
  urlsOf(url).map((one) => {
    const { hostname, port, pathname, searchParams } = new URL(one);
    const host = (searchParams.get("host") ?? hostname).toLowerCase();
    return `${host}:${searchParams.get("port") ?? (port || portOfPostgres)}${pathname}`;
  });

const newMemory = (places: string[]): Memory => ({
  node: randomUUID(),
  places,
  beats: 0,
  at: 0,
  acceptedAt: 0,
  ids: {},
  changes: [],
  sent: [],
});

/** What the node of a data folder remembers; undefined if it has no memory. One of an earlier version has neither ids nor events that were sent. */
export function readMemory(dataDir: string): Memory | undefined {
  const saved = attempt(() => JSON.parse(readFileSync(join(dataDir, memoryName), "utf8")) as Memory);
  return saved && { ...newMemory(saved.places), ...saved };
}

/** The last id of each sequence that has given out one; null if there is none. */
const lastIds = sql`(SELECT json_object_agg(sequencename, last_value) FROM pg_sequences WHERE schemaname = current_schema() AND last_value IS NOT NULL)`;

/** A loss that a node has stored, if none of the states accepted is later. Without an order: a sort would make PostgreSQL compile each heartbeat (JIT). */
const pendingLoss = sql`(
  SELECT json_build_object('from', lost_from, 'to', lost_to) FROM database_losses
  WHERE last_accepted >= COALESCE((SELECT MAX(at) FROM accepted_states), 0) LIMIT 1)`;
const figures: Sql = sql`beats, at, (SELECT MAX(at) FROM accepted_states) AS accepted_at, ${pendingLoss} AS loss`;
type Figures<T> = { beats: T; at: T; accepted_at: number | null; loss: Span | null };

type Counted = Figures<number> & { ids: Record<string, number> | null };
type Row = Figures<number | null> & { now: number; synchronous_commit: string; is_stored: boolean };

/** Reads the row of a node, and whether it has stored the loss of what it remembers. */
async function rowOf(db: Pick<Queryable, "query">, { node, at }: Memory): Promise<Row> {
  const [row] = await db.query<Row>(sql`
    SELECT ${figures}, ${databaseTime("postgres")} AS now, current_setting('synchronous_commit') AS synchronous_commit,
      EXISTS (SELECT 1 FROM database_losses AS loss WHERE loss.node = ${node} AND lost_to = ${at}) AS is_stored
    FROM (SELECT 1) AS one LEFT JOIN node_beats AS own ON own.node = ${node}`);
  return row!;
}

/** Judges the row of a node in the database of some places. A database elsewhere that does not know the node is another one. */
function judge(memory: Memory, row: Row, places: readonly string[]): "whole" | "rewound" | "another" {
  const { beats, accepted_at: acceptedAt, now, synchronous_commit: commit } = row;
  if (beats === null && !memory.places.some((place) => places.includes(place))) return "another";
  if (memory.beats === 0 || (beats !== null && beats >= memory.beats)) return "whole";
  // another database may have been accepted long ago
  if (acceptedAt !== null && acceptedAt > memory.acceptedAt && acceptedAt > memory.at - hourMs) return "whole";
  if (beats === null) return now - memory.at > awayMsMax ? "whole" : "rewound";
  return commit === "off" && memory.beats - beats <= beatsOfACrash ? "whole" : "rewound";
}

async function count(state: State, tx: Transaction): Promise<() => void> {
  const { memory } = state;
  // reading the ids takes as long as the rest of a heartbeat, so they are read only as often as they are saved
  const returning = performance.now() - state.savedAt < saveEveryMs ? sql`${figures}, NULL AS ids` : sql`${figures}, ${lastIds} AS ids`;
  const [counted] = await tx.query<Counted>(sql`
    UPDATE node_beats SET beats = beats + 1, at = ${databaseTime("postgres")} WHERE node = ${memory.node} AND beats >= ${memory.beats}
    RETURNING ${returning}`);
  if (counted) return () => remember(state, counted);
  const row = await rowOf(tx, memory);
  const found = judge(memory, row, state.places);
  if (found === "rewound") {
    await noteLoss(state, tx, row);
    return () => undefined;
  }
  if (found === "another") Object.assign(memory, newMemory(state.places));
  const [begun] = await tx.query<Counted>(sql`
    INSERT INTO node_beats (node, beats, at) VALUES (${memory.node}, ${memory.beats + 1}, ${databaseTime("postgres")})
    ON CONFLICT (node) DO UPDATE SET beats = EXCLUDED.beats, at = EXCLUDED.at RETURNING ${returning}`);
  return () => remember(state, begun!);
}

function remember(state: State, { beats, at, accepted_at: acceptedAt, ids, loss }: Counted): void {
  const { memory, places } = state;
  if (ids ?? memory.rewind) memory.ids = ids ?? {}; // those from before a loss are in its row
  Object.assign(memory, { places, beats, at, acceptedAt: acceptedAt ?? 0, rewind: undefined });
  if (loss) refuse(state, loss);
  else {
    if (isRewound(state)) state.onRewound(undefined);
    state.known = "whole";
  }
  if (performance.now() - state.savedAt < saveEveryMs) return;
  void save(state);
}

/** Takes no writes from now on. */
function refuse(state: State, { from, to }: Span): void {
  if (isRewound(state)) return;
  state.known = "rewound";
  state.hasLoss = true;
  const what = from === null ? "lacks all that a node knows" : `lacks what was written from ${timeOf(from)} to ${timeOf(to)}`;
  state.onRewound(
    `the database went back in time: it ${what}; run \`petstore verify\`, then \`petstore accept-state --yes\` to go on with it`,
  );
}

/** Finds out what the database lacks, and stores that in it. Called with each heartbeat, in case the row is lost too. */
async function noteLoss(state: State, tx: Transaction, { at, now, accepted_at: acceptedAt, is_stored: isStored }: Row): Promise<void> {
  const { memory } = state;
  refuse(state, { from: at, to: memory.at });
  if (!memory.rewind) {
    const lost = await findLost(tx, memory);
    memory.rewind = { foundAt: now, from: at, to: memory.at, ...lost };
    memory.changes = memory.changes.filter((change) => !lost.changes.includes(change));
    memory.sent = memory.sent.filter((sent) => !lost.sent.includes(sent));
    await save(state);
  }
  if (isStored) return;
  const { foundAt, from, to, ...details } = memory.rewind;
  await tx.query(sql`
    INSERT INTO database_losses (node, lost_to, lost_from, found_at, last_accepted, details)
    VALUES (${memory.node}, ${to}, ${from}, ${foundAt}, ${acceptedAt ?? 0}, ${JSON.stringify(details)})
    ON CONFLICT (node, lost_to) DO NOTHING`);
}

/** What a node remembers and the database lacks. */
async function findLost(db: Pick<Queryable, "query">, memory: Memory): Promise<Lost> {
  const accounts = [...new Set(memory.sent.map(({ accountId }) => accountId))];
  const [row] = await db.query<{ number: number; ids: Record<string, number> | null }>(sql`
    SELECT (SELECT COALESCE(MAX(number), 0) FROM changes) AS number, ${lastIds} AS ids`);
  const ends = await db.query<{ account_id: number; position: number }>(sql`
    SELECT account_id, MAX(position) AS position FROM events
    WHERE account_id IN (SELECT CAST(value AS BIGINT) FROM json_array_elements_text(${JSON.stringify(accounts)})) GROUP BY account_id`);
  const endOf = new Map(ends.map(({ account_id: id, position }) => [id, position]));
  const { number, ids } = row!;
  return {
    changes: memory.changes.filter((change) => change.number > number),
    ids: Object.entries(memory.ids)
      .map(([sequence, to]) => ({ sequence, after: ids?.[sequence] ?? 0, to }))
      .filter(({ after, to }) => after < to),
    sent: memory.sent.filter(({ accountId, position }) => position > (endOf.get(accountId) ?? 0)),
  };
}

const timeOf = (at: number): string => new Date(at).toISOString();

/** Replaces the file. Never rejects: a full disk is another fault. */
function save(state: State): Promise<void> {
  state.savedAt = performance.now();
  const write = (): Promise<void> => writeDurably(state.path, JSON.stringify(state.memory)).catch(() => undefined);
  return (state.saving = state.saving.then(write));
}

/** The most losses that are listed: a loss has one from each node. */
const lossesMax = 100;

/** The newest losses that nodes have found in a database, the oldest first. */
export async function storedLosses(ask: (text: string) => Promise<Record<string, unknown>[]>): Promise<Rewind[]> {
  const [has] = await ask("SELECT to_regclass('database_losses') IS NOT NULL AS losses"); // not in one of an earlier version
  if (!has?.["losses"]) return [];
  const rows = await ask(`SELECT * FROM database_losses ORDER BY found_at DESC, node LIMIT ${lossesMax}`);
  return rows.toReversed().map(({ found_at: foundAt, lost_from: from, lost_to: to, details }) => ({
    foundAt: Number(foundAt),
    from: from === null ? null : Number(from),
    to: Number(to),
    ...(JSON.parse(String(details)) as Lost),
  }));
}

/** The statement that accepts the state of a database. */
export const acceptance = `
  INSERT INTO accepted_states (at)
  SELECT GREATEST(CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT), MAX(at) + 1) FROM accepted_states`;

/** Accepts the state of a database, so that all nodes go on with it. @throws Problem `unavailable` */
export async function acceptState(url: string): Promise<void> {
  const { client } = await openSession(url, "SET client_min_messages = warning");
  try {
    await client.query(acceptance);
  } finally {
    await client.end();
  }
}
