import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../platform/db/database.ts";
import { newOrder, NotPermitted, resumeLiveOrder, type Account, type Order } from "./acme.ts";
import { heldUntil, type Budget, type LimitName, type OrderKind } from "./budget.ts";
import { listSpent, spendOne, type Subjects } from "./acme-usage.store.ts";
import type { ClaimedDomain } from "./certificate-state.store.ts";
import { newPrivateKey } from "./csr.ts";
import { demandHeld } from "./lease-guard.ts";
import { findOrder, lockOrder, saveOrder, saveOrderUrl } from "./orders.store.ts";
import { encryptSecret, type SecretsKeys } from "./secrets.ts";

export type OrderParts = { db: Database; clock: Clock; keys: SecretsKeys; budget: Budget };

/** The certificate to order; `replaces` names the certificate that it renews. */
export type Wanted = { subjects: Subjects; kind: OrderKind; replaces: string | undefined };

/** An order, the encrypted key of its certificate, and how often the name has failed. */
export type OpenOrder = { order: Order; key: string; failures: number };

/** No order is possible before `retryAt`: the authority's limit is used up. */
export type Held = { retryAt: number; limit: LimitName };

/**
 * Returns the order under way, or makes a new one. It saves the key before it asks for the order, and the order's address as soon as
 * the authority has answered. * @throws NotPermitted if another node or account holds the name now
 */
export async function openOrder(parts: OrderParts, domain: ClaimedDomain, account: Account, wanted: Wanted): Promise<OpenOrder | Held> {
  const { db, clock, budget } = parts;
  const { accountId, hostname } = domain;
  const { subjects, kind } = wanted;
  const { directoryUrl } = subjects;
  const kept = await findOrder(db, accountId, hostname);
  const failures = kept?.failures ?? 0;
  if (kept?.url && kept.key && kept.directoryUrl === directoryUrl) {
    const order = await resumeLiveOrder(account, kept.url);
    if (order) return { order, key: kept.key, failures };
  }
  const now = clock();
  const held = heldUntil(budget, await listSpent(db, budget, subjects, now), kind, now);
  if (held !== null) return held;

  const pem = (await newPrivateKey()).export({ format: "pem", type: "pkcs8" });
  const key = encryptSecret(parts.keys, pem, hostname);
  const isBegun = await db.write(async (tx) => {
    await demandHeld(tx, domain);
    if (((await lockOrder(tx, accountId, hostname))?.url ?? null) !== (kept?.url ?? null)) return false;
    await saveOrder(tx, accountId, hostname, { directoryUrl, url: null, key, failures });
    await spendOne(tx, "orders", subjects, now);
    return true;
  });
  // The node that held the name before has just saved the address of its order.
  if (!isBegun) return openOrder(parts, domain, account, wanted);

  const order = await newOrder(account, hostname, { replaces: wanted.replaces });
  await keepAddress(db, domain, key, order.url);
  return { order, key, failures };
}

/**
 * Works without a lease too: if this node has lost it, the node that holds the name now continues the order, unless it
 * has begun another one.
 */
async function keepAddress(db: Database, { accountId, hostname }: ClaimedDomain, key: string, url: string): Promise<void> {
  const isKept = await db.write((tx) => saveOrderUrl(tx, accountId, hostname, { key, url }));
  if (!isKept) throw new NotPermitted(`another order was begun for ${hostname}`);
}
