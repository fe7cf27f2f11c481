import { setTimeout as sleep } from "node:timers/promises";
import type { Context } from "../../platform/context.ts";
import { coalesced, repeat } from "../../platform/jobs/runs.ts";
import { openWorker, type Worker } from "../../platform/jobs/worker.ts";
import { openHistogram, type Metric } from "../../platform/metrics.ts";
import type { Change, RowLease } from "../../platform/nodes/nodes.ts";
import { Problem } from "../../platform/problem.ts";
import type { AppendedTo, Feed } from "../log/feed.ts";
import { expireDeliveries, waitingDeliveries } from "./deliveries.store.ts";
import type { AddressRules } from "./endpoint-url.ts";
import { openSender } from "./sender.ts";
import {
  endSession,
  fill,
  healthOf,
  isBusy,
  isSending,
  positionToSave,
  secretsOf,
  slowAttempts,
  slowDelivery,
  startAttempts,
  takesNew,
  type DeliveryContext,
  type EndedAttempt,
  type Session,
} from "./session.ts";
import {
  accountsWithWebhooks,
  claimWebhooks,
  deletePreviousSecrets,
  type Due,
  findWebhook,
  hasDue,
  type Progress,
  releaseWebhook,
  saveProgress,
  type StoredWebhook,
} from "./webhooks.store.ts";

export type DeliveryWorker = {
  /** Reloads the endpoints that a change names; all endpoints without one. */
  applyChange(change: Change | undefined): Promise<void>;
  onLeaseLost(): void;
  /** Starts sending. The database must be ready. */
  start(): Promise<void>;
  /** Starts no more attempts, waits up to five seconds for running ones, and saves their results. */
  stop(): Promise<void>;
  metrics(): Metric[];
};

/** The most endpoints that a node works on at once, and that one transaction claims. */
const sessionsMax = 5_000;
const claimedMax = 200;
const scanEveryMs = 1_000;
const cleanEveryMs = 60_000;
/** How often (ms) a session looks whether something has become due. */
const tickMs = 200;
/** How long (ms) `stop` waits for running attempts. */
const stopMs = 5_000;
/** How long (ms) a lease of an endpoint lasts. Longer than an attempt, and renewed with each save. */
const leaseMs = 60_000;
/** After how many saved rows old deliveries are deleted. */
const trimEvery = 500;
const durationBounds = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

type State = DeliveryContext &
  Pick<Context, "sweep"> & {
    /** By account and endpoint. */
    sessions: Map<string, Session>;
    /** The accounts that have endpoints. Events of other accounts are ignored. */
    accounts: Set<number>;
    /** Accounts with new events, whose endpoints are to be claimed. */
    waiting: Set<number>;
    /** Whether to check the endpoints of all accounts. */
    scans: boolean;
    isStopping: boolean;
    worker: Worker | undefined;
    jobs: { stop(): unknown }[];
  };

/** An endpoint that this process has leased. */
type LeasedEndpoint = { webhook: StoredWebhook; lease: RowLease };

/**
 * Sends events to the endpoints of all accounts (decision 0080). One node at a time works on an endpoint, because it leases the
 * endpoint's row. It reads the account's log from the endpoint's position, sends the events, and saves the results and the new position
 * in one transaction. So each message is sent at least once, even if a node is killed. Attempts take turns by account, so no endpoint
 * delays those of other accounts.
 */
export function openDeliveryWorker(
  context: Context,
  {
    feed,
    addresses,
    onAttempt,
  }: {
    feed: Feed;
    addresses: AddressRules;
    /** Called after each attempt. */
    onAttempt: ((ended: EndedAttempt) => void) | undefined;
  },
): DeliveryWorker {
  const counts = { delivered: 0, failed: 0 };
  const durations = openHistogram(durationBounds);
  const state: State = {
    ...context,
    sender: openSender(addresses),
    places: context.bounds.queue("deliveries"),
    failingPlaces: context.bounds.queue("failing_deliveries"),
    onAttempt(ended) {
      counts[ended.isDelivered ? "delivered" : "failed"]++;
      durations.observe(ended.ms / 1_000);
      onAttempt?.(ended);
    },
    sessions: new Map(),
    accounts: new Set(),
    waiting: new Set(),
    scans: true,
    isStopping: false,
    worker: undefined,
    jobs: [],
  };
  return {
    applyChange: (change) => applyChange(state, change),
    onLeaseLost: () => state.sessions.forEach((session) => endSession(session)),
    start: () => start(state, feed),
    stop: () => stop(state),
    metrics: () => metricsOf(state, counts, durations),
  };
}

