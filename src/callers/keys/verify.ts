import { createCache, type Cache } from "../../platform/cache.ts";
import { type Clock, minuteMs } from "../../platform/clock.ts";
import type { Database } from "../../platform/db/database.ts";
import { openSharedRuns, type SharedRuns } from "../../platform/jobs/runs.ts";
import type { Plan, Quota } from "../accounts/accounts.ts";
import { findKeyByHash, recordUses, type KeyWithPlan, type Use } from "./keys.store.ts";
import { hashKey, hasExpired, wellFormed, type Scope } from "./keys.ts";

/** The most keys in the cache. Beyond it the one that was read first is dropped, and read again at its next use. */
const cachedMax = 10_000;
const usesPerWrite = 500;

/** The key and account of a request. One object per key, shared by its requests. */
export type Verified = {
  readonly accountId: number;
  readonly keyId: number;
  readonly plan: Plan;
  readonly quota: Quota;
  readonly scopes: ReadonlySet<Scope>;
  readonly publishable: boolean;
  /** The web origins that the key is bound to; undefined if it is bound to none. */
  readonly origins?: ReadonlySet<string>;
  /** The keys whose bans count for this one. */
  readonly makers: readonly number[];
  /** ms since the Unix epoch; null for a key that never expires. */
  readonly expiresAt: number | null;
};

export type KeyVerifier = {
  /**
   * Returns the key's account; undefined if the key is malformed, unknown, revoked or expired. Returns at once if the key is
   * cached or malformed. Otherwise it reads the database once for all requests with the same key. Unknown keys are not cached.
   */
  verify(key: string): Verified | undefined | Promise<Verified | undefined>;
  /** Drops all cached keys. Does not cache the results of reads that have begun. */
  forgetAll(): void;
  /** Drops the keys of an account. Called after the commit that changed them. */
  forgetAccount(accountId: number): void;
  /** Drops one key. Called after the commit that changed it. */
  forgetKey(keyId: number): void;
  /** Saves the times at which keys were last used. If that fails it rejects, and the next call saves what is left. */
  saveUses(): Promise<void>;
};

type Entry = { verified: Verified; usedAt: number | null };

type State = {
  db: Database;
  clock: Clock;
  isLive: () => boolean;
  /** By the key's text, so that a hit needs no hash. No text leaves this map. */
  cached: Cache<string, Entry>;
  /** Running reads. A change of keys replaces them, so later requests start a new read. */
  reads: SharedRuns<string, Verified | undefined>;
  /** Uses to save, by key. */
  uses: Map<number, Use>;
};

/**
 * Opens the verifier. Its owner calls `saveUses` every few seconds and at stop; each key is written at most once a minute.
 *
 * @param isLive whether this node receives every change of keys and plans. While it does not, it caches no key. Default: always
 */
export function openKeyVerifier(db: Database, clock: Clock, isLive = (): boolean => true): KeyVerifier {
  const state: State = { db, clock, isLive, cached: createCache(cachedMax), reads: openSharedRuns(), uses: new Map() };
  return {
    verify: (key) => verify(state, key),
    forgetAll: () => forget(state, () => true),
    forgetAccount: (accountId) => forget(state, (verified) => verified.accountId === accountId),
    forgetKey: (keyId) => forget(state, (verified) => verified.keyId === keyId),
    saveUses: () => saveUses(state),
  };
}

function verify(state: State, key: string): Verified | undefined | Promise<Verified | undefined> {
  if (!state.isLive()) return wellFormed(key) ? read(state, key).then((entry) => entry?.verified) : undefined;
  const entry = state.cached.peek(key);
  if (entry) return current(state, key, entry);
  if (!wellFormed(key)) return undefined;
  return cacheKey(state, key);
}

function current(state: State, key: string, entry: Entry): Verified | undefined {
  const now = state.clock();
  if (hasExpired(entry.verified.expiresAt, now)) {
    state.cached.delete(key);
    return undefined;
  }
  addUse(state, entry, now);
  return entry.verified;
}

function cacheKey(state: State, key: string): Promise<Verified | undefined> {
  // If a change of keys comes during the read, only the requests that already wait for it get its result, and it is not cached.
  const { reads } = state;
  return reads.run(key, async () => {
    const entry = await read(state, key);
    if (entry && reads === state.reads && state.isLive()) state.cached.set(key, entry);
    return entry?.verified;
  });
}

async function read(state: State, key: string): Promise<Entry | undefined> {
  const holder = await findKeyByHash(state.db, hashKey(key));
  const now = state.clock();
  if (!holder || hasExpired(holder.key.expiresAt, now)) return undefined;
  const entry = entryOf(holder);
  addUse(state, entry, now);
  return entry;
}

function addUse({ uses }: State, entry: Entry, now: number): void {
  const usedAt = now - (now % minuteMs);
  if (entry.usedAt === usedAt || uses.size >= cachedMax) return;
  entry.usedAt = usedAt;
  const { accountId, keyId } = entry.verified;
  uses.set(keyId, { accountId, keyId, usedAt });
}

function forget(state: State, matches: (verified: Verified) => boolean): void {
  state.reads = openSharedRuns();
  for (const [key, { verified }] of state.cached) if (matches(verified)) state.cached.delete(key);
}

async function saveUses({ db, uses }: State): Promise<void> {
  const waiting = [...uses.values()];
  for (let i = 0; i < waiting.length; i += usesPerWrite) {
    const batch = waiting.slice(i, i + usesPerWrite);
    await db.write((tx) => recordUses(tx, batch));
    for (const use of batch) if (uses.get(use.keyId) === use) uses.delete(use.keyId);
  }
}

function entryOf({ key, plan, quota }: KeyWithPlan): Entry {
  const verified: Verified = {
    accountId: key.accountId,
    keyId: key.id,
    plan,
    quota,
    scopes: new Set(key.scopes),
    publishable: key.publishable,
    ...(key.origins.length > 0 && { origins: new Set(key.origins) }),
    makers: key.makers,
    expiresAt: key.expiresAt,
  };
  return { verified, usedAt: key.lastUsedAt };
}
