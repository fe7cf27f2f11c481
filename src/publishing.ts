import { randomBytes } from "node:crypto";
import { getServers } from "node:dns";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "./platform/clock.ts";
import type { Database } from "./platform/db/database.ts";
import type { Operation } from "./platform/http/operation.ts";
import type { Changes } from "./platform/jobs/changes.ts";
import { repeat } from "./platform/jobs/repeat.ts";
import type { Worker } from "./platform/jobs/worker.ts";
import type { Logger } from "./platform/log.ts";
import { Problem } from "./platform/problem.ts";
import { openAuthority, type Authority } from "./publishing/certificates/authority.ts";
import { forgetOld, keepSecret } from "./publishing/certificates/certificates.store.ts";
import { openIssuing } from "./publishing/certificates/issuing.ts";
import { decryptSecret, encryptSecret, newSecretsKey, parseSecretsKeys, type SecretsKeys } from "./publishing/certificates/secrets.ts";
import { prepareConfig } from "./publishing/domains/attaching.ts";
import { openChecking } from "./publishing/domains/checking.ts";
import { openChecks, type Checks } from "./publishing/domains/checks.ts";
import { domainRoutes } from "./publishing/domains/domains.routes.ts";
import { releaseDomains } from "./publishing/domains/domains.store.ts";
import { sharedDomain } from "./publishing/domains/hostnames.ts";
import { createDns } from "./publishing/domains/lookup.ts";
import { openEdge, type Edge } from "./publishing/edge/edge.ts";
import { openHosts } from "./publishing/hosts/host-map.ts";
import { clearIncoming, contentPath } from "./publishing/projects/content.ts";
import { openDeploying } from "./publishing/projects/deploying.ts";
import { deploymentRoutes } from "./publishing/projects/deployments.routes.ts";
import { isUploadTaken, releaseDeployments } from "./publishing/projects/deployments.store.ts";
import { projectRoutes } from "./publishing/projects/projects.routes.ts";
import { openUploads } from "./publishing/projects/uploads.ts";
import type { Settings } from "./settings.ts";

const cleanEveryMs = 60_000;
/** A removal waits this long for DNS, to warn of a record that is still there. */
const quickTimeoutMs = 400;
const closeMs = 5_000;

export type Publishing = {
  operations: Operation[];
  /** Reads what is published, opens the edge and begins to work; the database has to answer. Rejects where a port is taken. */
  start(): Promise<void>;
  /** Where published projects are served; undefined before the start. */
  addresses(): Edge["addresses"] | undefined;
  /** Resolves when nothing is due: no deployment to unpack, no domain to check, no certificate to order. */
  idle(): Promise<void>;
  close(): Promise<void>;
};

export type PublishingParts = { settings: Settings; db: Database; clock: Clock; log: Logger; changes: Changes };

/** The publishing wing: settings → secrets → host map → edge → workers, and the operations of projects and domains. */
export function openPublishing(parts: PublishingParts): Publishing {
  const { settings, db, clock, log, changes } = parts;
  const onError = (error: unknown): void => log.error({ err: error }, "background work failed");
  const keys = secretsKeysOf(settings);
  const contentFolder = join(settings.dataDir, "content");
  const uploads = openUploads(join(settings.dataDir, "uploads"));
  const { announce } = changes;
  let proofSecret: Buffer | undefined;
  const { authority, checks } = openVerification(settings, db, clock, keys, () => proofSecret ?? notStarted());
  let edge: Edge | undefined;
  const workers: Worker[] = [];
  const wake = (): void => workers.forEach((worker) => worker.wake());
  let cleaning: ReturnType<typeof repeat> | undefined;

  async function start(): Promise<void> {
    warnOfSharedDomain(settings, log);
    proofSecret = await sharedSecret(db, keys, "ownership proofs");
    await takeUpAfterStop();
    edge = await openServing(parts, keys, await sharedSecret(db, keys, "session tickets"), contentFolder);
    const domains: Parameters<typeof openDeploying>[0]["domains"] = async (owner, { primary, redirects }) =>
      prepareConfig(db, checks, owner, { ...(primary !== undefined && { primary }), redirects });
    workers.push(
      openDeploying({ db, clock, uploads, contentFolder, announce, domains, onError }),
      openChecking({ db, clock, checks, announce, verified: wake, onError }),
    );
    if (authority) {
      const preflight = async (domain: Parameters<Checks["check"]>[1]) => (await checks.check(db, domain)).verdict;
      workers.push(openIssuing({ db, clock, keys, authority, budget: settings.acmeBudget, preflight, announce, onError }));
      authority.account().catch((error: unknown) => log.warn({ err: error }, "the certificate authority cannot be used now"));
    }
    cleaning = repeat(cleanEveryMs, () => db.write((tx) => forgetOld(tx, clock())), onError);
    wake();
  }

  /** With the embedded database no other process is at work: what is leased or half written was left by one that died. */
  async function takeUpAfterStop(): Promise<void> {
    if (db.engine !== "sqlite") return;
    await db.write(async (tx) => {
      await releaseDeployments(tx);
      await releaseDomains(tx);
    });
    await clearIncoming(contentFolder);
    await uploads.clear((name) => isUploadTaken(db, name));
  }

  return {
    operations: [
      ...projectRoutes({ origin: (slug) => originOf(settings, edge, slug), announce }),
      ...deploymentRoutes({ uploads, wake, announce }),
      ...domainRoutes({ checks, wake, announce }),
    ],
    start,
    addresses: () => edge?.addresses,
    idle: async () => {
      // What one has done may be work for the next, all the way through.
      for (let round = 0; round < workers.length; round++) for (const worker of workers) await worker.idle();
    },
    close: async () => {
      authority?.close();
      await Promise.all([edge?.close(closeMs), cleaning?.stop(), ...workers.map((worker) => worker.stop())]);
    },
  };
}

