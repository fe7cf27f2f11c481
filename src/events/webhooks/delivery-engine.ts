import { setTimeout as sleep } from "node:timers/promises";
import { repeat } from "../../platform/jobs/runs.ts";
import { openHistogram, type Metric } from "../../platform/metrics.ts";
import type { Change } from "../../platform/nodes/nodes.ts";
import type { Appended, Feed } from "../log/feed.ts";
import type { AttemptParts } from "./attempts.ts";
import { expireDeliveries } from "./deliveries.store.ts";
import type { Session } from "./session.ts";
import { accountsWithWebhooks, claimWebhooks, hasDue, type Due } from "./session.store.ts";
import { endSession, leaseMs, openSession, releaseSession, tick, type SessionParts } from "./sessions.ts";
import { deletePreviousSecrets } from "./webhooks.store.ts";

export type DeliveryEngine = {
  /** Reloads the endpoints that a change names; all endpoints without one. */
  applyChange(change: Change | undefined): Promise<void>;
  onLeaseLost(): void;
  /** Starts sending. The database must be ready. */
  start(): Promise<void>;
  /** Starts no more attempts, waits up to five seconds for running ones, and saves their results. */
  stop(): Promise<void>;
  metrics(): Metric[];
};

export type EngineOptions = Omit<SessionParts, "onAttempt"> & {
  feed: Feed;
  /** Called after each attempt. */
  onAttempt?: AttemptParts["onAttempt"] | undefined;
};

/** The most endpoints that a node works on at once, and that one transaction claims. */
const sessionsMax = 5_000;
const claimedMax = 200;
const tickEveryMs = 200;
const claimEveryMs = 1_000;
const cleanEveryMs = 60_000;
/** How long (ms) `stop` waits for running attempts. */
const stopMs = 5_000;
const durationBounds = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

type Engine = SessionParts & {
  sessions: Map<string, Session>;
  /** The accounts that have endpoints. Events of other accounts are ignored. */
  accounts: Set<number>;
  /** Accounts with new events, whose endpoints are to be claimed. */
  waiting: Set<number>;
  claimsAny: boolean;
  claiming: Promise<void> | undefined;
  isStopping: boolean;
  jobs: { stop(): unknown }[];
};

/**
 * Sends events to the endpoints of all accounts (decision 0049). One node at a time works on an endpoint, because it leases the
 * endpoint's row. It reads the account's log from the endpoint's position, sends the events, and saves the results and the new position
 * in one transaction. So each message is sent at least once, even if a node is killed. Attempts take turns by account, so no endpoint
 * delays those of other accounts.
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
    onAttempt,
    sessions: new Map(),
    accounts: new Set(),
    waiting: new Set(),
    claimsAny: false,
    claiming: undefined,
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
    repeat(claimEveryMs, () => claimDue(engine, "any"), onError),
    repeat(cleanEveryMs, () => expireDeliveries(engine.db, engine.clock()), onError),
    repeat(cleanEveryMs, () => engine.db.write((tx) => deletePreviousSecrets(tx, engine.clock())), onError),
  );
}

function onAppended(engine: Engine, appended: Appended): void {
  if (appended === "any") return void claimDue(engine, "any");
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
    void session.pumping.run();
  }
  void claimDue(engine, { accountIds: [] });
}

/** Claims endpoints that have something to send. Runs once at a time. */
function claimDue(engine: Engine, due: Due): Promise<void> {
  if (due === "any") engine.claimsAny = true;
  engine.claiming ??= claimAll(engine)
    .catch(engine.onError)
    .finally(() => {
      engine.claiming = undefined;
    });
  return engine.claiming;
}

async function claimAll(engine: Engine): Promise<void> {
  while ((engine.claimsAny || engine.waiting.size > 0) && !engine.isStopping) {
    const accountIds = [...engine.waiting].slice(0, claimedMax);
    for (const accountId of accountIds) engine.waiting.delete(accountId);
    if (accountIds.length > 0) await claim(engine, { accountIds });
    else {
      engine.claimsAny = false;
      if (await claim(engine, "any")) engine.claimsAny = true;
    }
  }
}

/** Claims a batch of endpoints and starts their sessions. Returns whether there may be more. */
async function claim(engine: Engine, due: Due): Promise<boolean> {
  const { db, leases, sessions } = engine;
  const count = Math.min(claimedMax, sessionsMax - sessions.size);
  const rowClaim = count > 0 ? await leases.begin(leaseMs) : undefined;
  if (!rowClaim || !(await db.scan(() => hasDue(db, due, rowClaim)))) return false;
  const claimed = await db.write((tx) => claimWebhooks(tx, due, count, rowClaim));
  for (const webhook of claimed) {
    const session = openSession(engine, webhook, rowClaim.lease);
    sessions.set(keyOf(session), session);
    void session.pumping.run();
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
    engine.claimsAny ||= session.hasNew && !engine.isStopping;
  };
  await Promise.all(idle.map((session) => release(session).catch(engine.onError)));
  if (engine.claimsAny) await claimDue(engine, "any");
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
    void session.pumping.run();
  }
  if (change?.kind === "webhook") void claimDue(engine, "any");
}

async function stop(engine: Engine): Promise<void> {
  engine.isStopping = true;
  await Promise.all(engine.jobs.map((job) => job.stop()));
  await engine.claiming;
  const sessions = [...engine.sessions.values()];
  for (const session of sessions) session.isEnded = true;
  const isInFlight = () => sessions.some(({ flights }) => [...flights.values()].some(({ isDropped }) => !isDropped));
  for (let waited = 0; waited < stopMs && isInFlight(); waited += 20) await sleep(20);
  for (const session of sessions) session.stop.abort();
  while (isInFlight()) await sleep(1);
  await Promise.all(sessions.filter(({ results }) => results.length > 0).map((session) => session.saving.run()));
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
