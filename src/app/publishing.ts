import { X509Certificate } from "node:crypto";
import type { Server } from "node:http";
import { join } from "node:path";
import { requireKnownKeys } from "../administration/secrets-rotation.ts";
import type { repeat } from "../platform/jobs/runs.ts";
import type { Worker } from "../platform/jobs/worker.ts";
import type { Logger } from "../platform/log.ts";
import type { Change } from "../platform/nodes/nodes.ts";
import { type Authority, openAuthority } from "../publishing/certificates/authority.ts";
import { deleteOldUsage } from "../publishing/certificates/budget.ts";
import { openCertificateWorker } from "../publishing/certificates/certificate-worker.ts";
import { deleteEndedHolds, deleteExpiredChallenges } from "../publishing/certificates/certificates.store.ts";
import { caaProblem } from "../publishing/dns/dns.ts";
import { parseHostname, sharedDomain } from "../publishing/dns/hostnames.ts";
import { createDns, type Dns } from "../publishing/dns/lookup.ts";
import { type Checks, openCheckWorker, openTroublesWorker } from "../publishing/domains/checks.ts";
import { prepareDomainsConfig } from "../publishing/domains/domain-claims.ts";
import { projectNames } from "../publishing/domains/domain-operations.ts";
import { domainChanged } from "../publishing/domains/domains.ts";
import { deleteOldLost } from "../publishing/domains/lost-domains.store.ts";
import { readProofSecret } from "../publishing/domains/ownership.store.ts";
import { sendsHsts } from "../publishing/domains/serving.ts";
import type { Edge } from "../publishing/edge/edge.ts";
import type { KeyPair } from "../publishing/edge/site.ts";
import { type Hosts, openHosts } from "../publishing/hosts/host-map.ts";
import { openPhotoUploads } from "../publishing/photos/photo-uploads.ts";
import { findForm } from "../publishing/photos/photos.store.ts";
import { photoPath } from "../publishing/photos/photos.ts";
import { clearIncoming } from "../publishing/projects/content.ts";
import { type DeploymentContext, openDeploymentWorker } from "../publishing/projects/deployment-worker.ts";
import { isUploadTaken } from "../publishing/projects/deployments.store.ts";
import { deleteOldFreedSlugs } from "../publishing/projects/projects.store.ts";
import { openBlobs } from "../publishing/projects/shared-bytes.ts";
import { localContent, sharedContent } from "../publishing/projects/shared-content.ts";
import { openUploads, uploadBlobs, uploadFolder } from "../publishing/projects/uploads.ts";
import type { AnswerReservation } from "../publishing/storefront/reservations.ts";
import type { RenderStorefront } from "../publishing/storefront/storefront.ts";
import type { AppContext } from "./context.ts";
import { type EdgeSide, notStarted, openServing, originsOf, ownHostOf, platformCertificateOf } from "./edge.ts";
import { type ContentWatch, watchContent } from "./health.ts";
import type { PublishingServices } from "./operations.ts";
import type { Settings } from "./settings.ts";
import { logosOf } from "./storefront.ts";
import type { Tracing } from "./tracing.ts";

const cleanEveryMs = 60_000;
const auditEveryMs = 60 * 60_000;
const closeMs = 5_000;
/** The same if the edge also answers the API's host, whose requests may take longer. */
const closeOwnMs = 10_000;

export type Publishing = {
  services: PublishingServices;
  /** Remembers published files that are missing. */
  content: ContentWatch;
  /** When (ms) the certificate of the names below the platform domain expires; undefined without one. */
  platformCertificateExpiry(): number | undefined;
  /** The host map of this process, which its node updates as changes arrive. */
  sites: { applyChange(change: Change | undefined): Promise<void>; onLeaseLost(): void };
  /** Opens the edge, which passes the API's own host to its server, and starts the workers. The database must be ready. Rejects if a port is taken. */
  start(apiServer: Server): Promise<void>;
  /** Where published projects are served; undefined before the start. */
  addresses(): Edge["addresses"] | undefined;
  /** Resolves when no deployment waits to be unpacked, no domain to be checked and no certificate to be ordered. */
  idle(): Promise<void>;
  /** Uses another certificate for the names below the platform domain. */
  setPlatformCertificate(pair: KeyPair | null): void;
  /** Makes each further answer of the edge close its connection. */
  retire(): void;
  close(): Promise<void>;
};

/** The parts that change while the subsystem runs. */
type State = {
  proofSecret: Buffer | undefined;
  /** Whether the names below the platform domain have a certificate. */
  hasCertificate: boolean;
  /** When (ms) the platform's certificate expires; undefined without one. */
  certificateExpiry: number | undefined;
  edge: Edge | undefined;
  workers: Worker[];
  cleaning: ReturnType<typeof repeat>[];
};

type Subsystem = AppContext &
  EdgeSide &
  ReturnType<typeof openFiles> &
  ReturnType<typeof openVerification> & { hosts: Hosts; state: State; shown: ReturnType<typeof openShown> };

