import type { Queryable, Transaction } from "../../platform/db/database.ts";
import { Problem } from "../../platform/problem.ts";
import type { Checks } from "./checks.ts";
import {
  deleteDomain,
  findHolder,
  hasPaidPlan,
  insertDomain,
  listVerifications,
  lockHolder,
  lockNames,
  saveNames,
} from "./domains.store.ts";
import { parseHostname, type Hostname } from "./hostnames.ts";
import { decideClaim, needsProof, proofIn, type Proof } from "./ownership.ts";
import { applyConfig, type DomainsConfig } from "./redirects.ts";

const planNeeded =
  "petstore.json: `domains` names custom domains, and they need the plan Pro or above. Without `domains` the folder can be deployed as it is.";

export type Owner = { accountId: number; projectId: number };

/** A name that is to be attached, and whether its owner has proved it where that would help. */
export type Wanted = { name: Hostname; proof: Proof };

/** Looks up the proof where only it could win the name from another account. Raises nothing. */
export async function lookUpProof(db: Queryable, checks: Checks, owner: Owner, name: Hostname): Promise<Wanted> {
  const holder = await findHolder(db, name.hostname);
  if (holder === null || holder.accountId === owner.accountId || holder.status === "verified") return { name, proof: "absent" };
  const challenge = checks.challengeOf({ accountId: owner.accountId, hostname: name.hostname });
  return { name, proof: proofIn(challenge, await checks.dns.lookUp(challenge.name, "TXT", owner.accountId)) };
}

/** Attaches a name as `pending`, to be checked at once. @throws Problem `domain_taken` */
export async function attach(tx: Transaction, checks: Checks, owner: Owner, { name, proof }: Wanted, now: number) {
  const challenge = checks.challengeOf({ accountId: owner.accountId, hostname: name.hostname });
  const holder = await lockHolder(tx, name.hostname);
  decideClaim({ hostname: name.hostname, ...owner, challenge }, holder, proof, now);
  if (holder !== null) await deleteDomain(tx, holder);
  const verifications = await listVerifications(tx, name.registrableDomain);
  const proofNeeded = needsProof({ accountId: owner.accountId, status: "pending", verifiedAt: null }, verifications);
  return insertDomain(tx, owner, name, proofNeeded, now);
}

/**
 * Checks the `domains` of a `petstore.json` (spec part 1, rule 10), and gives what applies them in the transaction of the switch and tells which
 * names were added. Any refusal is raised, and then nothing is to be applied.
 */
export async function prepareConfig(db: Queryable, checks: Checks, owner: Owner, config: DomainsConfig) {
  const parse = (text: string, path: string): Hostname => parseHostname(text, checks.own, path);
  const names: Hostname[] = [];
  if (config.primary !== undefined) names.push(parse(config.primary, "domains.primary"));
  for (const [index, { from, to }] of (config.redirects ?? []).entries()) {
    names.push(parse(from, `domains.redirects[${index}].from`), parse(to, `domains.redirects[${index}].to`));
  }
  const unique = new Map(names.map((name) => [name.hostname, name]));
  // At once: the deployments of all accounts wait for this one.
  const proved = await Promise.all(unique.values().map((name) => lookUpProof(db, checks, owner, name)));
  const wanted = new Map(proved.map((one) => [one.name.hostname, one]));

  return async (tx: Transaction, now: number): Promise<string[]> => {
    if (wanted.size === 0) return [];
    if (!(await hasPaidPlan(tx, owner.accountId))) throw new Problem("plan_required", planNeeded);
    const before = await lockNames(tx, owner.accountId, owner.projectId);
    const { names: after, added } = applyConfig(before, config);
    for (const hostname of added) await attach(tx, checks, owner, wanted.get(hostname)!, now);
    await saveNames(tx, owner.accountId, before, after);
    return added;
  };
}
