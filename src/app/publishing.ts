import { randomBytes } from "node:crypto";
import { getServers } from "node:dns";
import { join } from "node:path";
import type { Bounds } from "../platform/bounds.ts";
import type { Clock } from "../platform/clock.ts";
import type { ConnectionLimits } from "../platform/connections.ts";
import type { Database } from "../platform/db/database.ts";
import { repeat } from "../platform/jobs/repeat.ts";
import type { Worker } from "../platform/jobs/worker.ts";
import type { Logger } from "../platform/log.ts";
import type { Announcer, Change, Node } from "../platform/nodes/nodes.ts";
import { openRowLeases } from "../platform/nodes/row-leases.ts";
import { Problem } from "../platform/problem.ts";
import { openAuthority, type Authority } from "../publishing/certificates/authority.ts";
import { deleteOldUsage } from "../publishing/certificates/acme-usage.store.ts";
import { requestCertificate } from "../publishing/certificates/certificate-state.store.ts";
import { deleteExpiredChallenges } from "../publishing/certificates/challenges.store.ts";
import { deleteEndedHolds } from "../publishing/certificates/orders.store.ts";
import { keepSecret } from "../publishing/certificates/secrets.store.ts";
import { openCertificateWorker } from "../publishing/certificates/certificate-worker.ts";
import { secretsKeysIn } from "../publishing/certificates/secrets-file.ts";
import { decryptSecret, encryptSecret, type SecretsKeys } from "../publishing/certificates/secrets.ts";
import { createDns, sharedDomain } from "../publishing/dns/dns.ts";
import { prepareDomainsConfig } from "../publishing/domains/domain-claims.ts";
import { openCheckWorker } from "../publishing/domains/check-worker.ts";
import { checkDomain, type Checks } from "../publishing/domains/checks.ts";
import { domainChanged, sendsHsts } from "../publishing/domains/domains.ts";
import type { StoredDomain } from "../publishing/domains/domains.store.ts";
import { deleteOldLost } from "../publishing/domains/lost-domains.store.ts";
import { projectNames, type Origins } from "../publishing/domains/project-names.ts";
import type { OpenContent } from "../publishing/edge/bodies.ts";
import { openEdge, type Edge } from "../publishing/edge/edge.ts";
import { openHosts, type Hosts } from "../publishing/hosts/host-map.ts";
import { openBlobs } from "../publishing/projects/shared-bytes.ts";
import { clearIncoming } from "../publishing/projects/content.ts";
import { openDeploymentWorker } from "../publishing/projects/deployment-worker.ts";
import { isUploadTaken } from "../publishing/projects/deployments.store.ts";
import { deleteOldFreedSlugs } from "../publishing/projects/freed-slugs.store.ts";
import { localContent, sharedContent } from "../publishing/projects/shared-content.ts";
import { openUploads, uploadBlobs, uploadFolder } from "../publishing/projects/uploads.ts";
import type { PublishingServices } from "./operations.ts";
import type { Settings } from "./settings.ts";

const cleanEveryMs = 60_000;
const auditEveryMs = 60 * 60_000;
/** How long a removal waits for DNS, to warn of a record that is still there. */
const quickTimeoutMs = 400;
const closeMs = 5_000;

export type Publishing = {
  /** What the publishing operations need. */
  services: PublishingServices;
  /** The host map of this process, which its node updates as changes arrive. */
  sites: { applyChange(change: Change | undefined): Promise<void>; onLeaseLost(): void };
  /** Opens the edge and starts the workers. The database must be ready. Rejects if a port is taken. */
  start(): Promise<void>;
  /** Where published projects are served; undefined before the start. */
  addresses(): Edge["addresses"] | undefined;
  /** Resolves when no deployment waits to be unpacked, no domain to be checked and no certificate to be ordered. */
  idle(): Promise<void>;
  close(): Promise<void>;
};

export type PublishingParts = {
  settings: Settings;
  db: Database;
  clock: Clock;
  log: Logger;
  announcer: Announcer;
  /** This process among the nodes. */
  node: Node;
  bounds: Bounds;
  /** Bounds the connections to the edge. */
  connections: ConnectionLimits;
};

/** What changes while the wing runs. */
type State = {
  proofSecret: Buffer | undefined;
  edge: Edge | undefined;
  workers: Worker[];
  cleaning: ReturnType<typeof repeat>[];
};

type Wing = PublishingParts &
  ReturnType<typeof openFiles> &
  ReturnType<typeof openVerification> & { keys: SecretsKeys; hosts: Hosts; state: State };