/** Opens the publishing subsystem: settings → secrets → host map → edge → workers, and what its operations need. */
export function openPublishing(context: AppContext, edgeSide: EdgeSide): Publishing {
  const { settings, announcer } = context;
  const state: State = {
    proofSecret: undefined,
    hasCertificate: settings.edgeCert !== "",
    certificateExpiry: expiryOf(platformCertificateOf(settings)),
    edge: undefined,
    workers: [],
    cleaning: [],
  };
  const verification = openVerification(context, () => state.proofSecret ?? notStarted());
  const hosts = openHostMap(context, verification.checks, state);
  const shown = openShown(context, state);
  const subsystem: Subsystem = { ...context, ...edgeSide, ...openFiles(context), ...verification, hosts, state, shown };
  const { checks, uploads, photos, watch } = subsystem;
  const logos = logosOf(photos, watch.open);
  return {
    services: {
      namesOf: (tx, projects, now) => projectNames(tx, checks, originsOf(settings, state), projects, now),
      uploads,
      deploymentsKept: settings.deploymentsKept,
      urlOfDeployment: (id, slug) => originsOf(settings, state).ofDeployment(id, slug),
      checks,
      wake: () => wake(state),
      announcer,
      sendsHsts: sendsHsts(settings),
      logos,
      preview: async (previewed) => {
        const { previewOf } = await import("../publishing/projects/storefront-preview.ts");
        const photosOrigin = originsOf(settings, state).ofPhotos();
        return previewOf({ renderStorefront: shown.renderStorefront, read: logos.read, photosOrigin }, previewed);
      },
      photos: { ...photos, urlOf: (form) => originsOf(settings, state).ofPhotos() + photoPath(form), outlinesOf },
    },
    content: subsystem.watch,
    platformCertificateExpiry: () => state.certificateExpiry,
    sites: { applyChange: hosts.applyChange, onLeaseLost: hosts.onLeaseLost },
    start: (apiServer) => start(subsystem, apiServer),
    addresses: () => state.edge?.addresses,
    idle: () => idle(state),
    setPlatformCertificate: (pair) => {
      hosts.setPlatformCertificate(pair);
      state.hasCertificate = pair !== null;
      state.certificateExpiry = expiryOf(pair);
    },
    retire: () => state.edge?.retire(),
    close: () => close(subsystem),
  };
}

/** The outlines are loaded with the first list of the dashboard, or page of a storefront. */
async function outlinesOf(words: readonly string[]): Promise<string[]> {
  const { outlineOf } = await import("../publishing/storefront/silhouettes.ts");
  return words.map(outlineOf);
}

function expiryOf(pair: KeyPair | null): number | undefined {
  return pair === null ? undefined : new X509Certificate(pair.cert).validToDate.getTime();
}

async function start(wing: Subsystem, apiServer: Server): Promise<void> {
  const { settings, db, log, keys, hosts, watch, state } = wing;
  warnOfSharedDomain(settings, log);
  await requireKnownKeys(db, keys);
  state.proofSecret = await readProofSecret(db, keys);
  await clearUnfinished(wing);
  state.edge = await openServing(wing, { ...wing.shown, onPageView: wing.onPageView }, hosts, watch.open, apiServer);
  startWorkers(wing);
  startCleaning(wing);
  wake(state);
}

/** Finds photos and renders storefronts for the edge and for previews. The renderer is loaded for the first page. */
function openShown({ db, clock, bounds }: Pick<AppContext, "db" | "clock" | "bounds">, state: State) {
  const load = async (): Promise<RenderStorefront> => {
    const [{ openRenderer }, { openCatalogue }] = await Promise.all([
      import("../publishing/storefront/renderer.ts"),
      import("./storefront.ts"),
    ]);
    return openRenderer(openCatalogue(db), clock, bounds);
  };
  let loaded: Promise<RenderStorefront> | undefined;
  const renderStorefront: RenderStorefront = async (...page) => (await (loaded ??= load()))(...page);
  const loadForms = async (): Promise<AnswerReservation> => {
    const [{ openReservations }, { openCatalogue }, { openReservationDesk }] = await Promise.all([
      import("../publishing/storefront/reservations.ts"),
      import("./storefront.ts"),
      import("./reservation-desk.ts"),
    ]);
    return openReservations(openReservationDesk(db, openCatalogue(db), clock), () => state.proofSecret ?? notStarted(), clock);
  };
  let loadedForms: Promise<AnswerReservation> | undefined;
  const answerForm: AnswerReservation = async (...page) => (await (loadedForms ??= loadForms()))(...page);
  return {
    forms: { answer: answerForm, places: bounds.queue<string>("forms") },
    findPhoto: (photo: { hash: string; type: string }, accountId: number | undefined) => findForm(db, photo, accountId),
    renderStorefront,
  };
}

