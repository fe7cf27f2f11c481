import { breaks, type Database, type Transaction } from "../../platform/db/database.ts";
import { systemOrigin } from "../../platform/events.ts";
import { Problem } from "../../platform/problem.ts";
import { type Proof, proofIn } from "../dns/dns.ts";
import { type Hostname, parseHostname } from "../dns/hostnames.ts";
import type { Lookup } from "../dns/lookup.ts";
import { tryLockProjectOf } from "../projects/projects.store.ts";
import { checkContestedNow, isReadyAt, ownershipRecordOf, type Checks } from "./checks.ts";
import { deleteDomain, findHolder, hasPaidPlan, insertDomain, lockHolder } from "./domains.store.ts";
import { insertLost, deleteLost } from "./lost-domains.store.ts";
import { lockNames, saveNames } from "./names.store.ts";
import { listVerifications } from "./ownership.store.ts";
import { decideClaim, needsProof, takenByAnother, type OwnershipRecord } from "./ownership.ts";
import { applyConfig, type DomainsConfig } from "./redirects.ts";

const planNeeded =
  "petstore.json: `domains` lists custom domains, which need the plan Pro or above. Without `domains` you can deploy the folder as it is.";

export type Owner = { accountId: number; projectId: number };

/** A name to attach. `txt`: the TXT records at the name of the ownership record, looked up only if another account holds the name. */
export type LookedUpClaim = { name: Hostname; txt: Lookup<string> | null };

/** If another account holds the name, looks up the ownership proofs, and makes the check of that account's DNS due now. */
export async function lookUpClaim(db: Database, checks: Checks, owner: Owner, name: Hostname, now: number): Promise<LookedUpClaim> {
  const holder = await db.scan(() => findHolder(db, name.hostname));
  if (holder === null || holder.accountId === owner.accountId) return { name, txt: null };
  await db.write((tx) => checkContestedNow(tx, holder, now));
  const challenge = ownershipRecordOf(checks, { accountId: owner.accountId, hostname: name.hostname });
  return { name, txt: await checks.dns.lookUp(challenge.name, challenge.type, owner.accountId) };
}

/** Attaches a name as `pending`, and makes its first check due now; the caller has locked the project. @throws Problem `domain_taken` */
export async function claimDomain(tx: Transaction, checks: Checks, owner: Owner, { name, txt }: LookedUpClaim, now: number) {
  const { hostname } = name;
  const challenge = ownershipRecordOf(checks, { accountId: owner.accountId, hostname });
  const holder = await lockHolder(tx, hostname);
  const proofOf = (one: OwnershipRecord): Proof => (txt === null ? "absent" : proofIn(one, txt));
  const proofs = { own: proofOf(challenge), holders: holder === null ? "absent" : proofOf(ownershipRecordOf(checks, holder)) } as const;
  const decision = decideClaim({ hostname, ...owner, challenge }, holder, proofs, now);
  if (holder !== null) {
    // Projects are locked before their names. This name is locked already, so waiting for its project now could deadlock.
    if (!(await tryLockProjectOf(tx, holder))) tx.startOver();
    await deleteDomain(tx, holder, holder.accountId === owner.accountId ? undefined : systemOrigin);
  }
  if (holder !== null && decision === "take_over") await insertLost(tx, holder, now);
  await deleteLost(tx, owner.accountId, hostname);
  const verifications = await listVerifications(tx, name.registrableDomain);
  const proofNeeded = needsProof({ accountId: owner.accountId, status: "pending", verifiedAt: null }, verifications);
  return insertDomain(tx, owner, name, proofNeeded, now).catch((error: unknown) => {
    throw breaks("unique", error) ? takenByAnother(hostname, challenge) : error;
  });
}

/** Applies the `domains` of a `petstore.json` in the transaction that switches the deployment and has locked the project. Returns the names that it added. */
export type ApplyConfig = (tx: Transaction, now: number) => Promise<string[]>;

/**
 * Checks the `domains` of a `petstore.json` (specification 6.4). The returned function adds `primary` and each `from` that is not attached yet, but
 * never a `to`. If either function throws, nothing is applied.
 *
 * @throws Problem `invalid_request`; the returned function also throws `plan_required`, `domain_taken`
 */
export async function prepareDomainsConfig(
  db: Database,
  checks: Checks,
  owner: Owner,
  { primary, redirects }: DomainsConfig,
  now: number,
): Promise<ApplyConfig> {
  const parse = (text: string, path: string): Hostname => parseHostname(text, checks.own, path);
  const names = primary === undefined ? [] : [parse(primary, "domains.primary")];
  for (const [index, { from, to }] of (redirects ?? []).entries()) {
    names.push(parse(from, `domains.redirects[${index}].from`));
    parse(to, `domains.redirects[${index}].to`);
  }
  const unique = new Map(names.map((name) => [name.hostname, name]));
  // In parallel, because the deployments of all accounts wait for this one.
  const lookedUp = await Promise.all(unique.values().map((name) => lookUpClaim(db, checks, owner, name, now)));
  const wanted = new Map(lookedUp.map((one) => [one.name.hostname, one]));

  return async (tx, switchedAt) => {
    if (primary === undefined && redirects === undefined) return [];
    if (wanted.size > 0 && !(await hasPaidPlan(tx, owner.accountId))) throw new Problem("plan_required", planNeeded);
    const before = await lockNames(tx, owner, (name) => isReadyAt(checks, name, switchedAt));
    const { names: after, added } = applyConfig(before, {
      ...(primary !== undefined && { primary }),
      ...(redirects !== undefined && { redirects }),
    });
    for (const hostname of added) await claimDomain(tx, checks, owner, wanted.get(hostname)!, switchedAt);
    await saveNames(tx, owner, before, after);
    return added;
  };
}
