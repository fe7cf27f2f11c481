import { uptime as systemUptime } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { type Administration, logCommand, openAdministration } from "../administration/administration.ts";
import { openSecrets, type Secrets } from "../administration/secrets-file.ts";
import { openGate } from "../callers/gate.ts";
import { openKeyVerifier } from "../callers/keys/verify.ts";
import { openLimitRecorder } from "../callers/limits/limit-recorder.ts";
import { openDashboardGate } from "../callers/members/gate.ts";
import { passkeyWarning } from "../callers/members/passkeys.store.ts";
import type { HashCost } from "../callers/members/passwords.ts";
import { openUsageRecorder } from "../callers/usage/recorder.ts";
import { openRequestLog } from "../callers/usage/request-recorder.ts";
import type { Feed } from "../events/log/feed.ts";
import { openTrimming } from "../events/log/trimming.ts";
import { type Bounds, openBounds, type QueueLimits } from "../platform/bounds.ts";
import { type Clock, type NowRange, openNowRange, systemClock, systemTimer, type Timer } from "../platform/clock.ts";
import { connectionLimits, type ConnectionLimits, guardConnections } from "../platform/connections.ts";
import { stopping, type Database } from "../platform/db/database.ts";
import type { App } from "../platform/http/app.ts";
import { boundRequests, requestLimits, type RequestLimits } from "../platform/http/request-bounds.ts";
import { repeat } from "../platform/jobs/runs.ts";
import { openSweep } from "../platform/jobs/sweep.ts";
import { originAt, requireFree } from "../platform/listening.ts";
import type { Logger, OpenLog } from "../platform/log.ts";
import { heartbeatEveryMs, type Node, openRowLeases } from "../platform/nodes/nodes.ts";
import type { Rewinds } from "../platform/nodes/rewinds.ts";
import { replaceable } from "../platform/parse.ts";
import { idsOf } from "../platform/secrets.ts";
import { openSocket } from "../platform/socket.ts";
import { openSteadyClock, type SteadyClock } from "../platform/steady-clock.ts";
import { photosHost } from "../publishing/photos/photos.ts";
import { openPageViews } from "../publishing/storefront/page-view-counter.ts";
import { openApi, openDashboard } from "./api.ts";
import { openClusterNode } from "./cluster-node.ts";
import type { AppContext } from "./context.ts";
import { platformCertificateOf } from "./edge.ts";
import { eventServices, openEvents, openWebhooks, type Webhooks } from "./events.ts";
import { type FirstStart, openFirstStart } from "./first-start.ts";
import { noteStorageFault } from "./health.ts";
import { startImports } from "./imports.ts";
import { startJobs } from "./jobs.ts";
import { type LimiterHandle, openLimiter, type RedisTiming } from "./limiter.ts";
import { type Observation, openObserving } from "./observing.ts";
import { openPublishing, type Publishing } from "./publishing.ts";
import { placesOf, type Settings } from "./settings.ts";
import { lastWrittenAt, logUpgrade, openStorage, socketPath, type Storage } from "./storage.ts";
import { readWeb } from "./web.ts";

const lockWaitMs = 2_000;
/** How long requests in flight may take after the service was asked to stop. */
export const stopMs = 10_000;

export type Service = {
  app: App;
  db: Database;
  administration: Administration;
  firstStart: FirstStart;
  publishing: Publishing;
  /** Reports which accounts' logs have new events. */
  feed: Feed;
  /** The origin that it listens at: `http://127.0.0.1:8080`. */
  address: string;
  /** Resolves when the service takes requests, which may have to wait for the database; rejects if it never will. */
  ready: Promise<void>;
  /** Applies TRUSTED_PROXIES, METRICS, EDGE_CERT_FILE and EDGE_KEY_FILE. The other settings that a reload applies are the caller's. */
  reload(settings: Settings): void;
  /**
   * Makes `/readyz` report that this node is about to stop, and goes on serving for `ms`, if it was ready. In the second half each answer
   * closes its connection, so that clients connect to another node.
   */
  drain(ms: number): Promise<void>;
  /** Finishes the requests in flight, then closes everything. */
  close(): Promise<void>;
};

