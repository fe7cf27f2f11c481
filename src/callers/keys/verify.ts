import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../platform/db/database.ts";
import type { Plan, Quota } from "../accounts/accounts.ts";
import { hashKey, hasExpired, wellFormed, type Scope } from "./keys.ts";
import { findKeyHolder, recordUses, type KeyHolder, type Use } from "./keys.store.ts";

/** Verified keys that are kept; beyond them the oldest is read again when it next comes. */
const keptMax = 10_000;
const usesPerWrite = 500;
const minuteMs = 60_000;

/** Who sends a request. One object per key, shared by its requests. */
export type Verified = {
  readonly accountId: number;
  readonly keyId: number;
  readonly plan: Plan;
  readonly quota: Quota;
  readonly scopes: ReadonlySet<Scope>;
  readonly publishable: boolean;
  /** The web origins that the key is bound to; undefined: none. */
  readonly origins?: ReadonlySet<string>;
  /** ms since the Unix epoch; null: never. */
  readonly expiresAt: number | null;
};

export type KeyVerifier = {
  /**
   * Whose key this is; undefined if it is malformed, unknown, revoked or expired. A key that is kept is answered at
   * once, a text that cannot be a key is refused at once, and anything else costs one read, which requests with the
   * same key share. Unknown keys are not kept.
   */
  verify(key: string): Verified | undefined | Promise<Verified | undefined>;
  /** From the return on, nothing is answered from what was read before. */
  forgetAll(): void;
  /** From the return on, no key of the account is answered from what was read before. To be called after the commit. */
  forgetAccount(accountId: number): void;
  /** The same for one key. */
  forgetKey(keyId: number): void;
  /** Writes down when keys were last used. If that fails it rejects, and what was not written is written next time. */
  saveUses(): Promise<void>;
};

type Entry = { verified: Verified; usedAt: number | null };

/**
 * Opens the verifier. Every change of keys and plans, on whatever node, must be told to it while `isLive` says so;
 * otherwise each request reads its key itself. Its owner saves the uses every few seconds and at the end: at most one
 * write a minute for each key.
 */
export function openKeyVerifier({ db, clock, isLive = () => true }: { db: Database; clock: Clock; isLive?: () => boolean }): KeyVerifier {
  // Kept by the key's text: a hit then costs no hash. The texts never leave this map.
  const kept = new Map<string, Entry>();
  let reads = new Map<string, Promise<Verified | undefined>>();
  const uses = new Map<number, Use>();

  function verify(key: string): Verified | undefined | Promise<Verified | undefined> {
    if (!isLive()) return wellFormed(key) ? read(key).then((entry) => entry?.verified) : undefined;
    const entry = kept.get(key);
    if (entry) return current(key, entry);
    if (!wellFormed(key)) return undefined;
    return reads.get(key) ?? startRead(key);
  }

  function current(key: string, entry: Entry): Verified | undefined {
    const now = clock();
    if (hasExpired(entry.verified.expiresAt, now)) {
      kept.delete(key);
      return undefined;
    }
    noteUse(entry, now);
    return entry.verified;
  }

  function startRead(key: string): Promise<Verified | undefined> {
    // A change makes this map anew: requests that come after it start a read of their own, and what an older read
    // brings is answered to those who waited for it, and not kept.
    const mine = reads;
    const shared = read(key)
      .then((entry) => {
        if (entry && mine === reads && isLive()) keep(key, entry);
        return entry?.verified;
      })
      .finally(() => mine.delete(key));
    mine.set(key, shared);
    return shared;
  }

  async function read(key: string): Promise<Entry | undefined> {
    const holder = await findKeyHolder(db, hashKey(key));
    const now = clock();
    if (!holder || hasExpired(holder.key.expiresAt, now)) return undefined;
    const entry = entryOf(holder);
    noteUse(entry, now);
    return entry;
  }

  function keep(key: string, entry: Entry): void {
    if (kept.size >= keptMax) {
      for (const oldest of kept.keys()) {
        kept.delete(oldest);
        break;
      }
    }
    kept.set(key, entry);
  }

  function noteUse(entry: Entry, now: number): void {
    const usedAt = now - (now % minuteMs);
    if (entry.usedAt === usedAt || uses.size >= keptMax) return;
    entry.usedAt = usedAt;
    const { accountId, keyId } = entry.verified;
    uses.set(keyId, { accountId, keyId, usedAt });
  }

  function forget(which: (verified: Verified) => boolean): void {
    reads = new Map();
    for (const [key, { verified }] of kept) if (which(verified)) kept.delete(key);
  }

  async function saveUses(): Promise<void> {
    const waiting = [...uses.values()];
    for (let i = 0; i < waiting.length; i += usesPerWrite) {
      const batch = waiting.slice(i, i + usesPerWrite);
      await db.write((tx) => recordUses(tx, batch));
      for (const use of batch) if (uses.get(use.keyId) === use) uses.delete(use.keyId);
    }
  }

  return {
    verify,
    forgetAll: () => forget(() => true),
    forgetAccount: (accountId) => forget((verified) => verified.accountId === accountId),
    forgetKey: (keyId) => forget((verified) => verified.keyId === keyId),
    saveUses,
  };
}

function entryOf({ key, plan, quota }: KeyHolder): Entry {
  const verified: Verified = {
    accountId: key.accountId,
    keyId: key.id,
    plan,
    quota,
    scopes: new Set(key.scopes),
    publishable: key.publishable,
    ...(key.origins.length > 0 && { origins: new Set(key.origins) }),
    expiresAt: key.expiresAt,
  };
  return { verified, usedAt: key.lastUsedAt };
}
