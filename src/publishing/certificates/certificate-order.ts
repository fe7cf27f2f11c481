import { createPrivateKey } from "node:crypto";
import { dayMs } from "../../platform/clock.ts";
import type { Context } from "../../platform/context.ts";
import { decryptSecret, encryptSecret, withCurrentKey } from "../../platform/secrets.ts";
import {
  type AcmeAccount,
  type AcmeChallenge,
  type AcmeOrder,
  newAcmeOrder,
  resumeLiveAcmeOrder,
  completeAcmeOrder,
} from "../acme/acme-client.ts";
import { NotPermitted } from "../acme/acme-problem.ts";
import { type IssuedCertificate, newPrivateKey, tlsAlpnCertificate } from "../acme/x509.ts";
import { domainChanged } from "../domains/domains.ts";
import { listUses, recordUse, type LimitSubjects, limitReached, type Budget, type LimitReached, type OrderKind } from "./budget.ts";
import { requireLease, type ClaimedDomain } from "./certificate-state.store.ts";
import { findCertificateOrder, saveCertificateOrder, saveCertificateOrderUrl, saveChallenge } from "./certificates.store.ts";

/** The certificate to order, within a budget. `replaces` identifies the certificate that it renews (RFC 9773). */
type CertificateRequest = { budget: Budget; subjects: LimitSubjects; kind: OrderKind; replaces: string | undefined };

/** A certificate that the authority has issued, with its key, encrypted for the host name. */
export type OrderedCertificate = { issued: IssuedCertificate; key: string };

const challengeMs = dayMs;

/**
 * Orders a certificate for a claimed name, or continues the order under way. Saves each step before it begins the next one. If the process dies
 * in between, the next process continues the same order and places no second one.
 *
 * @throws AcmeProblem
 * @throws NotPermitted if another node or account holds the name now
 */
export async function orderCertificate(
  context: Pick<Context, "db" | "clock" | "keys" | "announcer">,
  domain: ClaimedDomain,
  account: AcmeAccount,
  request: CertificateRequest,
): Promise<OrderedCertificate | LimitReached> {
  const { hostname } = domain;
  const open = await resumeOrPlace(context, domain, account, request);
  if ("limit" in open) return open;
  const issued = await completeAcmeOrder(account, open.order, {
    hostname,
    key: createPrivateKey(decryptSecret(context.keys, open.key, hostname)),
    prefer: open.failures % 2 === 0 ? "http-01" : "tls-alpn-01",
    publish: (challenge) => publishChallenge(context, domain, challenge),
  });
  // Another process may have begun the order, and encrypted the key with an earlier secrets key.
  return { issued, key: withCurrentKey(context.keys, open.key, hostname) };
}

/** An order under way. `key` is the encrypted key of its certificate; `failures` is how many times in a row the name has failed. */
type OpenOrder = { order: AcmeOrder; key: string; failures: number };

/** Saves the certificate's key before placing the order, and the order's URL as soon as the authority has answered. */
async function resumeOrPlace(
  context: Pick<Context, "db" | "clock" | "keys">,
  domain: ClaimedDomain,
  account: AcmeAccount,
  request: CertificateRequest,
): Promise<OpenOrder | LimitReached> {
  const { db, clock, keys } = context;
  const { accountId, hostname } = domain;
  const { budget, subjects, kind, replaces } = request;
  const { directoryUrl } = subjects;
  const kept = await findCertificateOrder(db, accountId, hostname);
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
    await requireLease(tx, domain);
    const begun = await findCertificateOrder(tx, accountId, hostname, tx.forUpdate);
    if ((begun?.url ?? null) !== (kept?.url ?? null)) return false;
    await saveCertificateOrder(tx, accountId, hostname, { directoryUrl, url: null, key, failures });
    await recordUse(tx, "orders", subjects, now);
    return true;
  });
  // The node that worked on the name before has saved its order's URL in the meantime: continue that order.
  if (!isBegun) return resumeOrPlace(context, domain, account, request);

  const order = await newAcmeOrder(account, hostname, replaces);
  // Saves the URL even if this node has lost the lease: the node that holds the name now continues this order, unless it has begun another.
  if (!(await db.write((tx) => saveCertificateOrderUrl(tx, accountId, hostname, { key, url: order.url }))))
    throw new NotPermitted(`another order was begun for ${hostname}`);
  return { order, key, failures };
}

/** Saves the challenge, and waits until every node answers it. */
async function publishChallenge(
  { db, clock, keys, announcer }: Pick<Context, "db" | "clock" | "keys" | "announcer">,
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