/** Two sites of one registrable domain are not kept apart by browsers as two domains are (decisions, part 0). */
function warnOfSharedDomain({ platformDomain, publicUrl }: Settings, log: Logger): void {
  const shared = sharedDomain({ platformDomain, publicHost: new URL(publicUrl).hostname });
  if (shared === null) return;
  log.warn(`PUBLIC_URL and PLATFORM_DOMAIN share ${shared}: published projects can set cookies that the dashboard gets. Use two domains.`);
}

function notStarted(): never {
  throw new Problem("unavailable", "The service is starting.", { headers: { "retry-after": "1" } });
}

/** The operations as the description shows them: none of their parts is used. */
export function describedOperations(): Operation[] {
  const announce = (): Promise<void> => Promise.resolve();
  const wake = (): void => undefined;
  const dns = createDns({ servers: ["127.0.0.1"] });
  const own = { platformDomain: "petstore.localhost", publicHost: "localhost" };
  const checks = openChecks({
    dns,
    quickDns: dns,
    own,
    proofSecret: () => Buffer.alloc(0),
    caaIdentities: () => null,
    hasAuthority: false,
  });
  return [
    ...projectRoutes({ origin: (slug) => `http://${slug}.${own.platformDomain}`, announce }),
    ...deploymentRoutes({ uploads: openUploads(""), wake, announce }),
    ...domainRoutes({ checks, wake, announce }),
  ];
}

function openVerification(settings: Settings, db: Database, clock: Clock, keys: SecretsKeys, proofSecret: () => Uint8Array) {
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
  const checks = openChecks({
    dns: createDns({ servers }),
    quickDns: createDns({ servers: servers.slice(0, 1), timeoutMs: quickTimeoutMs, tries: 1 }),
    own: { platformDomain: settings.platformDomain, publicHost: new URL(settings.publicUrl).hostname },
    proofSecret,
    caaIdentities: () => authority?.caaIdentities() ?? null,
    hasAuthority: authority !== undefined,
  });
  return { authority, checks };
}

async function openServing(
  { settings, db, clock, log, changes }: PublishingParts,
  keys: SecretsKeys,
  ticketSecret: Buffer,
  contentFolder: string,
) {
  const { host, edgeHttpPort, edgeHttpsPort, edgePublicHttpPort, edgePublicHttpsPort, edgeCert, edgeKey } = settings;
  const opened: { edge?: Edge } = {};
  const hosts = await openHosts({
    db,
    keys,
    platformDomain: settings.platformDomain,
    platformCertificate: edgeCert === "" ? null : { cert: edgeCert, key: edgeKey },
    drop: (name) => opened.edge?.dropHost(name),
  });
  changes.listen(hosts.take);
  opened.edge = await openEdge({
    http: { host, port: edgeHttpPort, ...(edgePublicHttpPort !== 0 && { publicPort: edgePublicHttpPort }) },
    https: { host, port: edgeHttpsPort, ...(edgePublicHttpsPort !== 0 && { publicPort: edgePublicHttpsPort }) },
    sites: hosts.sites,
    certificates: hosts.certificates,
    challenges: hosts.challenges,
    contentPath: (hash, encoding) => contentPath(contentFolder, hash, encoding),
    ticketSecret,
    trustedProxies: settings.trustedProxies,
    log,
    clock,
  });
  return opened.edge;
}

/** Where a slug is served: over HTTPS where the operator has given a certificate for it. */
function originOf({ platformDomain, edgeCert, edgePublicHttpPort, edgePublicHttpsPort }: Settings, edge: Edge | undefined, slug: string) {
  const secure = edgeCert !== "";
  const { http, https } = edge?.addresses ?? notStarted();
  const port = secure ? edgePublicHttpsPort || https?.port : edgePublicHttpPort || http.port;
  const suffix = port === (secure ? 443 : 80) ? "" : `:${port}`;
  return `${secure ? "https" : "http"}://${slug}.${platformDomain}${suffix}`;
}

/** `SECRETS_KEY`, or the one that the first start made, readable by its owner alone. */
function secretsKeysOf({ secretsKey, dataDir }: Settings): SecretsKeys {
  if (secretsKey !== null) return secretsKey;
  const path = join(dataDir, "secrets.key");
  if (!existsSync(path)) writeFileSync(path, `${newSecretsKey()}\n`, { mode: 0o600, flag: "wx" });
  return parseSecretsKeys(readFileSync(path, "utf8").trim());
}

/** 32 bytes that all nodes share, made by the first. */
async function sharedSecret(db: Database, keys: SecretsKeys, name: string): Promise<Buffer> {
  const fresh = encryptSecret(keys, randomBytes(32).toString("base64"), name);
  return Buffer.from(decryptSecret(keys, await db.write((tx) => keepSecret(tx, name, fresh)), name), "base64");
}
