import { setTimeout as sleep } from "node:timers/promises";
import { openFairShare } from "../../platform/jobs/fair-share.ts";
import { repeat } from "../../platform/jobs/repeat.ts";
import { openHistogram, type Metric } from "../../platform/metrics.ts";
import type { Change } from "../../platform/nodes/nodes.ts";
import type { Appended, Feed } from "../log/feed.ts";
import type { AttemptParts } from "./attempts.ts";
import { expireDeliveries } from "./deliveries.store.ts";
import type { Session } from "./session.ts";
import { accountsWithWebhooks, claimWebhooks, hasDue, type Due } from "./session.store.ts";
import { endSession, leaseMs, openSession, pump, releaseSession, save, tick, type SessionParts } from "./sessions.ts";
import { forgetEarlierSecrets } from "./webhooks.store.ts";

export type DeliveryEngine = {
  /** Reads again what a change names, or everything. */
  applyChange(change: Change | undefined): Promise<void>;
  onLeaseLost(): void;
  /** Begins to send. The database must be ready. */
  start(): Promise<void>;
  /** Begins no more attempts, gives those that run five seconds, and saves their results. */
  stop(): Promise<void>;
  metrics(): Metric[];
};

export type EngineOptions = Omit<SessionParts, "places" | "failingPlaces" | "onAttempt"> & {
  feed: Feed;
  /** Called after each attempt. */
  onAttempt?: AttemptParts["onAttempt"] | undefined;
};

/** Attempts that run at once on a node, and endpoints that it works on at once. */
const placesMax = 256;
const failingPlacesMax = 128;
const sessionsMax = 5_000;
const claimedMax = 200;
const tickEveryMs = 200;
const lookEveryMs = 1_000;
const cleanEveryMs = 60_000;
/** How long (ms) attempts that run may take after the service was asked to stop. */
const stopMs = 5_000;
const durationBounds = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

type Engine = SessionParts & {
  sessions: Map<string, Session>;
  /** The accounts that have endpoints: the events of others wake nobody. */
  accounts: Set<number>;
  /** Accounts with new events whose endpoints are to be claimed. */
  waiting: Set<number>;
  looksForAny: boolean;
  looking: Promise<void> | undefined;
  isStopping: boolean;
  jobs: { stop(): unknown }[];
};

/**
 * Sends events to the endpoints of all accounts. An endpoint is worked on by one node at a time, which leases its row: that node reads the
 * account's log from the endpoint's position, sends, and saves the results with the position that they reached. So a message is sent at least
 * once whatever is killed; and attempts take turns by account, so that no endpoint holds up another (decision 0049).
 */
export function openDeliveryEngine({ feed, ...parts }: EngineOptions): DeliveryEngine {
  const counts = { delivered: 0, failed: 0 };
  const durations = openHistogram(durationBounds);
  const onAttempt: AttemptParts["onAttempt"] = (attempted) => {
    counts[attempted.isDelivered ? "delivered" : "failed"]++;
    durations.observe(attempted.ms / 1_000);
    parts.onAttempt?.(attempted);
  };
  const engine: Engine = {
    ...parts,
    places: openFairShare<number>({ max: placesMax }),
    failingPlaces: openFairShare<number>({ max: failingPlacesMax }),
    onAttempt,
    sessions: new Map(),
    accounts: new Set(),
    waiting: new Set(),
    looksForAny: false,
    looking: undefined,
    isStopping: false,
    jobs: [],
  };
  return {
    applyChange: (change) => applyChange(engine, change),
    onLeaseLost: () => {
      for (const session of engine.sessions.values()) endSession(session);
    },
    start: () => start(engine, feed),
    stop: () => stop(engine),
    metrics: () => metricsOf(engine, counts, durations),
  };
}

async function start(engine: Engine, feed: Feed): Promise<void> {
  const { onError } = engine;
  if (engine.isStopping) return;
  await applyChange(engine, undefined);
  const end = feed.onAppended((accounts) => onAppended(engine, accounts));
  engine.jobs.push(
    { stop: end },
    repeat(tickEveryMs, () => tickAll(engine), onError),
    repeat(lookEveryMs, () => look(engine, "any"), onError),
    repeat(cleanEveryMs, () => expireDeliveries(engine.db, engine.clock()), onError),
    repeat(cleanEveryMs, () => engine.db.write((tx) => forgetEarlierSecrets(tx, engine.clock())), onError),
  );
}

function onAppended(engine: Engine, appended: Appended): void {
  if (appended === "any") return void look(engine, "any");
  let isWaiting = false;
  for (const accountId of appended) {
    if (!engine.accounts.has(accountId)) continue;
    isWaiting = true;
    engine.waiting.add(accountId);
  }
  if (!isWaiting) return;
  for (const session of engine.sessions.values()) {
    if (!engine.waiting.has(session.webhook.accountId)) continue;
    session.hasNew = true;
    void pump(engine, session);
  }
  void look(engine, { accountIds: [] });
}

