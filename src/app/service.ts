import type { FastifyInstance } from "fastify";
import { openAdministration, type Administration } from "./administration.ts";
import { openApi } from "./api.ts";
import { openDashboard } from "./dashboard.ts";
import { forgetEnded } from "../callers/members/sessions.store.ts";
import { openGate } from "../callers/gate.ts";
import { openKeyVerifier, type KeyVerifier } from "../callers/keys/verify.ts";
import { openUsageRecorder, type Recorder } from "../callers/usage/recorder.ts";
import { expireUsage } from "../callers/usage/usage.store.ts";
import { openLimiter, type LimiterHandle, type RedisTiming } from "./limiter.ts";
import { countRefusals } from "./metrics.ts";
import { openFirstStart, type FirstStart } from "./first-start.ts";
import { openClusterNode } from "./cluster-node.ts";
import { countBounds, type Bounds } from "../platform/bounds.ts";
import { openNowRange, systemTimer, type Clock, type NowRange, type Timer } from "../platform/clock.ts";
import { connectionLimits, guardConnections, type ConnectionLimits } from "../platform/connections.ts";
import type { Database } from "../platform/db/database.ts";
import { stopping } from "../platform/db/unavailable.ts";
import { forgetOldAnswers } from "../platform/http/idempotency.store.ts";
import { watchEventLoop } from "../platform/event-loop.ts";
import { boundRequests, requestLimits, type RequestLimits } from "../platform/http/request-bounds.ts";
import { repeat } from "../platform/jobs/repeat.ts";
import { listeningError, requireFree, type Place } from "../platform/listening.ts";
import type { Logger } from "../platform/log.ts";
import { expireNodes, heartbeatEveryMs, type Node } from "../platform/nodes/nodes.ts";
import { openSocket } from "../platform/socket.ts";
import type { Settings } from "./settings.ts";
import { openPublishing, type Publishing } from "./publishing.ts";
import { openStorage, socketPath, type Storage } from "./storage.ts";
import { readWeb } from "./web.ts";

const lockWaitMs = 2_000;
const limitsEveryMs = 1_000;
const usageEveryMs = 5_000;
const usesEveryMs = 10_000;
const cleanEveryMs = 60_000;
/** How long requests in flight may take after the service was asked to stop. */
export const stopMs = 10_000;

export type Service = {
  app: FastifyInstance;
  db: Database;
  administration: Administration;
  firstStart: FirstStart;
  publishing: Publishing;
  /** The origin that it listens at: `http://127.0.0.1:8080`. */
  address: string;
  /** Resolves when it takes requests, which may have to wait for the database; rejects if it never will. */
  ready: Promise<void>;
  /** Finishes the requests in flight, then closes everything. */
  close(): Promise<void>;
};

export type ServiceOptions = {
  clock: Clock;
  /** A clock that is never adjusted. Default: the system's. */
  timer?: Timer | undefined;
  log: Logger;
  redis?: RedisTiming | undefined;
  /** Overrides the bounds of the connections to the API and to the edge. */
  connections?: Partial<ConnectionLimits> | undefined;
  /** Called once when the disk fails to flush the embedded database's log: the process should exit and be started again. */
  onFlushFailed?: ((error: unknown) => void) | undefined;
  /** Overrides the bounds of the requests in flight. */
  requests?: Partial<RequestLimits> | undefined;
};

/** What the steps of opening a service share. `opened` closes what they open, in the opposite order. */
type Opening = {
  settings: Settings;
  options: ServiceOptions;
  storage: Storage;
  opened: AsyncDisposableStack;
  onError: (error: unknown) => void;
};

/** What changes while the service runs. */
type State = {
  isReady: boolean;
  isClosing: boolean;
  /** Resolves when the publishing wing has started; undefined before it begins to. */
  publishingStarts: Promise<void> | undefined;
  /** Stop the work in progress, all at once. */
  stops: (() => Promise<unknown>)[];
};

/**
 * The composition root: settings → parts → listen → stop. The only place that knows every part. It listens even before PostgreSQL
 * answers, and answers `unavailable` until then.
 *
 * @throws if another process holds the data folder, if the data is newer than this program, or if a port is taken
 */