/** Opens the publishing wing: settings → secrets → host map → edge → workers, and what its operations need. */
export function openPublishing(parts: PublishingParts): Publishing {
  const { settings, announcer } = parts;
  const state: State = { proofSecret: undefined, edge: undefined, workers: [], cleaning: [] };
  const keys = settings.secretsKey ?? secretsKeysIn(join(settings.dataDir, "secrets.key"));
  const verification = openVerification(parts, keys, () => state.proofSecret ?? notStarted());
  const hosts = openHostMap(parts, keys, verification.checks, state);
  const wing: Wing = { ...parts, ...openFiles(parts), ...verification, keys, hosts, state };
  const { checks, uploads } = wing;
  return {
    services: {
      namesOf: (tx, projects, now) => projectNames(tx, checks, originsOf(settings, state.edge), projects, now),
      uploads,
      checks,
      wake: () => wake(state),
      announcer,
      sendsHsts: sendsHsts(settings),
    },
    sites: { applyChange: hosts.applyChange, onLeaseLost: hosts.onLeaseLost },
    start: () => start(wing),
    addresses: () => state.edge?.addresses,
    idle: () => idle(state),
    close: () => close(wing),
  };
}

async function start(wing: Wing): Promise<void> {
  const { settings, db, log, keys, hosts, content, state } = wing;
  warnOfSharedDomain(settings, log);
  state.proofSecret = await sharedSecret(db, keys, "ownership proofs");
  await clearUnfinished(wing);
  state.edge = await openServing(wing, hosts, content.open);
  startWorkers(wing);
  startCleaning(wing);
  wake(state);
}

function wake({ workers }: State): void {
  for (const worker of workers) worker.wake();
}

/** Each worker may make work for the next, so every one is awaited as many times as there are workers. */
async function idle({ workers }: State): Promise<void> {
  for (let round = 0; round < workers.length; round++) for (const worker of workers) await worker.idle();
}

async function close({ authority, state: { edge, cleaning, workers } }: Wing): Promise<void> {
  authority?.close();
  await Promise.all([edge?.close(closeMs), ...cleaning.map((job) => job.stop()), ...workers.map((worker) => worker.stop())]);
}

/** Deletes what an earlier process of this data folder left half-written. No other process uses the folder. */
async function clearUnfinished({ db, content, localUploads }: Wing): Promise<void> {
  await clearIncoming(content.folder);
  if (db.engine === "sqlite") await localUploads.clear((name) => isUploadTaken(db, name));
}

function startWorkers(wing: Wing): void {
  const { settings, db, clock, log, announcer, node, uploads, content, checks, authority, keys, state } = wing;
  const leases = openRowLeases(node, clock);
  const onError = errorLogger(log);
  state.workers.push(
    openDeploymentWorker({ db, clock, uploads, content, announcer, leases, domains: domainsOf(wing), onError }),
    openCheckWorker({ db, clock, checks, announcer, leases, verified: () => wake(state), onError }),
  );
  if (!authority) return;
  const preflight = async (domain: StoredDomain) => (await checkDomain(checks, db, domain)).verdict;
  const budget = settings.acmeBudget;
  state.workers.push(openCertificateWorker({ db, clock, keys, authority, budget, preflight, announcer, leases, onError }));
  authority.account().catch((error: unknown) => log.warn({ err: error }, "the certificate authority cannot be used now"));
}

/** How a deployment applies the `domains` of its `petstore.json`. */
function domainsOf({ db, clock, checks, announcer }: Wing): Parameters<typeof openDeploymentWorker>[0]["domains"] {
  return async (owner, { primary, redirects }) => {
    const config = { ...(primary !== undefined && { primary }), ...(redirects !== undefined && { redirects }) };
    const apply = await prepareDomainsConfig(db, checks, owner, config, clock());
    return async (tx, now) => {
      for (const hostname of await apply(tx, now)) await announcer.publish(tx, domainChanged(hostname)); // another account may have had it
    };
  };
}

function startCleaning({ db, clock, log, blobs, state }: Wing): void {
  const onError = errorLogger(log);
  state.cleaning.push(
    repeat(cleanEveryMs, () => deleteOldUsage(db, clock()), onError),
    repeat(cleanEveryMs, () => deleteEndedHolds(db, clock()), onError),
    repeat(cleanEveryMs, () => deleteExpiredChallenges(db, clock()), onError),
    repeat(cleanEveryMs, () => deleteOldFreedSlugs(db, clock()), onError),
    repeat(cleanEveryMs, () => deleteOldLost(db, clock()), onError),
    repeat(cleanEveryMs, async () => blobs?.expire(), onError),
    repeat(auditEveryMs, async () => blobs?.noteOrphans(), onError),
  );
}

function errorLogger(log: Logger): (error: unknown) => void {
  return (error) => log.error({ err: error }, "background work failed");
}

