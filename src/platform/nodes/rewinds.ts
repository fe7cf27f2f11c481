import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import sql, { type Sql } from "sql-template-tag";
import { dayMs, hourMs } from "../clock.ts";
import type { Around, Queryable, Transaction } from "../db/database.ts";
import { openSession } from "../db/postgres-sessions.ts";
import { serverOf, urlsOf } from "../db/postgres-url.ts";
import { writeDurably } from "../files.ts";
import { attempt } from "../parse.ts";
import { Problem } from "../problem.ts";
import { databaseTime, type Change } from "./nodes.ts";

/*
 * How a node notices that its PostgreSQL went back in time (decision 0119): a standby that lacked the last writes was promoted, an older copy was put
 * in its place, or another database. With each heartbeat a node raises the count in its row of `node_beats`, and remembers it in memory and in DATA_DIR.
 * If the row is missing or its count is lower than one that PostgreSQL has acknowledged, the database lost what was written since. The node then
 * takes no writes until the state of the database is accepted: `accepted_states` has a later row than the node knew of.
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
export type Rewind = { foundAt: number; from: number | null; to: number } & Lost;
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
  rewinds: Rewind[];
};

export const memoryName = "petstore.node";
const saveEveryMs = 1_000;
const changesMax = 100;
const sentMax = 200;
const rewindsMax = 10;
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
  const memory = memoryOf(readMemory(dataDir), placesOf(url));
  const known = memory.beats === 0 ? "whole" : "unknown";
  const state: State = { memory, path, known, hasLoss: false, onRewound, savedAt: -Infinity, saving: Promise.resolve() };
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
      if (state.known !== "whole" || memory.beats === 0) return;
      const before = { ...memory }; // a heartbeat may be counted while the answer is on its way
      const row = await rowOf(db, memory);
      if (judge(before, row) === "rewound" && !isRewound(state)) await begin(state, db, row);
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

const placesOf = (url: string): string[] => urlsOf(url).map(serverOf);

/** Continues with what is remembered of this database. For another database a node starts with a new count. */
function memoryOf(found: Memory | undefined, places: string[]): Memory {
  if (found?.places.some((place) => places.includes(place))) return { ...found, places };
  return { node: randomUUID(), places, beats: 0, at: 0, acceptedAt: 0, ids: {}, changes: [], sent: [], rewinds: found?.rewinds ?? [] };
}

/** A memory as it was saved. One of an earlier version has neither ids nor events that were sent. */
type Saved = Omit<Memory, "ids" | "sent" | "rewinds"> &
  Partial<Pick<Memory, "ids" | "sent">> & { rewinds: (Omit<Rewind, "ids" | "sent"> & Partial<Lost>)[] };

/** What the node of a data folder remembers; undefined if it has no memory. */
export function readMemory(dataDir: string): Memory | undefined {
  const saved = attempt(() => JSON.parse(readFileSync(join(dataDir, memoryName), "utf8")) as Saved);
  return saved && { ids: {}, sent: [], ...saved, rewinds: saved.rewinds.map((rewind) => ({ ids: [], sent: [], ...rewind })) };
}

/** The last id of each sequence that has given out one; null if there is none. */
const lastIds = sql`(SELECT json_object_agg(sequencename, last_value) FROM pg_sequences WHERE schemaname = current_schema() AND last_value IS NOT NULL)`;

type Row = {
  beats: number | null;
  at: number | null;
  accepted_at: number | null;
  now: number;
  synchronous_commit: string;
};

async function rowOf(db: Pick<Queryable, "query">, { node }: Memory): Promise<Row> {
  const [row] = await db.query<Row>(sql`
    SELECT own.beats, own.at, (SELECT MAX(at) FROM accepted_states) AS accepted_at, ${databaseTime("postgres")} AS now,
      current_setting('synchronous_commit') AS synchronous_commit
    FROM (SELECT 1) AS one LEFT JOIN node_beats AS own ON own.node = ${node}`);
  return row!;
}

function judge(memory: Memory, { beats, accepted_at: acceptedAt, now, synchronous_commit: commit }: Row): "whole" | "rewound" {
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
  if (judge(memory, row) === "rewound") {
    if (!isRewound(state)) await begin(state, tx, row);
    return () => undefined;
  }
  const [begun] = await tx.query<Counted>(sql`
    INSERT INTO node_beats (node, beats, at) VALUES (${memory.node}, ${memory.beats + 1}, ${databaseTime("postgres")})
    ON CONFLICT (node) DO UPDATE SET beats = EXCLUDED.beats, at = EXCLUDED.at RETURNING ${returning}`);
  return () => remember(state, begun!);
}

type Counted = { beats: number; at: number; accepted_at: number | null; ids: Record<string, number> | null };
const figures: Sql = sql`beats, at, (SELECT MAX(at) FROM accepted_states) AS accepted_at`;

function remember(state: State, { beats, at, accepted_at: acceptedAt, ids }: Counted): void {
  Object.assign(state.memory, { beats, at, acceptedAt: acceptedAt ?? 0 });
  if (ids) state.memory.ids = ids;
  if (isRewound(state)) {
    state.onRewound(undefined);
    state.memory.ids = ids ?? {}; // the ids from before the loss are in `rewinds`
  }
  state.known = "whole";
  if (performance.now() - state.savedAt < saveEveryMs) return;
  void save(state);
}

/** Notes the loss, and that this node takes no writes. */
async function begin(state: State, db: Pick<Queryable, "query">, { at, now }: Row): Promise<void> {
  const { memory } = state;
  state.known = "rewound"; // before anything else, so that one loss is noted once
  state.hasLoss = true;
  const what = at === null ? "lacks all that this node knows" : `lacks what was written from ${timeOf(at)} to ${timeOf(memory.at)}`;
  state.onRewound(
    `the database went back in time: it ${what}; run \`petstore verify\`, then \`petstore accept-state --yes\` to go on with it`,
  );
  const rewind: Rewind = { foundAt: now, from: at, to: memory.at, changes: [], ids: [], sent: [] };
  memory.rewinds = [...memory.rewinds, rewind].slice(-rewindsMax);
  try {
    Object.assign(rewind, await findLost(db, memory));
    memory.changes = memory.changes.filter((change) => !rewind.changes.includes(change));
    memory.sent = memory.sent.filter((sent) => !rewind.sent.includes(sent));
  } finally {
    await save(state); // the loss itself is known even if the connection breaks now
  }
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