/** Claims endpoints that have something to send, once at a time. */
function look(engine: Engine, due: Due): Promise<void> {
  if (due === "any") engine.looksForAny = true;
  engine.looking ??= claimAll(engine)
    .catch(engine.onError)
    .finally(() => {
      engine.looking = undefined;
    });
  return engine.looking;
}

async function claimAll(engine: Engine): Promise<void> {
  while ((engine.looksForAny || engine.waiting.size > 0) && !engine.isStopping) {
    const accountIds = [...engine.waiting].slice(0, claimedMax);
    for (const accountId of accountIds) engine.waiting.delete(accountId);
    if (accountIds.length > 0) await claim(engine, { accountIds });
    else {
      engine.looksForAny = false;
      if (await claim(engine, "any")) engine.looksForAny = true;
    }
  }
}

/** Claims some endpoints and begins to work on them. Returns whether there may be more. */
async function claim(engine: Engine, due: Due): Promise<boolean> {
  const { db, leases, sessions } = engine;
  const count = Math.min(claimedMax, sessionsMax - sessions.size);
  const taken = count > 0 ? await leases.begin(leaseMs) : undefined;
  if (!taken || !(await hasDue(db, due, taken))) return false;
  const claimed = await db.write((tx) => claimWebhooks(tx, due, count, taken));
  for (const webhook of claimed) {
    const session = openSession(engine, webhook, taken.lease);
    sessions.set(keyOf(session), session);
    void pump(engine, session);
  }
  return claimed.length === count;
}

function keyOf({ webhook: { accountId, id } }: Session): string {
  return `${accountId}/${id}`;
}

async function tickAll(engine: Engine): Promise<void> {
  const idle: Session[] = [];
  for (const session of engine.sessions.values()) if (!tick(engine, session)) idle.push(session);
  const release = async (session: Session): Promise<void> => {
    if (!session.isEnded) await releaseSession(engine, session);
    engine.sessions.delete(keyOf(session));
    engine.looksForAny ||= session.hasNew && !engine.isStopping;
  };
  await Promise.all(idle.map((session) => release(session).catch(engine.onError)));
  if (engine.looksForAny) await look(engine, "any");
}

async function applyChange(engine: Engine, change: Change | undefined): Promise<void> {
  const isOurs = change === undefined || change.kind === "webhook" || change.kind === "account";
  if (!isOurs || engine.isStopping) return;
  const accountId = change && Number(change.subject.split("/")[0]);
  const found = await accountsWithWebhooks(engine.db, accountId);
  if (accountId === undefined) engine.accounts.clear();
  else engine.accounts.delete(accountId);
  for (const one of found) engine.accounts.add(one);
  for (const session of engine.sessions.values()) {
    if (accountId !== undefined && session.webhook.accountId !== accountId) continue;
    session.isStale = true;
    void pump(engine, session);
  }
  if (change?.kind === "webhook") void look(engine, "any");
}

async function stop(engine: Engine): Promise<void> {
  engine.isStopping = true;
  await Promise.all(engine.jobs.map((job) => job.stop()));
  await engine.looking;
  const sessions = [...engine.sessions.values()];
  for (const session of sessions) session.isEnded = true;
  const isFlying = () => sessions.some(({ flights }) => [...flights.values()].some(({ isDropped }) => !isDropped));
  for (let waited = 0; waited < stopMs && isFlying(); waited += 20) await sleep(20);
  for (const session of sessions) session.stop.abort();
  while (isFlying()) await sleep(1);
  await Promise.all(sessions.filter(({ results }) => results.length > 0).map((session) => save(engine, session)));
  engine.sender.close();
}

function metricsOf(
  { sessions, places, failingPlaces }: Engine,
  counts: Record<string, number>,
  durations: ReturnType<typeof openHistogram>,
): Metric[] {
  return [
    {
      name: "petstore_webhook_attempts_total",
      type: "counter",
      help: "Messages sent to webhook endpoints by this node, by outcome.",
      samples: Object.entries(counts).map(([outcome, value]) => ({ labels: { outcome }, value })),
    },
    durations.metric("petstore_webhook_attempt_seconds", "How long webhook endpoints took to answer."),
    {
      name: "petstore_webhook_endpoints",
      type: "gauge",
      help: "Webhook endpoints that this node works on, and messages to them in flight or waiting for a place.",
      samples: [
        { labels: { of: "endpoints" }, value: sessions.size },
        { labels: { of: "in_flight" }, value: places.inUse + failingPlaces.inUse },
        { labels: { of: "waiting" }, value: places.waiting + failingPlaces.waiting },
      ],
    },
  ];
}