export type ServiceOptions = {
  clock: Clock;
  /** A clock that is never adjusted. Default: the system's. */
  timer?: Timer | undefined;
  log: Logger;
  /** Where the edge's access log is written. Default: nowhere. */
  logOutput?: Pick<OpenLog, "add" | "lost"> | undefined;
  redis?: RedisTiming | undefined;
  /** Overrides the bounds of the connections to the API and to the edge. */
  connections?: Partial<ConnectionLimits> | undefined;
  /** Called once when the disk fails to flush the embedded database's log: the process should exit and be started again. */
  onFlushFailed?: ((error: unknown) => void) | undefined;
  /** Overrides the bounds of the requests in flight. */
  requests?: Partial<RequestLimits> | undefined;
  /** Overrides the bounds of the queues. */
  queues?: QueueLimits | undefined;
  /** What hashing a password costs. Default: what OWASP asks for. */
  hashCost?: HashCost | undefined;
};

/** Shared by the steps that open a service. `opened` closes everything that they open, in reverse order. */
type StartContext = {
  settings: Settings;
  options: ServiceOptions;
  storage: Storage & { rewinds: Rewinds | undefined };
  feed: Feed;
  secrets: Secrets;
  opened: AsyncDisposableStack;
  observing: Observation;
  changing: ReloadableLists;
  nowRange: () => NowRange;
  state: State;
  steadyClock: SteadyClock;
};

/**
 * The composition root: settings → parts → listen → stop. The only place that knows every part. The service listens even before PostgreSQL
 * answers; until then it answers `unavailable`.
 *
 * @throws if another process holds the data folder, if the data is newer than this program, or if a port is taken
 */
export async function openService(settings: Settings, given: ServiceOptions): Promise<Service> {
  const steadyClock = steadyClockOf(settings, given);
  const options = { ...given, clock: steadyClock.now };
  const { clock, log } = options;
  await using opened = new AsyncDisposableStack();
  const observing = await openObserving(settings, options, opened);
  const { tracing, onError, onVisit } = observing;
  const bounds = openBounds(options.queues);
  const around = { ...observing, bounds, comparesClock: given.clock === systemClock };
  const { storage, feed } = await openStore(settings, options, around, opened);
  await requireFree(placesOf(settings));
  const { db } = storage;
  const secrets = openSecrets(settings);
  const changing = { trustedProxies: replaceable(settings.trustedProxies), metricsFrom: replaceable(settings.metricsFrom) };
  const nowRange = openNowRange(clock, options.timer ?? systemTimer);
  const state: State = { isReady: false, isDraining: false, isClosing: false, publishingStarts: undefined, stops: [] };
  const opening: StartContext = { settings, options, storage, feed, secrets, opened, observing, changing, nowRange, state, steadyClock };
  const callers = await openCallers(opening);
  const { node, announcer, verifier, counting, onPageView } = callers;
  const { limiter } = counting;
  const { publicUrl, acmeDirectoryUrl: directoryUrl } = settings;
  const administered = { db, clock, verifier, limiter, announcer, publicUrl, directoryUrl, ports: settings, secrets: () => secrets };
  const administration = openAdministration(administered);
  const firstStart = openFirstStart(storage, clock, settings);
  const trustedProxies = changing.trustedProxies.list;
  const shared = { db, clock, log, keys: secrets.keys, node, announcer, leases: openRowLeases(node, clock), bounds, onError };
  const context: AppContext = { ...shared, sweep: openSweep(storage.heartbeat, steadyClock, onError), settings, tracing };
  const publishing = openPublishing(context, { trustedProxies, connections: limitsOf(opening), onVisit, onPageView });
  const webhooks = openWebhooks(context, feed, storage.rewinds);
  const trimming = openTrimming(db, clock, feed);
  callers.attachCaches({ keys: verifier, sites: publishing.sites, webhooks: webhooks.worker, logs: trimming });
  const app = await openHttp(context, opening, callers, { firstStart, publishing, webhooks });

  const heartbeat = repeat(heartbeatEveryMs, () => node.heartbeat(), onError);
  opened.defer(() => heartbeat.stop()); // after the work in progress, which may wait for this node
  state.stops.push(
    () => closeWithin(app, stopMs),
    () => closePublishing(publishing, state),
    () => webhooks.worker.stop(),
  );
  opened.defer(() => stopWork(state, onError));
  const socket = await openSocket(socketPath(settings), administration, onError, (called) => logCommand(log, called));
  state.stops.push(() => socket.close());
  const ready = startSubsystems(opening, { node, counting }, { publishing, webhooks }, app, state);
  ready.catch(() => undefined); // callers that await `ready` see the error
  if (db.engine === "sqlite") await ready;
  const address = await listen(app, settings);
  const jobs = startJobs(context, { ...callers, nowRange, firstStart, trimming });
  const imports = startImports(context, publishing.services.photos, webhooks.fetches);
  state.stops.push(...[...jobs, imports].map((job) => () => job.stop()));
  const running = opened.move();
  const parts = { app, db, administration, firstStart, publishing, feed, address, ready };
  return {
    ...parts,
    reload: (next) => reload(next, changing, publishing),
    drain: (ms) => drain(ms, app, publishing, state),
    close: () => running.disposeAsync(),
  };
}

