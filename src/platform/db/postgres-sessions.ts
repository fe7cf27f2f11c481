import { Socket } from "node:net";
import pg from "pg";
import { createCache } from "../cache.ts";
import { translateConnecting, UnusableServer, type ConnectingFailure } from "./postgres-errors.ts";
import { connectMsOf, serverOf, targetOf, urlsOf, type Target } from "./postgres-url.ts";

/** Time to connect (ms) if there is one server. */
const connectMs = 5_000;
/** The same for each of several servers: another one may answer. */
const connectMsOfSeveral = 1_000;
/** Time for one statement (ms), after which the server ends it. If the server is silent, the connection is given up a second later. */
export const statementMs = 5_000;
export const silenceMs = 1_000;
/** How long a pooler that was found to keep sessions is trusted (ms): its mode can change while it runs. */
const trustedMs = 60_000;

const int8 = 20;
const numeric = 1_700;
const types = new pg.TypeOverrides();
for (const type of [int8, numeric]) types.setTypeParser(type, Number);

/** The time-outs that differ between connections. */
export type Timeouts = { connectMs: number; statementMs: number };
export const usual: Timeouts = { connectMs, statementMs };

/** A connected client, and the socket below it. */
export type Session = { client: pg.Client; socket: Socket };

/** The servers of a URL, which all connections of this process try in the same order. */
type Servers = {
  /** A URL for each. */
  urls: string[];
  target: Target;
  /** The place of the one that was usable last. */
  current: number;
  /** The sockets of the open sessions, with the server that each is on. */
  sockets: Map<Socket, string>;
  /** Until when each server's pooler is trusted (ms, monotonic). */
  trustedUntil: number[];
};

/** By URL. A process uses one, and a few more in commands. */
const known = createCache<string, Servers>(32);

function serversOf(url: string): Servers {
  const servers = known.get(url);
  if (servers) return servers;
  const urls = urlsOf(url);
  return known.set(url, { urls, target: targetOf(url), current: 0, sockets: new Map(), trustedUntil: urls.map(() => -Infinity) });
}

/**
 * Opens a session on the first server of a URL that the service can use, beginning with the one that it used last. All connections to PostgreSQL are
 * opened here. If another server is usable than before, also behind the same address, the sessions on the others are cut off: their server does not take
 * writes any more, and might not answer.
 *
 * @param settings statements that set the session up
 * @param options.needsPrimary refuses a standby even if it is the only server of the URL. Default: false, for work that only reads
 * @throws Problem `unavailable`, with an `AccessError` as its cause if a retry does not help
 */
export async function openSession(
  url: string,
  settings: string,
  { patience = usual, name = "petstore", needsPrimary = false }: { patience?: Timeouts; name?: string; needsPrimary?: boolean } = {},
): Promise<Session> {
  const servers = serversOf(url);
  const { urls, current } = servers;
  const own = { ...patience, connectMs: connectMsFor(servers, url, patience) };
  const failures: ConnectingFailure[] = [];
  for (const place of urls.map((_, i) => (current + i) % urls.length)) {
    const session = sessionFor(urls[place]!, own, name);
    try {
      await session.client.connect();
      const facts = await factsOf(session.client, own);
      requireWritable(facts, needsPrimary && servers.target === "any" ? "primary" : servers.target);
      await requireKept(facts, session.client, servers, place, () => openBeside(urls[place]!, own));
      await session.client.query(within(settings, own));
      settle(servers, place, facts, session.socket);
      return session;
    } catch (error) {
      session.socket.destroy();
      failures.push({ server: serverOf(urls[place]!), error });
    }
  }
  throw translateConnecting(failures);
}

function connectMsFor({ urls }: Servers, url: string, patience: Timeouts): number {
  return connectMsOf(url) ?? (urls.length === 1 ? patience.connectMs : Math.min(patience.connectMs, connectMsOfSeveral));
}

/** Makes a client with the driver's options. */
function sessionFor(url: string, patience: Timeouts, name: string): Session {
  const socket = new Socket();
  const client = new pg.Client({
    connectionString: url,
    application_name: name,
    keepAlive: true,
    pipeline: true,
    types,
    connectionTimeoutMillis: patience.connectMs,
    query_timeout: patience.statementMs + silenceMs,
    stream: () => socket,
  });
  client.on("error", () => undefined); // its statements fail with the same error
  return { client, socket };
}

/** Remembers a usable server. Behind the address of a proxy the time of its start tells it from others. */
function settle(servers: Servers, place: number, { started }: Facts, socket: Socket): void {
  const { sockets } = servers;
  const server = `${place} ${started}`;
  servers.current = place;
  sockets.set(socket, server);
  socket.once("close", () => sockets.delete(socket));
  for (const [other, at] of sockets) if (at !== server) other.destroy();
}

/** A statement of opening a session, which a server has to answer as soon as it has to connect. */
const within = (text: string, { connectMs: ms }: Timeouts): { text: string; query_timeout: number } => ({ text, query_timeout: ms });

type Facts = { pid: number; standby: boolean; read_only: boolean; started: string };
const factsText = `
  SELECT pg_backend_pid() AS pid, pg_is_in_recovery() AS standby, current_setting('transaction_read_only') = 'on' AS read_only,
    CAST(EXTRACT(EPOCH FROM pg_postmaster_start_time()) AS TEXT) AS started`;

/** What is wrong with such a server, after its name. */
export const noWrites = "takes no writes: it is a standby or read-only";
/** SQL: whether the server refuses writes of a session that does not ask for a read-only one. */
export const takesNoWrites =
  "(pg_is_in_recovery() OR EXISTS (SELECT FROM pg_settings WHERE name = 'default_transaction_read_only' AND reset_val = 'on'))";

/** Changes nothing in the session, which other clients of a pooler may use. */
async function factsOf(client: pg.Client, patience: Timeouts): Promise<Facts> {
  return (await client.query<Facts>(within(factsText, patience))).rows[0]!;
}

/** @throws UnusableServer if the server is not what is asked for */
function requireWritable({ standby, read_only: isReadOnly }: Facts, target: Target): void {
  if (target !== "any" && (standby || (target === "read-write" && isReadOnly))) throw new UnusableServer(noWrites, { isLasting: false });
}

/** @throws UnusableServer if the server is behind a pooler that does not keep sessions */
async function requireKept(
  { pid }: Facts,
  client: pg.Client,
  servers: Servers,
  place: number,
  openSecond: () => Promise<Session>,
): Promise<void> {
  if (pid === (client as { processID?: number | null }).processID) return;
  const { requireSessions, clear } = await import("./postgres-poolers.ts");
  if (performance.now() > servers.trustedUntil[place]!) {
    const second = await openSecond();
    try {
      await requireSessions(client, second.client);
    } finally {
      second.socket.destroy();
    }
    servers.trustedUntil[place] = performance.now() + trustedMs;
  }
  await clear(client);
}

async function openBeside(url: string, patience: Timeouts): Promise<Session> {
  const session = sessionFor(url, patience, "petstore");
  try {
    await session.client.connect();
    return session;
  } catch (error) {
    session.socket.destroy();
    throw error;
  }
}