function wake({ workers }: State): void {
  for (const worker of workers) worker.wake();
}

/** Each worker may make work for the next, so every one is awaited as many times as there are workers. */
async function idle({ workers }: State): Promise<void> {
  for (let round = 0; round < workers.length; round++) for (const worker of workers) await worker.idle();
}

async function close({ settings, authority, state: { edge, cleaning, workers } }: Subsystem): Promise<void> {
  authority?.close();
  await Promise.all([
    edge?.close(settings.publicUrlCertificate ? closeOwnMs : closeMs),
    ...cleaning.map((job) => job.stop()),
    ...workers.map((worker) => worker.stop()),
  ]);
}

/** Deletes half-written files of an earlier process. No other process uses the data folder. */
async function clearUnfinished({ db, content, localUploads }: Subsystem): Promise<void> {
  await clearIncoming(content.folder);
  if (db.engine === "sqlite") await localUploads.clear((name) => isUploadTaken(db, name));
}

function startWorkers(wing: Subsystem): void {
  const { settings, db, clock, uploads, content, checks, authority, state, onError } = wing;
  state.workers.push(
    openDeploymentWorker(wing, { uploads, content, kept: settings.deploymentsKept, domains: domainsOf(wing) }),
    openCheckWorker(wing, checks, () => wake(state)),
    openTroublesWorker({ db, clock, onError }),
  );
  const certificates = openCertificates(wing, checks, authority);
  if (certificates) state.workers.push(certificates);
}

/** How a deployment applies the `domains` of its `petstore.json`. */
function domainsOf({ db, clock, checks, announcer }: Subsystem): DeploymentContext["domains"] {
  return async (owner, { primary, redirects }) => {
    const config = { ...(primary !== undefined && { primary }), ...(redirects !== undefined && { redirects }) };
    const apply = await prepareDomainsConfig(db, checks, owner, config, clock());
    return async (tx, now) => {
      for (const hostname of await apply(tx, now)) await announcer.publish(tx, domainChanged(hostname)); // another account may have had it
    };
  };
}

function startCleaning({ db, sweep, blobs, state }: Subsystem): void {
  state.cleaning.push(
    sweep(cleanEveryMs, (now) => deleteOldUsage(db, now)),
    sweep(cleanEveryMs, (now) => deleteEndedHolds(db, now)),
    sweep(cleanEveryMs, (now) => deleteExpiredChallenges(db, now)),
    sweep(cleanEveryMs, (now) => deleteOldFreedSlugs(db, now)),
    sweep(cleanEveryMs, (now) => deleteOldLost(db, now)),
    sweep(cleanEveryMs, async (now) => blobs?.expire(now)),
    sweep(auditEveryMs, async (now) => blobs?.noteOrphans(now)),
  );
}

/** Published files and uploads: in the data folder with SQLite, in the database with PostgreSQL. */
function openFiles({ settings, db, clock, log, bounds }: AppContext) {
  const blobs = db.engine === "sqlite" ? undefined : openBlobs(db, clock);
  const folder = join(settings.dataDir, "content");
  const content = blobs
    ? sharedContent(db, folder, blobs, settings.contentCacheMib * 1024 * 1024, bounds)
    : localContent(db, folder, bounds);
  const localUploads = uploadFolder(join(settings.dataDir, "uploads"));
  const uploads = openUploads(blobs ? uploadBlobs(db, blobs) : localUploads, bounds);
  const photos = openPhotoUploads({ db, bounds, log }, content);
  return { blobs, content, watch: watchContent(content.open), localUploads, uploads, photos };
}

function openHostMap({ settings, db, clock, keys, log, node }: AppContext, checks: Checks, state: State): Hosts {
  return openHosts({
    db,
    clock,
    keys,
    log,
    isLive: () => node.isLive(),
    hasAuthority: checks.authority !== null,
    platformDomain: settings.platformDomain,
    serviceHost: ownHostOf(settings),
    platformCertificate: platformCertificateOf(settings),
    drop: (name) => state.edge?.dropHost(name),
  });
}

/** Browsers do not separate two sites of one registrable domain as they separate two domains (specification 6.6). */
function warnOfSharedDomain({ platformDomain, publicUrl }: Settings, log: Logger): void {
  const shared = sharedDomain({ platformDomain, publicHost: new URL(publicUrl).hostname });
  if (shared === null) return;
  log.warn(`PUBLIC_URL and PLATFORM_DOMAIN share ${shared}: published projects can set cookies that the dashboard gets. Use two domains.`);
}

/** How long a removal waits for DNS, to warn of a record that still exists. After that, it returns without a warning. */
const quickTimeoutMs = 3_000;

/** Opens the checks of domains and, if the operator has chosen one, the certificate authority. */
function openVerification({ settings, db, clock, keys, bounds, tracing }: AppContext, proofSecret: () => Uint8Array) {
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
function openCertificates(context: AppContext, checks: Checks, authority: Authority | undefined): Worker | undefined {
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