/** The clock of the process. A clock that a test moves is its own monotonic one. */
function steadyClockOf(settings: Settings, { clock, timer }: Pick<ServiceOptions, "clock" | "timer">): SteadyClock {
  const [monotonic, isSystems] = [timer ?? systemTimer, clock === systemClock];
  const uptime = timer ?? ((): number => systemUptime() * 1_000);
  const steady = openSteadyClock({ clock, timer: monotonic, uptime, lastWrittenAt: isSystems ? lastWrittenAt(settings) : undefined });
  return isSystems ? steady : { ...steady, check: () => steady.check(undefined) }; // a given clock has its own time
}

/** Opens the database and the log of events in it. */
async function openStore(
  settings: Settings,
  options: ServiceOptions,
  { faults, onError, bounds, comparesClock }: Observation & { bounds: Bounds; comparesClock: boolean },
  opened: AsyncDisposableStack,
) {
  const { clock, log, onFlushFailed } = options;
  const events = openEvents(settings, onError);
  const rewinds = await openRewindsOf(settings, faults, opened);
  const stored = await openStorage(settings, "petstore serve", lockWaitMs, {
    clock,
    bounds,
    onEvents: events.onEvents,
    onError: (error) => log.warn({ err: error }, "a connection to the database broke"),
    onAway: (reason, nextMs) => log.warn({ nextMs }, `${reason}; trying again`),
    onUpgradeStep(line) {
      log.info(line);
      log.flush(); // the step may block the thread
    },
    onUpgraded: (upgrade) => logUpgrade(log, upgrade),
    onClockBehind: comparesClock ? (line) => log.warn(line) : undefined,
    onFlushFailed,
    onFault: (fault, error) => noteStorageFault(faults, fault, error),
    checkWriter: rewinds && ((session) => rewinds.check(session)),
  });
  opened.defer(() => stored.close());
  const storage = { ...stored, rewinds, db: rewinds ? stored.db.around(rewinds.around) : stored.db };
  events.start(storage, opened);
  return { storage, feed: events.feed };
}

/** Opens the watch on a PostgreSQL that goes back in time; undefined with the embedded database. */
async function openRewindsOf({ dataDir, databaseUrl }: Settings, faults: Observation["faults"], opened: AsyncDisposableStack) {
  if (databaseUrl === "") return undefined;
  const rewinds = (await import("../platform/nodes/rewinds.ts")).openRewinds(dataDir, databaseUrl, (reason) => {
    if (reason === undefined) faults.end("database_rewound");
    else faults.begin("database_rewound", { reason, isRefusing: true });
  });
  opened.defer(() => rewinds.close());
  return rewinds;
}