async function start(state: State, feed: Feed): Promise<void> {
  const { db, sweep, onError } = state;
  await applyChange(state, undefined);
  if (state.isStopping) return;
  state.worker = openWorker({
    claim: (count) => claimEndpoints(state, count),
    run: (claimed, signal) => runSession(state, claimed, signal),
    atOnceMax: sessionsMax,
    claimMax: claimedMax,
    everyMs: scanEveryMs,
    onError,
  });
  state.jobs = [
    { stop: feed.onAppended((accounts) => onAppended(state, accounts)) },
    repeat(scanEveryMs, async () => scan(state), onError),
    sweep(cleanEveryMs, (now) => expireDeliveries(db, now)),
    sweep(cleanEveryMs, (now) => db.write((tx) => deletePreviousSecrets(tx, now))),
  ];
}

/** Looks for endpoints that are due, of all accounts. */
function scan(state: State): void {
  state.scans = true;
  state.worker?.wake();
}

function onAppended(state: State, appended: AppendedTo): void {
  if (appended === "any") return scan(state);
  const accountIds = appended.filter((id) => state.accounts.has(id));
  if (accountIds.length === 0) return;
  for (const id of accountIds) state.waiting.add(id);
  for (const session of state.sessions.values()) {
    if (!state.waiting.has(session.webhook.accountId)) continue;
    session.hasNew = true;
    void session.sending.run();
  }
  state.worker?.wake();
}

/** Claims endpoints that have something to send: those of accounts with new events first. */
async function claimEndpoints(state: State, count: number): Promise<LeasedEndpoint[]> {
  const accountIds = [...state.waiting].slice(0, claimedMax);
  for (const id of accountIds) state.waiting.delete(id);
  const isScan = accountIds.length === 0;
  if (isScan && !state.scans) return [];
  if (isScan) state.scans = false;
  const claimed = await claimDue(state, isScan ? "any" : { accountIds }, count);
  if (isScan && claimed.length === count) state.scans = true;
  if (state.waiting.size > 0 || state.scans) state.worker?.wake();
  return claimed;
}

async function claimDue({ db, leases }: State, due: Due, count: number): Promise<LeasedEndpoint[]> {
  const rowClaim = await leases.begin(leaseMs);
  if (!rowClaim || !(await db.scan(() => hasDue(db, due, rowClaim)))) return [];
  const webhooks = await db.write((tx) => claimWebhooks(tx, due, count, rowClaim));
  return webhooks.map((webhook) => ({ webhook, lease: rowClaim.lease }));
}

/** Works on an endpoint until it has nothing to send for a while, was deleted or leased by another node, or the service stops. */
async function runSession(state: State, claimed: LeasedEndpoint, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const session = openSession(state, claimed);
  const key = `${session.webhook.accountId}/${session.webhook.id}`;
  // If the clock jumps, a lease ends before it is renewed, and this process may claim the endpoint again.
  const earlier = state.sessions.get(key);
  if (earlier) earlier.isEnded = true;
  state.sessions.set(key, session);
  try {
    void session.sending.run();
    while (!signal.aborted && isBusy(session)) {
      await sleep(tickMs);
      if (!session.isEnded) tick(state, session);
    }
    if (signal.aborted) return await finish(session);
    if (!session.isEnded) await releaseSession(state, session);
    state.scans ||= session.hasNew;
  } finally {
    if (state.sessions.get(key) === session) state.sessions.delete(key);
  }
}

/** Opens the session of a claimed endpoint. Its first step reads the endpoint and its waiting deliveries. */
function openSession(state: State, { webhook, lease }: LeasedEndpoint): Session {
  // Without the database nothing can be sent, and the health check says so.
  const report = (error: unknown): void => {
    if (!(error instanceof Problem && error.code === "unavailable")) state.onError(error);
  };
  const session: Session = {
    webhook,
    lease,
    url: new URL(webhook.url),
    secrets: secretsOf(webhook, state.keys),
    health: healthOf(webhook),
    recovered: false,
    concurrency: 1,
    cursor: webhook.position,
    queue: [],
    readTo: webhook.position,
    hasNew: true,
    retries: [],
    waiting: 0,
    dueAt: null,
    attempts: new Map(),
    unsaved: [],
    untrimmed: trimEvery,
    busyUntil: 0,
    isStale: true,
    isEnded: false,
    activeAt: performance.now(),
    stop: new AbortController(),
    sending: coalesced(() => send(state, session).catch(report)),
    saving: coalesced(() => save(state, session).catch(report)),
  };
  return session;
}

async function send(state: State, session: Session): Promise<void> {
  if (session.isEnded) return;
  if (session.isStale) await reload(state, session);
  await fill(state, session);
  startAttempts(state, session);
}

