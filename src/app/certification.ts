import type { Worker } from "../platform/jobs/worker.ts";
import { openAuthority, type Authority } from "../publishing/certificates/authority.ts";
import { openCertificateWorker } from "../publishing/certificates/certificate-worker.ts";
import { caaProblem } from "../publishing/dns/dns.ts";
import { parseHostname } from "../publishing/dns/hostnames.ts";
import { createDns, type Dns } from "../publishing/dns/lookup.ts";
import type { Checks } from "../publishing/domains/checks.ts";
import type { AppContext } from "./context.ts";
import { ownHostOf } from "./edge.ts";
import type { Tracing } from "./tracing.ts";

/** How long a removal waits for DNS, to warn of a record that still exists. After that, it returns without a warning. */
const quickTimeoutMs = 3_000;

/** Opens the checks of domains and, if the operator has chosen one, the certificate authority. */
export function openVerification({ settings, db, clock, keys, bounds, tracing }: AppContext, proofSecret: () => Uint8Array) {
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
  const servers = settings.dnsServers;
  const quick = { servers: servers.slice(0, 1), timeoutMs: quickTimeoutMs, tries: 1 };
  const checks: Checks = {
    dns: tracedDns(createDns({ servers }, bounds.queue("dns")), tracing),
    quickDns: tracedDns(createDns(quick, bounds.queue("dns", { waitMs: quickTimeoutMs })), tracing),
    own: { platformDomain: settings.platformDomain, publicHost: new URL(settings.publicUrl).hostname },
    proofSecret,
    authority: authority
      ? { directoryUrl, caa: () => ({ identities: authority.caaIdentities(), accountUrl: authority.accountUrl() }) }
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

/** Opens the worker that orders certificates; undefined without an authority. */
export function openCertificates(context: AppContext, checks: Checks, authority: Authority | undefined): Worker | undefined {
  const { settings, log, bounds } = context;
  if (!authority) return undefined;
  authority
    .account()
    .then(() => warnOfPlatform(context, checks))
    .catch((error: unknown) => log.warn({ err: error }, "the certificate authority cannot be used now"));
  const host = ownHostOf(settings);
  const serviceHost = host === null ? null : parseHostname(host, { ...checks.own, publicHost: "" });
  const budget = settings.acmeBudget;
  const turns = bounds.queue<number>("certificates");
  return openCertificateWorker({ ...context, authority, budget, checks, serviceHost, turns });
}

/** Customers' names point to the platform's, whose CAA records then count, and only the operator can change those. */
async function warnOfPlatform({ settings, log }: AppContext, checks: Checks): Promise<void> {
  const { platformDomain } = settings;
  const caa = checks.authority?.caa();
  if (caa === undefined || platformDomain.endsWith("localhost")) return;
  const problem = await caaProblem(checks.dns, platformDomain, caa);
  if (problem !== null) log.warn({ host: platformDomain }, `names that point to PLATFORM_DOMAIN get no certificate: ${problem}`);
}