/** Opens the parts that identify and count callers: this node, the verifier of keys, the recorder of usage, the limiter. */
async function openCallers({ settings, options, storage, secrets, opened, observing }: StartContext) {
  const { onError, tracing } = observing;
  const { clock, log, redis } = options;
  const { db } = storage;
  const { node, announcer, attachCaches } = openClusterNode(storage, log, idsOf(secrets.keys).join(","));
  opened.defer(() => node.leave());
  const verifier = openKeyVerifier(db, clock, () => node.isLive());
  opened.defer(() => verifier.saveUses().catch(onError));
  const usage = openUsageRecorder({ db, clock });
  const requestLog = openRequestLog({ db, clock });
  const pageViews = openPageViews({ db, clock });
  // An answer about usage without the last seconds is better than none.
  const flushUsage = async () => void (await Promise.all([usage, requestLog, pageViews].map((one) => one.flush().catch(onError))));
  opened.defer(flushUsage);
  const counting = await openLimiter(settings, { clock, log, redis, liveNodes: () => node.liveNodes() });
  opened.defer(() => counting.close().catch(onError));
  const { limiter } = counting;
  // If Redis does not answer, the limiter decides alone, and the call succeeds: only the mode shows the error.
  const traced =
    limiter.mode() === "process"
      ? undefined
      : tracing?.tracedCalls("redis", limiter, () => (limiter.mode() === "alone" ? "unavailable" : undefined));
  return {
    node,
    announcer,
    attachCaches,
    verifier,
    usage,
    requestLog,
    onPageView: (accountId: number) => pageViews.count(accountId),
    flushUsage,
    counting: { ...counting, limiter: traced ?? limiter },
  };
}

/** The lists of addresses that a reload replaces. */
type ReloadableLists = Record<"trustedProxies" | "metricsFrom", ReturnType<typeof replaceable>>;

function reload(settings: Settings, { trustedProxies, metricsFrom }: ReloadableLists, publishing: Publishing): void {
  trustedProxies.replace(settings.trustedProxies);
  metricsFrom.replace(settings.metricsFrom);
  publishing.setPlatformCertificate(platformCertificateOf(settings));
}

async function drain(ms: number, app: App, publishing: Publishing, state: State): Promise<void> {
  if (!state.isReady) return;
  state.isDraining = true;
  await sleep(ms / 2);
  app.retire();
  publishing.retire();
  await sleep(ms / 2);
}

/** The bounds of the connections to the API and to the edge. */
function limitsOf({ settings, options }: StartContext): ConnectionLimits {
  return { ...connectionLimits, connectionsPerAddress: settings.connectionsPerAddress, ...options.connections };
}