export async function openService(settings: Settings, options: ServiceOptions): Promise<Service> {
  const { clock, log } = options;
  const onError = (error: unknown): void => log.error({ err: error }, "background work failed");
  await using opened = new AsyncDisposableStack();
  const storage = await openStore(settings, options);
  opened.defer(() => storage.close());
  await requireFree(placesOf(settings));
  const { db } = storage;
  const opening: Opening = { settings, options, storage, opened, onError };
  const callers = await openCallers(opening);
  const { node, announcer, verifier, counting } = callers;

  const { publicUrl, dataDir } = settings;
  const { limiter } = counting;
  const administration = openAdministration({ db, clock, verifier, limiter, announcer, publicUrl, ports: settings });
  const firstStart = openFirstStart({ db, clock, publicUrl, dataDir });
  const bounds = countBounds();
  const connections = { ...connectionLimits, connectionsPerAddress: settings.connectionsPerAddress, ...options.connections };
  const publishing = openPublishing({ settings, db, clock, log, announcer, node, bounds, connections });
  callers.attachCaches({ keys: verifier, sites: publishing.sites });
  const nowRange = openNowRange(clock, options.timer ?? systemTimer);
  const state: State = { isReady: false, isClosing: false, publishingStarts: undefined, stops: [] };
  const app = await openHttp(opening, callers, { administration, firstStart, publishing, bounds, connections, nowRange, state });

  const heartbeat = repeat(heartbeatEveryMs, () => node.heartbeat(), onError);
  opened.defer(() => heartbeat.stop()); // after the work in progress, which may wait for this node
  state.stops.push(
    () => closeWithin(app, stopMs),
    () => closePublishing(publishing, state),
  );
  opened.defer(() => stopWork(state, onError));
  const socket = await openSocket(socketPath(settings), administration, onError);
  state.stops.push(() => socket.close());
  const ready = startPublishing(opening, node, publishing, state);
  if (db.engine === "sqlite") await ready;
  const address = await listen(app, settings);
  const jobs = startJobs({ db, clock, nowRange, verifier, usage: callers.usage, counting, firstStart, onError });
  state.stops.push(...jobs.map((job) => () => job.stop()));
  const running = opened.move();
  return { app, db, administration, firstStart, publishing, address, ready, close: () => running.disposeAsync() };
}

function openStore(settings: Settings, { clock, log, onFlushFailed }: ServiceOptions): Promise<Storage> {
  return openStorage(settings, "petstore serve", lockWaitMs, {
    clock,
    onError: (error) => log.warn({ err: error }, "a connection to the database broke"),
    onAway: (reason, nextMs) => log.warn({ nextMs }, `${reason}; trying again`),
    onFlushFailed,
  });
}

/** Opens what identifies and counts callers: this node, the verifier of keys, the recorder of usage, the limiter. */
async function openCallers({ settings, options, storage, opened, onError }: Opening) {
  const { clock, log, redis } = options;
  const { db } = storage;
  const { node, announcer, attachCaches } = openClusterNode(storage, log);
  opened.defer(() => node.leave());
  const verifier = openKeyVerifier({ db, clock, isLive: () => node.isLive() });
  opened.defer(() => verifier.saveUses().catch(onError));
  const usage = openUsageRecorder({ db, clock });
  // an answer without the last seconds is better than none
  const flushUsage = () => usage.flush().catch(onError);
  opened.defer(flushUsage);
  const counting = await openLimiter(settings, { clock, log, redis, liveNodes: () => node.liveNodes() });
  opened.defer(() => counting.close().catch(onError));
  return { node, announcer, attachCaches, verifier, usage, flushUsage, counting };
}

type HttpParts = {
  administration: Administration;
  firstStart: FirstStart;
  publishing: Publishing;
  bounds: Bounds;
  connections: ConnectionLimits;
  nowRange: () => NowRange;
  state: State;
};

