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
import { countBounds } from "../platform/bounds.ts";
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
import { heartbeatEveryMs, expireNodes } from "../platform/nodes/nodes.ts";
import { openSocket } from "../platform/socket.ts";
import type { Settings } from "./settings.ts";
import { openPublishing, type Publishing } from "./publishing.ts";
import { openStorage, socketPath } from "./storage.ts";
import { readWeb } from "./web.ts";

const lockWaitMs = 2_000;
const limitsEveryMs = 1_000;
const usageEveryMs = 5_000;
const usesEveryMs = 10_000;
const cleanEveryMs = 60_000;
/** What is in flight may take this long once a stop was asked for. */
export const stopMs = 10_000;

export type Service = {
  app: FastifyInstance;
  db: Database;
  administration: Administration;
  firstStart: FirstStart;
  publishing: Publishing;
  /** Where it listens, as `http://127.0.0.1:8080`. */
  address: string;
  /** Resolves when it takes requests: at once, or when a database that does not answer yet does; rejects when it never will. */
  ready: Promise<void>;
  /** Finishes what is in flight, then lets everything go. */
  close(): Promise<void>;
};

export type ServiceOptions = {
  clock: Clock;
  /** A clock that is never set back or forward. Default: the system's. */
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

/**
 * The composition root: settings → parts → listen → stop. The only place that knows every part. While PostgreSQL does
 * not answer yet it listens already, and answers `unavailable`.
 *
 * @throws when the folder is held by another process, newer than this program, or ports are taken
 */
export async function openService(settings: Settings, options: ServiceOptions): Promise<Service> {
  const { clock, timer = systemTimer, log, redis, connections: ownLimits, requests: requestsOnce, onFlushFailed } = options;
  const onError = (error: unknown): void => log.error({ err: error }, "background work failed");
  // Let go in the opposite order, each whatever becomes of the others, when the service closes or does not come to be.
  await using opened = new AsyncDisposableStack();
  const storage = await openStorage(settings, "petstore serve", lockWaitMs, {
    clock,
    onError: (error) => log.warn({ err: error }, "a connection to the database broke"),
    onAway: (reason, nextMs) => log.warn({ nextMs }, `${reason}; trying again`),
    onFlushFailed,
  });
  opened.defer(() => storage.close());
  await requireFree(placesOf(settings));
  const { db } = storage;
  const { node, announcer, attachCaches } = openClusterNode(storage, log);
  opened.defer(() => node.leave());
  const verifier = openKeyVerifier({ db, clock, isLive: () => node.isLive() });
  opened.defer(() => verifier.saveUses().catch(onError));
  const usage = openUsageRecorder({ db, clock });
  // An answer that lacks the last seconds is better than none.
  const flushUsage = () => usage.flush().catch(onError);
  opened.defer(flushUsage);
  const counting = await openLimiter(settings, { clock, log, redis, liveNodes: () => node.liveNodes() });
  opened.defer(() => counting.close().catch(onError));

  const { limiter } = counting;
  const { getPetSunset, trustedProxies, metricsFrom, publicUrl } = settings;
  const administration = openAdministration({ db, clock, verifier, limiter, announcer, publicUrl, ports: settings });
  const refusals = countRefusals();
  const bounds = countBounds();
  const eventLoop = watchEventLoop();
  opened.defer(() => eventLoop.stop());
  const limits = { ...connectionLimits, connectionsPerAddress: settings.connectionsPerAddress, ...ownLimits };
  const connections = guardConnections({ limits, exempt: trustedProxies, bounds, listener: "api" });
  opened.defer(() => connections.close());
  const requests = boundRequests({ ...requestLimits, ...requestsOnce }, bounds);
  const gate = openGate({ verifier, limiter, usage, onRefused: refusals.count });
  const firstStart = openFirstStart({ db, clock, publicUrl, dataDir: settings.dataDir });
  const onSignedIn = () => firstStart.forget().catch(onError);
  const dashboard = openDashboard({ db, clock, limiter, administration, publicUrl, onSignedIn, onRefused: refusals.count, onError });
  const publishing = openPublishing({ settings, db, clock, log, announcer, node, bounds, connections: limits });
  attachCaches({ keys: verifier, sites: publishing.sites });
  let ready = false;
  const web = await readWeb();
  const nowRange = openNowRange(clock, timer);
  const app = openApi({
    db,
    clock,
    nowRange,
    gate,
    dashboard,
    limiter,
    services: { limiter, flushUsage, ...publishing.services },
    refusals,
    bounds,
    eventLoop,
    connections,
    requests,
    hosts: settings,
    securityContact: settings.securityContact,
    metricsFrom,
    log,
    getPetSunset,
    trustedProxies,
    web,
    ready: () => ready,
  });
  const beats = repeat(heartbeatEveryMs, () => node.heartbeat(), onError);
  opened.defer(() => beats.stop()); // after what is in flight, which may wait for this node
  let closing = false;
  let starting: Promise<void> | undefined;
  // What starts meanwhile has to be open before it can be closed.
  const closePublishing = async (): Promise<void> => {
    await starting?.catch(() => undefined); // told by `ready`
    await publishing.close();
  };
  const working = [() => closeWithin(app, stopMs), closePublishing];
  opened.defer(async () => {
    closing = true;
    ready = false;
    await Promise.all(working.map((stop) => stop().catch(onError)));
  });

  const socket = await openSocket(socketPath(settings), administration, onError);
  working.push(() => socket.close());
  const published = storage.ready
    .then(() => node.heartbeat())
    .then(() => {
      if (closing) throw stopping();
      starting = publishing.start();
      return starting;
    });
  published.catch(() => undefined); // told by `ready`
  if (db.engine === "sqlite") await published;
  const address = await listen(app, settings);
  if (!web) log.warn("the web application has not been built: run `npm start`");
  const becameReady = published.then(() => void (ready = !closing));
  becameReady.catch(() => undefined); // told by `ready`
  const jobs = startJobs({ db, clock, nowRange, verifier, usage, counting, firstStart, onError });
  working.push(...jobs.map((job) => () => job.stop()));
  const running = opened.move();
  return { app, db, administration, firstStart, publishing, address, ready: becameReady, close: () => running.disposeAsync() };
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

/** What is done again and again while the service runs. */
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

/** Lets what is in flight finish, and after `ms` cuts it off. */
async function closeWithin(app: FastifyInstance, ms: number): Promise<void> {
  const impatient = setTimeout(() => app.server.closeAllConnections(), ms);
  await app.close();
  clearTimeout(impatient);
}

/** Every place that a service listens at. */
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
