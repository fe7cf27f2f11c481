import { createPrivateKey } from "node:crypto";
import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../platform/db/database.ts";
import type { Announcer } from "../../platform/nodes/nodes.ts";
import { domainChanged } from "../domains/domains.ts";
import { newOrder, resumeLiveOrder, type AcmeAccount, type AcmeChallenge, type AcmeOrder } from "./acme.ts";
import { completeOrder } from "./acme-order.ts";
import { NotPermitted } from "./acme-problem.ts";
import { listUses, recordUse, type LimitSubjects } from "./acme-usage.store.ts";
import { limitReached, type Budget, type LimitReached, type OrderKind } from "./budget.ts";
import { requireLease, type ClaimedDomain } from "./certificate-state.store.ts";
import { tlsAlpnCertificate } from "./challenges.ts";
import { saveChallenge } from "./challenges.store.ts";
import { newPrivateKey } from "./csr.ts";
import type { IssuedCertificate } from "./issued.ts";
import { findOrder, lockOrder, saveOrder, saveOrderUrl } from "./orders.store.ts";
import { decryptSecret, encryptSecret, type SecretsKeys } from "./secrets.ts";

export type OrderParts = { db: Database; clock: Clock; keys: SecretsKeys; budget: Budget; announcer: Announcer };

/** The certificate to order. `replaces` identifies the certificate that it renews (RFC 9773). */
export type OrderRequest = { subjects: LimitSubjects; kind: OrderKind; replaces: string | undefined };

/** A certificate that the authority has issued, with its key, encrypted for the host name. */
export type OrderedCertificate = { issued: IssuedCertificate; key: string };

const challengeMs = 86_400_000;

/**
 * Orders a certificate for a claimed name, or continues the order under way. Saves each step before it begins the next one: if the process dies
 * in between, the next process continues the same order and places no second one.
 *
 * @throws AcmeProblem
 * @throws NotPermitted if another node or account holds the name now
 */
export async function orderCertificate(
  parts: OrderParts,
  domain: ClaimedDomain,
  account: AcmeAccount,
  request: OrderRequest,
): Promise<OrderedCertificate | LimitReached> {
  const open = await resumeOrPlace(parts, domain, account, request);
  if ("limit" in open) return open;
  const issued = await completeOrder(account, open.order, {
    hostname: domain.hostname,
    key: createPrivateKey(decryptSecret(parts.keys, open.key, domain.hostname)),
    prefer: open.failures % 2 === 0 ? "http-01" : "tls-alpn-01",
    publish: (challenge) => publishChallenge(parts, domain, challenge),
  });
  return { issued, key: open.key };
}

/** An order under way. `key` is the encrypted key of its certificate, `failures` how often the name has failed in a row. */
type OpenOrder = { order: AcmeOrder; key: string; failures: number };

/** Saves the key before it places an order, and the URL of the order as soon as the authority has answered. */
async function resumeOrPlace(
  parts: OrderParts,
  domain: ClaimedDomain,
  account: AcmeAccount,
  request: OrderRequest,
): Promise<OpenOrder | LimitReached> {
  const { db, clock, budget, keys } = parts;
  const { accountId, hostname } = domain;
  const { subjects, kind, replaces } = request;
  const { directoryUrl } = subjects;
  const kept = await findOrder(db, accountId, hostname);
  const failures = kept?.failures ?? 0;
  if (kept?.url && kept.key && kept.directoryUrl === directoryUrl) {
    const order = await resumeLiveOrder(account, kept.url);
    if (order) return { order, key: kept.key, failures };
  }
  const now = clock();
  const reached = limitReached(budget, await listUses(db, budget, subjects, now), kind, now);
  if (reached !== null) return reached;

  const pem = (await newPrivateKey()).export({ format: "pem", type: "pkcs8" });
  const key = encryptSecret(keys, pem, hostname);
  const isBegun = await db.write(async (tx) => {
    await requireLease(tx, domain);
    if (((await lockOrder(tx, accountId, hostname))?.url ?? null) !== (kept?.url ?? null)) return false;
    await saveOrder(tx, accountId, hostname, { directoryUrl, url: null, key, failures });
    await recordUse(tx, "orders", subjects, now);
    return true;
  });
  // The node that held the name before has just saved the URL of its order: continue that one.
  if (!isBegun) return resumeOrPlace(parts, domain, account, request);

  const order = await newOrder(account, hostname, { replaces });
  // Saves the URL even if this node has lost the lease: the node that holds the name now continues this order, unless it has begun another.
  if (!(await db.write((tx) => saveOrderUrl(tx, accountId, hostname, { key, url: order.url }))))
    throw new NotPermitted(`another order was begun for ${hostname}`);
  return { order, key, failures };
}

/** Resolves when every node answers the challenge. */
async function publishChallenge(
  { db, clock, keys, announcer }: OrderParts,
  domain: ClaimedDomain,
  { type, token, keyAuthorization }: AcmeChallenge,
): Promise<void> {
  const { accountId, hostname } = domain;
  const now = clock();
  const pair = type === "tls-alpn-01" ? await tlsAlpnCertificate(hostname, keyAuthorization, now) : null;
  const certificateKey = pair && encryptSecret(keys, pair.key, hostname);
  const certificate = pair?.cert ?? null;
  const expiresAt = now + challengeMs;
  await db.write(async (tx) => {
    await requireLease(tx, domain);
    await saveChallenge(tx, { accountId, hostname, type, token, keyAuthorization, certificate, certificateKey, expiresAt });
    await announcer.publish(tx, domainChanged(hostname));
  });
  await announcer.waitForAll();
}
