import { lookup } from "node:dns/promises";
import type { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { isIP, type Socket } from "node:net";

/** Returns the addresses of a host (a name, or an address without brackets). A caller that allows only some of them checks them here. */
type AddressesOf = (host: string) => Promise<readonly string[]>;

/** How a request connects. `until` ends the attempts, so it carries the time-out. Default for `addressesOf`: the system's resolver. */
export type Connecting = { until: AbortSignal; addressesOf?: AddressesOf };

/** How long (ms) an attempt has before the next address is tried beside it (RFC 8305, section 5). */
const apartMs = 250;
/** The most addresses of a host that are tried, so that a name with very many does not open a connection to each. */
const addressesMax = 8;

/**
 * Makes an agent race the addresses of a host (RFC 8305): the families alternate, the next address is tried after 250 ms or when an attempt
 * fails, and each attempt may last as long as the whole. Over TLS an attempt includes the handshake, because an address may accept
 * connections and then answer nothing. The agent connects to the addresses that were looked up, and to no others.
 *
 * A request gives its `Connecting` with `connectingBy`.
 */
export function raceAddresses<Racing extends HttpAgent>(agent: Racing): Racing {
  const connect = agent.createConnection.bind(agent);
  const opened = agent instanceof HttpsAgent ? "secureConnect" : "connect";
  agent.createConnection = (options, done) => {
    const { connecting, host } = options as unknown as { connecting: Connecting; host: string };
    const open = (address: string): Socket => connect({ ...options, host: address }) as Socket;
    race(host, connecting, open, opened).then(
      (socket) => done?.(null, socket),
      (error: Error) => done?.(error, undefined as never),
    );
    return undefined;
  };
  return agent;
}

/** Returns the request option that says how to connect. */
export function connectingBy(connecting: Connecting): object {
  return { connecting };
}

async function race(
  host: string,
  { until, addressesOf = systemAddresses }: Connecting,
  open: (address: string) => Socket,
  opened: "connect" | "secureConnect",
): Promise<Socket> {
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(until.reason as Error);
  until.addEventListener("abort", abort, { once: true });
  if (until.aborted) abort();
  const attempts = new Set<Socket>();
  let waiting: string[] = [];
  try {
    const addresses = await Promise.race([addressesOf(host), aborted.promise]);
    until.throwIfAborted();
    waiting = alternating(addresses).slice(0, addressesMax);
    return await Promise.race([firstOpened(waiting, open, opened, attempts), aborted.promise]);
  } finally {
    until.removeEventListener("abort", abort);
    waiting.length = 0;
    for (const socket of attempts) socket.destroy();
  }
}

/** Resolves with the first socket that opens. `attempts` has the others; the caller destroys them, and empties `waiting` to end the race. */
function firstOpened(waiting: string[], open: (address: string) => Socket, opened: string, attempts: Set<Socket>): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const errors: NodeJS.ErrnoException[] = [];
  let timer: NodeJS.Timeout | undefined;
  const tryNext = (): void => {
    clearTimeout(timer);
    const address = waiting.shift();
    if (address === undefined) {
      if (attempts.size === 0) reject(mostTelling(errors));
      return;
    }
    timer = setTimeout(tryNext, apartMs);
    const socket = open(address);
    attempts.add(socket);
    const fail = (error: Error): void => {
      if (!attempts.delete(socket)) return;
      errors.push(error);
      tryNext();
    };
    const ignore = (): void => fail(new Error("closed"));
    socket.on("error", fail).once("close", ignore);
    socket.once(opened, () => {
      clearTimeout(timer);
      attempts.delete(socket);
      socket.off("error", fail).off("close", ignore);
      resolve(socket);
    });
  };
  tryNext();
  return promise;
}

/** The error of an address that was reached says more than that of one for which there is no route. */
function mostTelling(errors: NodeJS.ErrnoException[]): Error {
  const unreachable = new Set(["ENETUNREACH", "EHOSTUNREACH", "EADDRNOTAVAIL"]);
  return errors.find(({ code = "" }) => !unreachable.has(code)) ?? errors[0] ?? new Error("no address");
}

/** Orders addresses so that the families alternate, beginning with IPv6 (RFC 8305, section 4). */
function alternating(addresses: readonly string[]): string[] {
  const [six, four] = [addresses.filter((one) => isIP(one) === 6), addresses.filter((one) => isIP(one) === 4)];
  return Array.from({ length: Math.max(six.length, four.length) }, (_, i) => [six[i], four[i]])
    .flat()
    .filter((one) => one !== undefined);
}

function systemAddresses(host: string): Promise<string[]> {
  if (isIP(host) !== 0) return Promise.resolve([host]);
  const ofFamily = async (family: 4 | 6) => (await lookup(host, { family, all: true })).map(({ address }) => address);
  return addressesOfEither([ofFamily(4), ofFamily(6)]);
}

/**
 * Returns what the look-ups of the two families find. If one finds addresses, the other one has 250 ms more: a DNS server that does not answer for
 * IPv6 stops no connection over IPv4 (RFC 8305, section 3).
 *
 * @throws the first error, if no look-up finds an address and one fails
 */
export async function addressesOfEither(lookups: readonly Promise<readonly string[]>[]): Promise<string[]> {
  const found: string[] = [];
  const late = Promise.withResolvers<void>();
  let timer: NodeJS.Timeout | undefined;
  const all = Promise.allSettled(
    lookups.map(async (addresses) => {
      found.push(...(await addresses));
      if (found.length > 0) timer ??= setTimeout(late.resolve, apartMs);
    }),
  );
  const outcomes = await Promise.race([all, late.promise]);
  clearTimeout(timer);
  const failed = outcomes?.find((one) => one.status === "rejected");
  if (found.length === 0 && failed) throw failed.reason;
  return [...found];
}