/** Published files and uploads: in the data folder with SQLite, in the database with PostgreSQL. */
function openFiles({ settings, db, clock, bounds }: PublishingParts) {
  const blobs = db.engine === "sqlite" ? undefined : openBlobs(db, clock);
  const folder = join(settings.dataDir, "content");
  const content = blobs ? sharedContent(db, folder, blobs, settings.contentCacheMib * 1024 * 1024) : localContent(db, folder);
  const localUploads = uploadFolder(join(settings.dataDir, "uploads"));
  const uploads = openUploads(blobs ? uploadBlobs(db, blobs) : localUploads, bounds);
  return { blobs, content, localUploads, uploads };
}

function openHostMap({ settings, db, clock, log, node }: PublishingParts, keys: SecretsKeys, checks: Checks, state: State): Hosts {
  return openHosts({
    db,
    clock,
    keys,
    log,
    isLive: () => node.isLive(),
    hasAuthority: checks.authority !== null,
    platformDomain: settings.platformDomain,
    platformCertificate: settings.edgeCert === "" ? null : { cert: settings.edgeCert, key: settings.edgeKey },
    drop: (name) => state.edge?.dropHost(name),
  });
}

/** Browsers do not separate two sites of one registrable domain as they separate two domains (specification 6.6). */
function warnOfSharedDomain({ platformDomain, publicUrl }: Settings, log: Logger): void {
  const shared = sharedDomain({ platformDomain, publicHost: new URL(publicUrl).hostname });
  if (shared === null) return;
  log.warn(`PUBLIC_URL and PLATFORM_DOMAIN share ${shared}: published projects can set cookies that the dashboard gets. Use two domains.`);
}

function notStarted(): never {
  throw new Problem("unavailable", "The service is starting.", { headers: { "retry-after": "1" } });
}

function openVerification({ settings, db, clock }: PublishingParts, keys: SecretsKeys, proofSecret: () => Uint8Array) {
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
          },
        });
  const servers = settings.dnsServers.length > 0 ? settings.dnsServers : getServers();
  const checks: Checks = {
    dns: createDns({ servers }),
    quickDns: createDns({ servers: servers.slice(0, 1), timeoutMs: quickTimeoutMs, tries: 1 }),
    own: { platformDomain: settings.platformDomain, publicHost: new URL(settings.publicUrl).hostname },
    proofSecret,
    authority: authority
      ? { caa: () => ({ identities: authority.caaIdentities(), accountUrl: authority.accountUrl() }), requestCertificate }
      : null,
  };
  return { authority, checks };
}

async function openServing({ settings, clock, log, bounds, connections }: PublishingParts, hosts: Hosts, openForm: OpenContent) {
  const { host, edgeHttpPort, edgeHttpsPort, edgePublicHttpPort, edgePublicHttpsPort } = settings;
  return openEdge({
    http: { host, port: edgeHttpPort, ...(edgePublicHttpPort !== 0 && { publicPort: edgePublicHttpPort }) },
    https: { host, port: edgeHttpsPort, ...(edgePublicHttpsPort !== 0 && { publicPort: edgePublicHttpsPort }) },
    sites: hosts.sites,
    platformDomain: settings.platformDomain,
    hstsSeconds: hosts.hstsSeconds,
    certificates: hosts.certificates,
    challenges: hosts.challenges,
    openContent: openForm,
    trustedProxies: settings.trustedProxies,
    bounds,
    limits: connections,
    log,
    clock,
  });
}

/** The origins of published projects. Those of the platform are HTTPS if the operator has set a certificate for it. */
function originsOf({ platformDomain, edgeCert, edgePublicHttpPort, edgePublicHttpsPort }: Settings, edge: Edge | undefined): Origins {
  const { http, https } = edge?.addresses ?? notStarted();
  const originOf = (host: string, isSecure: boolean): string => {
    const port = isSecure ? edgePublicHttpsPort || https?.port : edgePublicHttpPort || http.port;
    const suffix = port === (isSecure ? 443 : 80) ? "" : `:${port}`;
    return `${isSecure ? "https" : "http"}://${host}${suffix}`;
  };
  return { ofSlug: (slug) => originOf(`${slug}.${platformDomain}`, edgeCert !== ""), ofDomain: originOf };
}

/** 32 bytes that all nodes share. The first node makes them. */
async function sharedSecret(db: Database, keys: SecretsKeys, name: string): Promise<Buffer> {
  const fresh = encryptSecret(keys, randomBytes(32).toString("base64"), name);
  return Buffer.from(decryptSecret(keys, await db.write((tx) => keepSecret(tx, name, fresh)), name), "base64");
}