/** Reads the endpoint again after a change, or after it was claimed. */
async function reload({ db, keys }: State, session: Session): Promise<void> {
  session.isStale = false;
  const { accountId, id, replays, version, types } = session.webhook;
  const own = db.as({ caller: accountId });
  let webhook: StoredWebhook;
  try {
    webhook = await own.scan(() => findWebhook(own, accountId, id));
  } catch (error) {
    session.isStale = true;
    if (error instanceof Problem && error.code === "not_found") return endSession(session);
    throw error;
  }
  if (webhook.leaseId !== session.lease.leaseId) return endSession(session);
  if (webhook.replays !== replays) session.cursor = webhook.position;
  if (webhook.replays !== replays || String(webhook.types) !== String(types)) {
    session.queue = [];
    session.readTo = session.cursor;
  }
  if (webhook.version !== version) session.health = healthOf(webhook);
  session.webhook = webhook;
  session.url = new URL(webhook.url);
  session.secrets = secretsOf(webhook, keys);
  session.retries = [];
  session.hasNew = true;
  const { count, dueAt } = await own.scan(() => waitingDeliveries(own, { accountId, webhookId: id }));
  session.waiting = count;
  session.dueAt = dueAt;
}

async function save({ db, leases }: State, session: Session): Promise<void> {
  const claim = await leases.begin(leaseMs);
  if (!claim) return;
  const known = session.webhook;
  const slow = slowAttempts(session);
  const ended = [...session.unsaved];
  const progress: Progress = {
    deliveries: [...ended, ...slow.map((attempt) => slowDelivery(attempt, claim.now))],
    position: positionToSave(session, slow),
    health: session.health,
    recovered: session.recovered,
    trims: session.untrimmed >= trimEvery,
    counts: session.waiting > 0 || ended.some(({ status }) => status !== "delivered"),
  };
  const saved = await db.write((tx) => saveProgress(tx, known, progress, claim));
  if (!saved) return endSession(session);
  for (const attempt of slow) attempt.isSaved = true;
  session.unsaved.splice(0, ended.length);
  if (progress.recovered) session.recovered = false;
  session.untrimmed = (progress.trims ? 0 : session.untrimmed) + ended.length;
  session.lease = claim.lease;
  session.webhook = { ...session.webhook, leaseId: claim.lease.leaseId };
  session.isStale ||= saved.webhook.version !== known.version;
  // A result that arrived during the save was not counted: the next save counts it.
  if (session.unsaved.length === 0 && saved.waiting) {
    session.waiting = saved.waiting.count;
    session.dueAt = saved.waiting.dueAt;
  } else session.waiting += slow.length;
}

/** Renews the lease, saves slow attempts and sends due deliveries, as needed. */
function tick({ clock }: State, session: Session): void {
  const now = clock();
  const expires = session.lease.until - now < leaseMs / 2;
  const isSaveDue = session.unsaved.length > 0 || expires || slowAttempts(session).length > 0;
  if (isSaveDue && !session.saving.running()) void session.saving.run();
  if (session.isStale || session.hasNew || session.queue.length > 0 || (session.dueAt ?? Infinity) <= now) void session.sending.run();
}

/** Releases an endpoint. When something is due, any process can claim it again. */
async function releaseSession({ db, clock }: State, session: Session): Promise<void> {
  session.isEnded = true;
  const { pausedUntil } = session.health;
  const isPaused = pausedUntil !== null && pausedUntil > clock();
  const takes = takesNew(session);
  await releaseWebhook(db, session.webhook, session.lease, {
    position: positionToSave(session),
    takesNew: takes && !isPaused,
    dueFrom: isPaused ? pausedUntil : null,
    isDue: isPaused && takes,
  });
}

async function applyChange(state: State, change: Change | undefined): Promise<void> {
  const isOurs = change === undefined || change.kind === "webhook" || change.kind === "account";
  if (!isOurs || state.isStopping) return;
  const accountId = change && Number(change.subject.split("/")[0]);
  const found = await accountsWithWebhooks(state.db, accountId);
  if (accountId === undefined) state.accounts.clear();
  else state.accounts.delete(accountId);
  for (const one of found) state.accounts.add(one);
  for (const session of state.sessions.values()) {
    if (accountId !== undefined && session.webhook.accountId !== accountId) continue;
    session.isStale = true;
    void session.sending.run();
  }
  if (change?.kind === "webhook") scan(state);
}

/** Waits for the running attempts, and saves their results. */
async function finish(session: Session): Promise<void> {
  session.isEnded = true;
  for (let waited = 0; waited < stopMs && isSending(session); waited += 20) await sleep(20);
  session.stop.abort();
  while (isSending(session)) await sleep(1);
  if (session.unsaved.length > 0) await session.saving.run();
}

async function stop(state: State): Promise<void> {
  state.isStopping = true;
  await Promise.all(state.jobs.map((job) => job.stop()));
  for (const session of state.sessions.values()) session.isEnded = true;
  await state.worker?.stop();
  state.sender.close();
}

function metricsOf(
  { sessions, places, failingPlaces }: State,
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
