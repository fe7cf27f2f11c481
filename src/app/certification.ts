import { getServers } from "node:dns";
import type { Bounds } from "../platform/bounds.ts";
import type { Clock } from "../platform/clock.ts";
import type { Database } from "../platform/db/database.ts";
import type { FairShare } from "../platform/jobs/fair-share.ts";
import type { Worker } from "../platform/jobs/worker.ts";
import type { Logger } from "../platform/log.ts";
import type { Announcer } from "../platform/nodes/nodes.ts";
import type { RowLeases } from "../platform/nodes/row-leases.ts";
import { openAuthority, type Authority } from "../publishing/certificates/authority.ts";
import { requestCertificate } from "../publishing/certificates/certificate-state.store.ts";
import { openCertificateWorker } from "../publishing/certificates/certificate-worker.ts";
import { countFormer, lastReplacedAt, makeFormerDue } from "../publishing/certificates/former-authority.ts";
import { openOwnCertificateWorker } from "../publishing/certificates/own-certificate-worker.ts";
import type { SecretsKeys } from "../platform/secrets.ts";
import { caaProblem, ownHostProblem } from "../publishing/dns/dns.ts";
import { createDns, type Dns } from "../publishing/dns/lookup.ts";
import { isForOperator } from "../publishing/dns/dns-problems.ts";
import { parseHostname } from "../publishing/dns/hostnames.ts";
import { checkDomain, type Checks } from "../publishing/domains/checks.ts";
import type { StoredDomain } from "../publishing/domains/domain-rows.ts";
import { ownHostOf } from "./edge.ts";
import type { Settings } from "./settings.ts";
import type { Tracing } from "./tracing.ts";

/** How long a removal waits for DNS, to warn of a record that still exists. After that, it returns without a warning. */
const quickTimeoutMs = 3_000;

type VerificationParts = {
  settings: Settings;
  db: Database;
  clock: Clock;
  keys: SecretsKeys;
  bounds: Bounds;
  tracing: Tracing | undefined;
};
type CertificationParts = VerificationParts & {
  log: Logger;
  announcer: Announcer;
  checks: Checks;
  authority: Authority | undefined;
  leases: RowLeases;
  onError: (error: unknown) => void;
};

/** Opens the checks of domains and, if the operator has chosen one, the certificate authority. */
export function openVerification({ settings, db, clock, keys, bounds, tracing }: VerificationParts, proofSecret: () => Uint8Array) {
  const { acmeDirectoryUrl: directoryUrl, acmeEabKid, acmeEabHmac } = settings;
  const authority: Authority | undefined =
    directoryUrl === ""
      ? undefined
      : openAuthority({
          db,
          clock,
          keys,
          settings: {
            directoryUrl,
            ca: settings.acmeCa || undefined,
            email: settings.acmeEmail || undefined,
            external: acmeEabKid === "" ? undefined : { keyId: acmeEabKid, hmacKey: acmeEabHmac },
            caaIdentities: settings.acmeCaaIdentities,
            traced: tracing && ((transport) => tracing.tracedCalls("acme", transport)),
          },
        });
  const servers = settings.dnsServers.length > 0 ? settings.dnsServers : getServers();
  const quick = { servers: servers.slice(0, 1), timeoutMs: quickTimeoutMs, tries: 1 };
  const checks: Checks = {
    dns: tracedDns(createDns({ servers }, bounds.queue("dns")), tracing),
    quickDns: tracedDns(createDns(quick, bounds.queue("dns", { waitMs: quickTimeoutMs })), tracing),
    own: { platformDomain: settings.platformDomain, publicHost: new URL(settings.publicUrl).hostname },
    proofSecret,
    authority: authority
      ? {
          caa: () => ({ identities: authority.caaIdentities(), accountUrl: authority.accountUrl() }),
          requestCertificate: (tx, check, now) => requestCertificate(tx, check, now, directoryUrl),
        }
      : null,
  };
  return { authority, checks };
}

/** A failed look-up is an answer, not an exception. */
function tracedDns(dns: Dns, tracing: Tracing | undefined): Dns {
  const problemOf = (answer: unknown): string | undefined => {
    const lookup = answer as Awaited<ReturnType<Dns["lookUp"]>>;
    return lookup.outcome === "failed" ? lookup.reason : undefined;
  };
  return tracing?.tracedCalls("dns", dns, problemOf) ?? dns;
}

