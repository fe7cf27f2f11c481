import { createPrivateKey } from "node:crypto";
import type { Clock } from "../../platform/clock.ts";
import type { Database, Queryable, Transaction } from "../../platform/db/database.ts";
import type { Announcer } from "../../platform/nodes/nodes.ts";
import { domainChanged } from "../domains/domains.ts";
import { type AcmeAccount, type AcmeChallenge, type AcmeOrder, newAcmeOrder, resumeLiveAcmeOrder } from "../acme/acme-client.ts";
import { completeAcmeOrder } from "../acme/acme-order.ts";
import type { IssuedCertificate } from "../acme/issued.ts";
import { newPrivateKey } from "../acme/csr.ts";
import { NotPermitted } from "../acme/acme-problem.ts";
import { tlsAlpnCertificate } from "../acme/challenges.ts";
import { listUses, recordUse, type LimitSubjects } from "./acme-usage.store.ts";
import { limitReached, type Budget, type LimitReached, type OrderKind } from "./budget.ts";
import { requireLease, type ClaimedDomain } from "./certificate-state.store.ts";
import { saveChallenge, type StoredChallenge } from "./challenges.store.ts";
import {
  findCertificateOrder,
  lockCertificateOrder,
  saveCertificateOrder,
  saveCertificateOrderUrl,
  type StoredCertificateOrder,
} from "./certificate-orders.store.ts";
import { decryptSecret, encryptSecret, withCurrentKey, type SecretsKeys } from "../../platform/secrets.ts";

/** Where the certificate order of a name is stored. `key` is encrypted for the name. */
export type CertificateOrderStore = {
  find(db: Queryable): Promise<StoredCertificateOrder | null>;
  /** Like `find`, and locks the row until commit. */
  lock(tx: Transaction): Promise<StoredCertificateOrder | null>;
  /** Holds the lease of the name until commit. @throws NotPermitted if this process lost it */
  requireLease(tx: Transaction): Promise<void>;
  save(tx: Transaction, order: StoredCertificateOrder): Promise<void>;
  /** Saves the URL of the order that was begun with this key. Returns false if another order has been begun since. */
  saveUrl(tx: Transaction, order: { key: string; url: string }): Promise<boolean>;
  saveChallenge(tx: Transaction, challenge: PublishedChallenge): Promise<void>;
};

type PublishedChallenge = Omit<StoredChallenge, "accountId" | "hostname">;

export type CertificateOrderParts = { db: Database; clock: Clock; keys: SecretsKeys; budget: Budget; announcer: Announcer };

/** The certificate to order. `replaces` identifies the certificate that it renews (RFC 9773). */
export type CertificateRequest = { subjects: LimitSubjects; kind: OrderKind; replaces: string | undefined };

/** A certificate that the authority has issued, with its key, encrypted for the host name. */
export type OrderedCertificate = { issued: IssuedCertificate; key: string };

const challengeMs = 86_400_000;

/** The certificate-order store of a customer's domain. */
export function domainOrderStore(domain: ClaimedDomain): CertificateOrderStore {
  const { accountId, hostname } = domain;
  return {
    find: (db) => findCertificateOrder(db, accountId, hostname),
    lock: (tx) => lockCertificateOrder(tx, accountId, hostname),
    requireLease: (tx) => requireLease(tx, domain),
    save: (tx, order) => saveCertificateOrder(tx, accountId, hostname, order),
    saveUrl: (tx, order) => saveCertificateOrderUrl(tx, accountId, hostname, order),
    saveChallenge: (tx, challenge) => saveChallenge(tx, { accountId, hostname, ...challenge }),
  };
}

/**
 * Orders a certificate for a claimed name, or continues the order under way. Saves each step before it begins the next one. If the process dies
 * in between, the next process continues the same order and places no second one.
 *
 * @throws AcmeProblem
 * @throws NotPermitted if another node or account holds the name now
 */
export async function orderCertificate(
  parts: CertificateOrderParts,
  hostname: string,
  store: CertificateOrderStore,
  account: AcmeAccount,
  request: CertificateRequest,
): Promise<OrderedCertificate | LimitReached> {
  const open = await resumeOrPlace(parts, hostname, store, account, request);
  if ("limit" in open) return open;
  const issued = await completeAcmeOrder(account, open.order, {
    hostname,
    key: createPrivateKey(decryptSecret(parts.keys, open.key, hostname)),
    prefer: open.failures % 2 === 0 ? "http-01" : "tls-alpn-01",
    publish: (challenge) => publishChallenge(parts, hostname, store, challenge),
  });
  // Another process may have begun the order, and encrypted the key with an earlier secrets key.
  return { issued, key: withCurrentKey(parts.keys, open.key, hostname) };
}

/** An order under way. `key` is the encrypted key of its certificate; `failures` is how many times in a row the name has failed. */
type OpenOrder = { order: AcmeOrder; key: string; failures: number };

/** Saves the certificate's key before placing the order, and the order's URL as soon as the authority has answered. */
async function resumeOrPlace(
  parts: CertificateOrderParts,
  hostname: string,
  store: CertificateOrderStore,
  account: AcmeAccount,
  request: CertificateRequest,
): Promise<OpenOrder | LimitReached> {
  const { db, clock, budget, keys } = parts;
  const { subjects, kind, replaces } = request;
  const { directoryUrl } = subjects;
  const kept = await store.find(db);
  const failures = kept?.failures ?? 0;
  if (kept?.url && kept.key && kept.directoryUrl === directoryUrl) {
    const order = await resumeLiveAcmeOrder(account, kept.url);
    if (order) return { order, key: kept.key, failures };
  }
  const now = clock();
  const reached = limitReached(budget, await listUses(db, budget, subjects, now), kind, now);
  if (reached !== null) return reached;

  const pem = (await newPrivateKey()).export({ format: "pem", type: "pkcs8" });
  const key = encryptSecret(keys, pem, hostname);
  const isBegun = await db.write(async (tx) => {
    await store.requireLease(tx);
    if (((await store.lock(tx))?.url ?? null) !== (kept?.url ?? null)) return false;
    await store.save(tx, { directoryUrl, url: null, key, failures });
    await recordUse(tx, "orders", subjects, now);
    return true;
  });
  // The node that worked on the name before has saved its order's URL in the meantime: continue that order.
  if (!isBegun) return resumeOrPlace(parts, hostname, store, account, request);

  const order = await newAcmeOrder(account, hostname, { replaces });
  // Saves the URL even if this node has lost the lease: the node that holds the name now continues this order, unless it has begun another.
  if (!(await db.write((tx) => store.saveUrl(tx, { key, url: order.url }))))
    throw new NotPermitted(`another order was begun for ${hostname}`);
  return { order, key, failures };
}

/** Saves the challenge, and waits until every node answers it. */
async function publishChallenge(
  { db, clock, keys, announcer }: CertificateOrderParts,
  hostname: string,
  store: CertificateOrderStore,
  { type, token, keyAuthorization }: AcmeChallenge,
): Promise<void> {
  const now = clock();
  const pair = type === "tls-alpn-01" ? await tlsAlpnCertificate(hostname, keyAuthorization, now) : null;
  const certificateKey = pair && encryptSecret(keys, pair.key, hostname);
  const certificate = pair?.cert ?? null;
  const expiresAt = now + challengeMs;
  await db.write(async (tx) => {
    await store.requireLease(tx);
    await store.saveChallenge(tx, { type, token, keyAuthorization, certificate, certificateKey, expiresAt });
    await announcer.publish(tx, domainChanged(hostname));
  });
  await announcer.waitForAll();
}
