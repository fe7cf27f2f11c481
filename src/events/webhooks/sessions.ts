import { performance } from "node:perf_hooks";
import { Problem } from "../../platform/problem.ts";
import { coalesced } from "../../platform/jobs/runs.ts";
import type { RowLease } from "../../platform/nodes/nodes.ts";
import { decryptSecret, type SecretsKeys } from "../../platform/secrets.ts";
import { fill, startAttempts, type AttemptParts } from "./attempts.ts";
import { waitingDeliveries } from "./deliveries.store.ts";
import type { Health } from "./schedule.ts";
import { positionToSave, slowFlights, takesNew, type Secrets, type Session } from "./session.ts";
import { releaseWebhook, saveProgress, type Progress } from "./session.store.ts";
import { findWebhook, type StoredWebhook } from "./webhooks.store.ts";

export type SessionParts = AttemptParts & { keys: SecretsKeys; onError: (error: unknown) => void };

/** How long (ms) a lease of an endpoint lasts. Longer than an attempt, and renewed with each save. */
export const leaseMs = 60_000;
/** How long (ms) a process keeps an idle endpoint, in case new events arrive. */
const lingerMs = 3_000;
/** After how many saved rows old deliveries are deleted. */
const trimEvery = 500;

/** Opens the session of a claimed endpoint. Its first step reads the endpoint and its waiting deliveries. */
export function openSession(parts: SessionParts, webhook: StoredWebhook, lease: RowLease): Session {
  const report = (error: unknown): void => reportError(parts, error);
  const session: Session = {
    webhook,
    lease,
    url: new URL(webhook.url),
    secrets: secretsOf(webhook, parts.keys),
    health: healthOf(webhook),
    recovered: false,
    window: 1,
    cursor: webhook.position,
    queue: [],
    readTo: webhook.position,
    hasNew: true,
    retries: [],
    waiting: 0,
    dueAt: null,
    flights: new Map(),
    results: [],
    unsaved: new Set(),
    untrimmed: trimEvery,
    busyUntil: 0,
    isStale: true,
    isEnded: false,
    activeAt: performance.now(),
    stop: new AbortController(),
    pumping: coalesced(() => pump(parts, session).catch(report)),
    saving: coalesced(() => save(parts, session).catch(report)),
  };
  return session;
}

function secretsOf({ secret, previousSecret, previousUntil, owner }: StoredWebhook, keys: SecretsKeys): Secrets {
  const previous = previousSecret === null ? undefined : decryptSecret(keys, previousSecret, owner);
  return { current: decryptSecret(keys, secret, owner), previous, previousUntil: previousUntil ?? 0 };
}

function healthOf({ enabled, disabledBecause, ...health }: StoredWebhook): Health {
  return { ...health, disabledBecause: !enabled && disabledBecause !== "request" ? disabledBecause : null };
}

async function pump(parts: SessionParts, session: Session): Promise<void> {
  if (session.isEnded) return;
  if (session.isStale) await reload(parts, session);
  await fill(parts, session);
  startAttempts(parts, session, () => {
    void session.pumping.run();
    void session.saving.run();
  });
}

/** Reads the endpoint again after a change, or after it was claimed. */
async function reload({ db, keys }: SessionParts, session: Session): Promise<void> {
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

/** Ends the session of an endpoint that was deleted or that another node has leased. Sends nothing more. */
export function endSession(session: Session): void {
  session.isEnded = true;
  session.stop.abort();
}

async function save({ db, leases }: SessionParts, session: Session): Promise<void> {
  const claim = await leases.begin(leaseMs);
  if (!claim) return;
  const known = session.webhook;
  const slow = slowFlights(session, performance.now(), claim.now);
  const results = session.results.splice(0);
  const progress: Progress = {
    deliveries: [...results, ...slow.map(({ row }) => row)],
    position: positionToSave(session, new Set(slow.map(({ flight }) => flight))),
    health: session.health,
    recovered: session.recovered,
    trims: session.untrimmed >= trimEvery,
    counts: session.waiting > 0 || results.some(({ status }) => status !== "delivered"),
  };
  session.recovered = false;
  const saved = await db
    .write((tx) => saveProgress(tx, known, progress, claim))
    .catch((error: unknown) => {
      session.results.unshift(...results);
      session.recovered ||= progress.recovered;
      throw error;
    });
  if (!saved) return endSession(session);
  for (const { flight } of slow) flight.isSaved = true;
  for (const { messageId } of results) session.unsaved.delete(messageId);
  session.untrimmed = (progress.trims ? 0 : session.untrimmed) + results.length;
  session.lease = claim.lease;
  session.webhook = { ...session.webhook, leaseId: claim.lease.leaseId };
  session.isStale ||= saved.webhook.version !== known.version;
  // A result that arrived during the save was not counted: the next save counts it.
  if (session.results.length === 0 && saved.waiting) {
    session.waiting = saved.waiting.count;
    session.dueAt = saved.waiting.dueAt;
  } else session.waiting += slow.length;
}

/** Renews the lease, saves slow attempts and sends due deliveries, as needed. Returns false once the session has nothing to do. */
export function tick(parts: SessionParts, session: Session): boolean {
  const [now, time] = [parts.clock(), performance.now()];
  if (session.isEnded) return [...session.flights.values()].some(({ isDropped }) => !isDropped);
  const expires = session.lease.until - now < leaseMs / 2;
  if (session.results.length > 0 || expires || slowFlights(session, time, now).length > 0) void session.saving.run();
  if (session.isStale || session.hasNew || session.queue.length > 0 || (session.dueAt ?? Infinity) <= now) void session.pumping.run();
  const isBusy = session.flights.size > 0 || session.results.length > 0 || session.saving.running() !== undefined;
  return isBusy || time - session.activeAt < lingerMs;
}

/** Releases an endpoint. When something is due, any process can claim it again. */
export async function releaseSession({ db, clock }: SessionParts, session: Session): Promise<void> {
  session.isEnded = true;
  const { pausedUntil } = session.health;
  const isPaused = pausedUntil !== null && pausedUntil > clock();
  const takes = takesNew(session);
  await releaseWebhook(db, session.webhook, session.lease, {
    position: positionToSave(session, new Set()),
    takesNew: takes && !isPaused,
    dueFrom: isPaused ? pausedUntil : null,
    isDue: isPaused && takes,
  });
}

function reportError({ onError }: SessionParts, error: unknown): void {
  // Without the database nothing can be sent, and the health check says so.
  if (!(error instanceof Problem && error.code === "unavailable")) onError(error);
}
