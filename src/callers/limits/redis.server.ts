import { connect as connectTcp } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { connect as connectTls } from "node:tls";
import { AbstractConnector, Redis, type RedisOptions } from "iovalkey";
import { isAnswer } from "./redis.refusals.ts";
import type { Host, RedisPlace } from "./redis.url.ts";

/**
 * The longest time (ms) that connecting may take, and that a sentinel or a server of a cluster may take to say where a master is. That is up to six round
 * trips: one for TCP, two for TLS, then the login, the check whether the server is ready, and the question. Each may take nearly half a second, as may
 * an answer.
 */
export const connectMs = 3_000;
/** How long (ms) the other sentinels may take after the first one has answered, besides the time that that one took. */
const laterSentinelsMs = 400;
/** How many servers of a cluster are asked at once; after how long (ms) the next are asked; how often at most; and how many are remembered. */
const [askedAtOnce, askNextMs, asksMax, rememberedMax] = [3, 400, 4, 100];

/** Finds the server that has the keys, and returns a function that makes clients of it. Each client still has to connect. */
export type FindServer = () => Promise<() => Redis>;

/**
 * Finds where to connect to. The client's own classes for Sentinel and Cluster are not used: they send a command again whose answer was lost, though
 * Redis may have run it, and they wait for servers that hang (decision 0118).
 *
 * @returns a function that takes one of the keys, of which a cluster gives all with the same hash tag to one server
 */
export function serverFinder(place: RedisPlace, ca: string | undefined): (key: string) => FindServer {
  const tls = place.isTls && { tls: ca === undefined ? {} : { ca } };
  const options = { ...connectionOptions, ...place.login, ...tls };
  if (place.kind === "single")
    return () => async () => () => new Redis({ ...options, ...place.hosts[0], db: place.db, family: place.family });
  if (place.kind === "cluster") {
    const known: KnownHosts = { named: place.hosts, learned: [] };
    return (key) => async () => {
      const master = await clusterMaster(known, options, key);
      return () => new Redis({ ...options, ...master });
    };
  }
  return () => async () => {
    const master = await sentinelMaster(place.hosts, { ...connectionOptions, ...place.sentinelLogin, ...tls }, place.master);
    return () => new Redis({ ...options, ...master, db: place.db });
  };
}

/** Asks all sentinels, and returns the master of the newest epoch: one that was cut off may name the old one. */
async function sentinelMaster(hosts: Host[], options: RedisOptions, name: string): Promise<Host> {
  const start = performance.now();
  let newest = { host: "", port: 0, epoch: -1 };
  const asked = hosts.map(async (one) => {
    const sentinel = new Redis({ ...options, ...one, enableReadyCheck: false });
    const fields = (await withClient(sentinel, connectMs, (client) => client.call("SENTINEL", "MASTER", name))) as string[];
    const field = (of: string): string => fields[fields.indexOf(of) + 1] ?? "";
    const epoch = Number(field("config-epoch"));
    if (epoch > newest.epoch) newest = { host: field("ip"), port: Number(field("port")), epoch };
  });
  await firstOf(asked);
  await Promise.race([Promise.allSettled(asked), sleep(laterSentinelsMs + performance.now() - start, undefined, { ref: false })]);
  return { host: newest.host, port: newest.port };
}

/** The servers of a cluster: those in `REDIS_URL`, and those that the last answer named. */
type KnownHosts = { named: Host[]; learned: Host[] };

