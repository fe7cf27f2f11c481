import { connect as connectTcp } from "node:net";
import { connect as connectTls } from "node:tls";
import { AbstractConnector, Redis, type RedisOptions } from "iovalkey";
import type { Host, RedisPlace } from "./redis.url.ts";

/** The longest time (ms) that connecting may take. */
export const connectMs = 1_000;
/** The longest time (ms) that a sentinel, or a server of a cluster, may take to say where a master is. */
const findMs = 400;
/** The most servers of a cluster that are asked at once, and that are remembered. */
const [askedMax, rememberedMax] = [3, 100];

/** Finds the server that has the keys, and returns a function that makes clients of it. Each client still has to connect. */
export type FindServer = () => Promise<() => Redis>;

/**
 * Finds where to connect to. The client's own classes for Sentinel and Cluster are not used: they send a command again whose answer was lost, though
 * Redis may have run it, and they wait for servers that hang (decision 0118).
 *
 * @param key one of the keys, of which a cluster gives all to one server
 */
export function serverFinder(place: RedisPlace, ca: string | undefined, key: string): FindServer {
  const trust = ca !== undefined && { tls: { ca } };
  if (place.kind === "single") return async () => () => new Redis(place.url, { ...connectionOptions, ...trust });
  const tls = place.isTls && { tls: ca === undefined ? {} : { ca } };
  const options = { ...connectionOptions, ...place.login, ...tls };
  if (place.kind === "cluster") {
    const known = new Map(place.hosts.map((one) => [`${one.host} ${one.port}`, one]));
    return async () => {
      const master = await clusterMaster(known, options, key);
      return () => new Redis({ ...options, ...master });
    };
  }
  return async () => {
    const master = await sentinelMaster(place.hosts, { ...connectionOptions, ...place.sentinelLogin, ...tls }, place.master);
    return () => new Redis({ ...options, ...master, db: place.db });
  };
}

/** Asks all sentinels, and returns the master of the newest epoch: one that was cut off may name the old one. */
async function sentinelMaster(hosts: Host[], options: RedisOptions, name: string): Promise<Host> {
  const asked = await Promise.allSettled(
    hosts.map((one) => askServer({ ...options, ...one, enableReadyCheck: false }, (sentinel) => sentinel.call("SENTINEL", "MASTER", name))),
  );
  let newest = { host: "", port: 0, epoch: -1 };
  for (const one of asked) {
    if (one.status === "rejected") continue;
    const fields = one.value as string[];
    const field = (of: string): string => fields[fields.indexOf(of) + 1] ?? "";
    const epoch = Number(field("config-epoch"));
    if (epoch > newest.epoch) newest = { host: field("ip"), port: Number(field("port")), epoch };
  }
  if (newest.epoch >= 0) return { host: newest.host, port: newest.port };
  throw asked.find((one) => one.status === "rejected")!.reason;
}

/** Asks servers of a cluster, and returns the master of a key by the first answer. Remembers the servers that it names. */
async function clusterMaster(known: Map<string, Host>, options: RedisOptions, key: string): Promise<Host> {
  const some = [...known.values()].toSorted(() => Math.random() - 0.5).slice(0, askedMax);
  const asked = some.map((one) =>
    askServer({ ...options, ...one }, async (server) => {
      const [slot, ranges] = await Promise.all([server.cluster("KEYSLOT", key), server.cluster("SLOTS")]);
      const hostsOf = ([, , ...servers]: (typeof ranges)[0]): Host[] => servers.map(([host, port]) => ({ host: host || one.host, port }));
      for (const host of ranges.flatMap(hostsOf)) remember(known, host);
      const range = ranges.find(([first, last]) => first <= slot && slot <= last);
      const [master] = range ? hostsOf(range) : [];
      if (!master) throw new Error("no server of the cluster has the keys");
      return master;
    }),
  );
  try {
    return await Promise.any(asked);
  } catch (error) {
    throw (error as AggregateError).errors[0];
  }
}

function remember(known: Map<string, Host>, one: Host): void {
  if (known.size < rememberedMax) known.set(`${one.host} ${one.port}`, one);
}

const askServer = <T>(options: RedisOptions, ask: (client: Redis) => Promise<T>): Promise<T> => withClient(new Redis(options), findMs, ask);

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
 * Connects to Redis, with TLS if the URL is `rediss://`. Replaces the client's own connector for two reasons. That one handles
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
    // `tls` is `true` if only the URL asks for TLS, and an object if there is a `ca`.
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