/** Opens the workers that order certificates. Without an authority there are none. */
export function openCertificateWorkers(parts: CertificationParts): Worker[] {
  const { settings, db, clock, log, keys, announcer, checks, authority, bounds, leases, onError } = parts;
  if (!authority) return [];
  authority
    .account()
    .then(() => warnOfPlatform(parts))
    .catch((error: unknown) => log.warn({ err: error }, "the certificate authority cannot be used now"));
  const warn = warnHourly(log, clock);
  const warnOfKept = warnHourly(log, clock);
  const preflight = async (domain: StoredDomain) => {
    const { verdict } = await checkDomain(checks, db, domain);
    for (const problem of verdict.problems.filter(isForOperator))
      warn({ host: domain.hostname, found: problem.found }, `only the operator can solve this: ${problem.message}`);
    return verdict;
  };
  const budget = settings.acmeBudget;
  const turns = bounds.queue<number>("certificates");
  const prepare = () => replaceFormer(parts, authority);
  const onKept = (host: string) => warnOfKept({ host }, keptFormer);
  const ofDomains = openCertificateWorker({
    db,
    clock,
    keys,
    authority,
    budget,
    preflight,
    announcer,
    leases,
    turns,
    prepare,
    onKept,
    onError,
  });
  const own = openOwnWorker(parts, authority, turns);
  return own ? [ofDomains, own] : [ofDomains];
}

const keptFormer =
  "trusted certificates stay, because the system does not trust those of ACME_DIRECTORY_URL: is it a staging authority? `petstore certificates replace` replaces them";
const warnEveryMs = 3_600_000;

/** Logs a warning that may concern many names: each hour for one of them. */
function warnHourly(log: CertificationParts["log"], clock: Clock): (fields: object, message: string) => void {
  let warnedAt = -Infinity;
  return (fields, message) => {
    if (clock() - warnedAt < warnEveryMs) return;
    warnedAt = clock();
    log.warn(fields, message);
  };
}

/** Customers' names point to the platform's, whose CAA records then count, and only the operator can change those. */
async function warnOfPlatform({ settings, log, checks }: CertificationParts): Promise<void> {
  const { platformDomain } = settings;
  const caa = checks.authority?.caa();
  if (caa === undefined || platformDomain.endsWith("localhost")) return;
  const problem = await caaProblem(checks.dns, platformDomain, caa);
  if (problem !== null) log.warn({ host: platformDomain }, `names that point to PLATFORM_DOMAIN get no certificate: ${problem}`);
}

/** After a change of the authority, has the certificates of the former one replaced, and says how long that takes. */
async function replaceFormer({ settings, db, clock, log }: CertificationParts, { directoryUrl }: Authority): Promise<void> {
  const now = clock();
  await makeFormerDue(db, directoryUrl, now);
  const counts = await countFormer(db, directoryUrl, now);
  const { remaining, kept } = counts;
  if (kept > 0) log.warn({ kept, directoryUrl }, keptFormer);
  if (remaining === 0) return;
  const lastAt = lastReplacedAt(counts, settings.acmeBudget, now);
  const by = new Date(lastAt).toISOString();
  log.info({ remaining, lastAt }, `${remaining} certificates of another authority are replaced, the last by ${by} at the earliest`);
}

/** The worker of the certificate of PUBLIC_URL, if this service gets one. */
function openOwnWorker(parts: CertificationParts, authority: Authority, turns: FairShare<number>): Worker | undefined {
  const { settings, db, clock, log, keys, announcer, checks, leases, onError } = parts;
  const host = ownHostOf(settings);
  if (host === null) return undefined;
  const { hostname, registrableDomain } = parseHostname(host, { ...checks.own, publicHost: "" });
  const budget = settings.acmeBudget;
  const preflight = () => ownHostProblem(checks.dns, hostname, checks.authority?.caa() ?? null);
  return openOwnCertificateWorker({
    db,
    clock,
    keys,
    authority,
    budget,
    hostname,
    registrableDomain,
    preflight,
    announcer,
    leases,
    turns,
    log,
    onError,
  });
}