/** Opens the HTTP side, which does not listen yet. */
async function openHttp(
  context: AppContext,
  opening: StartContext,
  callers: Awaited<ReturnType<typeof openCallers>>,
  { firstStart, publishing, webhooks }: { firstStart: FirstStart; publishing: Publishing; webhooks: Webhooks },
): Promise<App> {
  const { options, opened, observing, feed, changing, nowRange, state } = opening;
  const { settings, db, clock, log, node, bounds, tracing, onError } = context;
  const { verifier, usage, requestLog, flushUsage } = callers;
  const { limiter } = callers.counting;
  const trustedProxies = changing.trustedProxies.list;
  // Only ENV_FILE can add proxies at a reload.
  const mayTrust = settings.envFile !== "" || settings.trustedProxies.rules.length > 0;
  const onRefused = observing.refusals.count;
  const connections = guardConnections({ limits: limitsOf(opening), exempt: trustedProxies, bounds, listener: "api" });
  opened.defer(() => connections.close());
  const limitEvents = openLimitRecorder(db, onError);
  opened.defer(() => limitEvents.close());
  const gate = openGate({ verifier, limiter, usage, onRefused, onLimited: limitEvents.record });
  const requests = boundRequests({ ...requestLimits, ...options.requests }, bounds);
  const onSignedIn = () => firstStart.forget().catch(onError);
  const dashboardGate = openDashboardGate(context, settings.publicUrl, limiter, onRefused);
  const events = eventServices(db, clock, feed, () => node.liveNodes(), bounds);
  state.stops.push(async () => events.listeners.close());
  const web = await readWeb(`${photosHost}.${settings.platformDomain}`);
  if (!web) log.warn("the web application has not been built: run `npm start`");
  const traced = { ...context, db: tracing?.traced(db) ?? db };
  return openApi(traced, {
    nowRange,
    gate: tracing?.tracedGate(gate) ?? gate,
    dashboard: openDashboard(context, dashboardGate, options.hashCost, onSignedIn),
    limiter,
    services: { limiter, flushUsage, ...events, ...publishing.services, ...webhooks.services },
    ...observing.watch(context, {
      limiter,
      ...publishing,
      time: { heartbeat: opening.storage.heartbeat, clock: opening.steadyClock },
      webhookMetrics: () => webhooks.worker.metrics(),
    }),
    connections,
    requests,
    requestLog,
    metricsFrom: changing.metricsFrom.list,
    trustedProxies: mayTrust ? trustedProxies : undefined,
    web,
    ready: () => state.isReady && !state.isDraining,
  });
}

/** The parts that change while the service runs. */
type State = {
  isReady: boolean;
  isDraining: boolean;
  isClosing: boolean;
  /** Resolves when the publishing subsystem has started; undefined before it begins to. */
  publishingStarts: Promise<void> | undefined;
  /** The functions that stop the work in progress; they run at the same time. */
  stops: (() => Promise<unknown>)[];
};

/** Starts the publishing subsystem and the delivery of webhooks when the database is ready; resolves when the service takes requests. */
async function startSubsystems(
  { storage, settings, options }: { storage: Storage; settings: Pick<Settings, "publicUrl">; options: { log: Logger } },
  { node, counting }: { node: Node; counting: Pick<LimiterHandle, "join"> },
  { publishing, webhooks }: { publishing: Publishing; webhooks: Pick<Webhooks, "worker"> },
  app: App,
  state: State,
): Promise<void> {
  await storage.ready;
  await node.heartbeat();
  await counting.join(); // the limiter needs to know the other nodes
  if (state.isClosing) throw stopping();
  // a database that is lost between these steps must not end the start
  state.publishingStarts = storage.untilAnswered(() => publishing.start(app.server));
  await state.publishingStarts;
  await storage.untilAnswered(() => webhooks.worker.start());
  const line = await storage.untilAnswered(() => passkeyWarning(storage.db, settings.publicUrl));
  if (line !== undefined) options.log.warn(line);
  state.isReady = !state.isClosing;
}

/** Closes the publishing subsystem, once it is open. */
async function closePublishing(publishing: Publishing, { publishingStarts }: State): Promise<void> {
  await publishingStarts?.catch(() => undefined); // callers that await `ready` see the error
  await publishing.close();
}

async function stopWork(state: State, onError: (error: unknown) => void): Promise<void> {
  state.isClosing = true;
  state.isReady = false;
  await Promise.all(state.stops.map((stop) => stop().catch(onError)));
}

/** Lets the requests in flight finish, and cuts them off after `ms`. */
async function closeWithin(app: App, ms: number): Promise<void> {
  const cutOff = setTimeout(() => app.server.closeAllConnections(), ms);
  await app.close();
  clearTimeout(cutOff);
}

/** Returns the origin at which the API listens. */
async function listen(app: App, { port, host }: Settings): Promise<string> {
  const { address } = await app.listen({ setting: "PORT", port, host });
  return originAt(address);
}