/** Asks servers of a cluster, and returns the master of a key by the first answer. Remembers the servers that it names, in place of those before. */
async function clusterMaster(known: KnownHosts, options: RedisOptions, key: string): Promise<Host> {
  const hosts = new Map([...known.named, ...known.learned].map((one) => [`${one.host} ${one.port}`, one]));
  const left = [...hosts.values()].toSorted(() => Math.random() - 0.5);
  const ask = (one: Host) => withClient(new Redis({ ...options, ...one }), connectMs, (server) => askForMaster(server, one, key));
  const asked: ReturnType<typeof ask>[] = [];
  for (let asks = 0; asks < asksMax && left.length > 0; asks++) {
    asked.push(...left.splice(0, askedAtOnce).map(ask));
    const answer = Promise.any(asked).catch(() => undefined);
    const found = await Promise.race([answer, sleep(askNextMs, undefined, { ref: false })]);
    if (found !== undefined) break;
  }
  const { master, servers } = await firstOf(asked);
  known.learned = servers.slice(0, rememberedMax);
  return master;
}

/** Asks a server of a cluster for the master of a key, and for all servers that it knows. */
async function askForMaster(server: Redis, one: Host, key: string): Promise<{ master: Host; servers: Host[] }> {
  const [slot, ranges] = await Promise.all([server.cluster("KEYSLOT", key), server.cluster("SLOTS")]);
  const hostsOf = ([, , ...servers]: (typeof ranges)[0]): Host[] => servers.map(([host, port]) => ({ host: host || one.host, port }));
  const range = ranges.find(([first, last]) => first <= slot && slot <= last);
  const [master] = range ? hostsOf(range) : [];
  if (!master) throw Object.assign(new Error(`CLUSTERDOWN no server has slot ${slot}`), { name: "ReplyError" });
  const servers = new Map(ranges.flatMap(hostsOf).map((host) => [`${host.host} ${host.port}`, host]));
  return { master, servers: [...servers.values()] };
}

/** Resolves to the first result. If there is none, rejects with the first refusal by Redis or, if no server answered, with the first error. */
async function firstOf<T>(asked: Promise<T>[]): Promise<T> {
  try {
    return await Promise.any(asked);
  } catch (error) {
    const { errors } = error as AggregateError;
    throw errors.find(isAnswer) ?? errors[0];
  }
}

/** Connects a client, uses it for at most `ms`, and closes the connection. Rejects with why the server did not answer, or with its answer. */
export async function withClient<T>(client: Redis, ms: number, use: (client: Redis) => Promise<T>): Promise<T> {
  let reason: Error | undefined;
  client.on("error", (error: Error) => (reason = error));
  try {
    return await withTimeout(
      ms,
      client.connect().then(() => use(client)),
    );
  } catch (error) {
    throw reason ?? error;
  } finally {
    client.disconnect();
  }
}

/**
 * Connects to Redis, with TLS if there are options for it. Replaces the client's own connector for two reasons. That one handles
 * only the first error of a socket: a second one, which TLS may raise while it closes, would end the process. And when it
 * disconnects, it waits until Redis closes the connection too, so commands to a Redis that hangs would never be rejected.
 */
export class RedisConnector extends AbstractConnector {
  readonly #options: RedisOptions;

  constructor(options: unknown) {
    super(0);
    this.#options = options as RedisOptions;
  }

  async connect() {
    const { host, port, tls } = this.#options;
    const to = { host: host ?? "localhost", port: Number(port) };
    const stream = tls ? connectTls({ ...to, ...tls }) : connectTcp(to);
    stream.on("error", (error) => (this.firstError ??= error));
    this.stream = stream;
    return stream;
  }

  override disconnect(): void {
    this.connecting = false;
    this.stream?.destroy();
  }
}

/** Each attempt is a new connection. The client neither queues commands nor sends them again. */
const connectionOptions = {
  Connector: RedisConnector,
  lazyConnect: true,
  connectTimeout: connectMs,
  retryStrategy: () => null,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  autoResubscribe: false,
  maxRetriesPerRequest: 0,
};

/** Rejects after `ms`. An answer that arrived while this process was busy still counts, because it is read before `setImmediate` runs. */
export async function withTimeout<T>(ms: number, promise: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timeUp = (): void => late.reject(new Error(`no answer within ${ms} ms`));
  const timer = setTimeout(() => setImmediate(timeUp), ms).unref();
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
