import cluster from "node:cluster";
import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { createServer, type AddressInfo, type Server } from "node:net";

/** The address of a server; `setting` is the name of its port's setting, such as `PORT`. */
export type Place = { setting: string; host: string; port: number };

/**
 * Opens ports and closes them again, so that one error names every port that is taken.
 *
 * @throws Error whose message is one line that names the setting of each port that is taken
 */
export async function requireFree(places: Place[]): Promise<void> {
  if (cluster.isWorker) return; // its supervisor holds the ports
  const held: Server[] = [];
  const refusals = new Set<string>();
  for (const { setting, ...at } of places) {
    const server = createServer().listen(at);
    try {
      await once(server, "listening");
      held.push(server);
    } catch (error) {
      refusals.add((listeningError(error, setting, at) as Error).message);
    }
  }
  await Promise.all(held.map((server) => new Promise((resolve) => server.close(resolve))));
  if (refusals.size > 0) throw new Error([...refusals].join("; "));
}

/**
 * Turns the error of a server that could not listen into one line that names its settings; returns any other error unchanged.
 *
 * @param setting the name of the port's setting, such as `PORT`
 */
export function listeningError(error: unknown, setting: string, { host, port }: { host: string; port: number }): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code === "EADDRINUSE") return new Error(`${setting}=${port} is taken on ${host}: set ${setting} to a free one`, { cause: error });
  if (syscall === "listen" || syscall === "getaddrinfo")
    return new Error(`HOST=${host} ${setting}=${port} cannot be listened on (${code})`, { cause: error });
  return error;
}

/**
 * Makes a server listen. For `localhost` it listens on every address of the name, since clients differ in which they try first.
 *
 * @returns its first address, and the servers that pass their connections to it
 * @throws Error with a one-line message that names the setting, if the port is taken
 */
export async function listen(server: Server, { setting, host, port }: Place): Promise<{ address: AddressInfo; others: Server[] }> {
  server.listen({ host, port });
  try {
    await once(server, "listening");
  } catch (error) {
    throw listeningError(error, setting, { host, port });
  }
  const first = server.address() as AddressInfo;
  const all = host === "localhost" ? await lookup(host, { all: true }).catch(() => []) : [];
  const more = all.filter(({ address }) => address !== first.address);
  const others = await Promise.all(more.map(({ address }) => passOn(server, { host: address, port: first.port })));
  return { address: first, others: others.filter((other) => other !== undefined) };
}

/** The origin at which a server can be reached from this machine. */
export function originAt({ address, port }: AddressInfo): string {
  const shown = address === "0.0.0.0" ? "127.0.0.1" : address.includes(":") ? `[${address}]` : address;
  return `http://${shown}:${port}`;
}

/** Stops accepting connections, and resolves when those that are open have closed. */
export async function closeServers(servers: Server[]): Promise<void> {
  const open = servers.filter(({ listening }) => listening);
  await Promise.all(open.map((server) => new Promise((resolve) => void server.close(resolve))));
}

/** Listens for the connections of another server; undefined if the address cannot be listened on. */
async function passOn(server: Server, at: Omit<Place, "setting">): Promise<Server | undefined> {
  const other = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => server.emit("connection", socket));
  other.listen(at);
  return once(other, "listening").then(
    () => other,
    () => undefined,
  );
}