/** Opens the HTTP side, which does not listen yet. */
async function openHttp(opening: Opening, callers: Awaited<ReturnType<typeof openCallers>>, parts: HttpParts): Promise<FastifyInstance> {
  const { settings, options, opened, onError } = opening;
  const { clock, log } = options;
  const { db } = opening.storage;
  const { verifier, usage, flushUsage } = callers;
  const { limiter } = callers.counting;
  const { administration, firstStart, publishing, bounds, nowRange, state } = parts;
  const { getPetSunset, trustedProxies, metricsFrom, publicUrl, securityContact } = settings;
  const refusals = countRefusals();
  const onRefused = refusals.count;
  const eventLoop = watchEventLoop();
  opened.defer(() => eventLoop.stop());
  const connections = guardConnections({ limits: parts.connections, exempt: trustedProxies, bounds, listener: "api" });
  opened.defer(() => connections.close());
  const requests = boundRequests({ ...requestLimits, ...options.requests }, bounds);
  const onSignedIn = () => firstStart.forget().catch(onError);
  const web = await readWeb();
  if (!web) log.warn("the web application has not been built: run `npm start`");
  return openApi({
    db,
    clock,
    nowRange,
    gate: openGate({ verifier, limiter, usage, onRefused }),
    dashboard: openDashboard({ db, clock, limiter, administration, publicUrl, onSignedIn, onRefused, onError }),
    limiter,
    services: { limiter, flushUsage, ...publishing.services },
    refusals,
    bounds,
    eventLoop,
    connections,
    requests,
    hosts: settings,
    securityContact,
    metricsFrom,
    log,
    getPetSunset,
    trustedProxies,
    web,
    ready: () => state.isReady,
  });
}

/** Starts the publishing wing when the database is ready; resolves when the service takes requests. */
function startPublishing({ storage }: Opening, node: Node, publishing: Publishing, state: State): Promise<void> {
  const ready = storage.ready
    .then(() => node.heartbeat())
    .then(() => {
      if (state.isClosing) throw stopping();
      state.publishingStarts = publishing.start();
      return state.publishingStarts;
    })
    .then(() => void (state.isReady = !state.isClosing));
  ready.catch(() => undefined); // callers that await `ready` see the error
  return ready;
}

/** Closes the publishing wing, once it is open. */
async function closePublishing(publishing: Publishing, { publishingStarts }: State): Promise<void> {
  await publishingStarts?.catch(() => undefined); // callers that await `ready` see the error
  await publishing.close();
}

async function stopWork(state: State, onError: (error: unknown) => void): Promise<void> {
  state.isClosing = true;
  state.isReady = false;
  await Promise.all(state.stops.map((stop) => stop().catch(onError)));
}

type Parts = {
  db: Database;
  clock: Clock;
  nowRange: () => NowRange;
  verifier: KeyVerifier;
  usage: Recorder;
  counting: LimiterHandle;
  firstStart: FirstStart;
  onError: (error: unknown) => void;
};

/** Starts the jobs that repeat while the service runs. */
function startJobs({ db, clock, nowRange, verifier, usage, counting, firstStart, onError }: Parts) {
  return [
    repeat(limitsEveryMs, async () => (counting.limiter.sweep(), counting.save()), onError),
    repeat(usageEveryMs, () => usage.flush(), onError),
    repeat(usesEveryMs, () => verifier.saveUses(), onError),
    repeat(cleanEveryMs, () => forgetOldAnswers(db, nowRange()), onError),
    repeat(cleanEveryMs, () => expireUsage(db, clock()), onError),
    repeat(cleanEveryMs, () => forgetEnded(db, clock()), onError),
    repeat(cleanEveryMs, () => expireNodes(db), onError),
    repeat(cleanEveryMs, () => firstStart.sweep(), onError),
  ];
}

/** Lets the requests in flight finish, and cuts them off after `ms`. */
async function closeWithin(app: FastifyInstance, ms: number): Promise<void> {
  const cutOff = setTimeout(() => app.server.closeAllConnections(), ms);
  await app.close();
  clearTimeout(cutOff);
}

/** Every place at which the service listens. */
function placesOf({ host, port, edgeHttpPort, edgeHttpsPort }: Settings): Place[] {
  const ports = { PORT: port, EDGE_HTTP_PORT: edgeHttpPort, EDGE_HTTPS_PORT: edgeHttpsPort };
  return Object.entries(ports).map(([setting, number]) => ({ setting, host, port: number }));
}

async function listen(app: FastifyInstance, { port, host }: Settings): Promise<string> {
  try {
    return await app.listen({ port, host });
  } catch (error) {
    throw listeningError(error, "PORT", { port, host });
  }
}
