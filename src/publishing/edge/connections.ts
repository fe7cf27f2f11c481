import type { Duplex } from "node:stream";

export type Connections = {
  /** Remembers a connection until it closes. */
  track(socket: Duplex): void;
  /** Records the host that a connection is for. On plain HTTP it may change with each request. */
  use(socket: Duplex, host: string): void;
  /** Whether a connection is for this host now. */
  isFor(socket: Duplex, host: string): boolean;
  /** Cuts every connection to a host, even in the middle of an answer, and returns how many. */
  drop(host: string): number;
  dropAll(): void;
};

/** `siteOf` maps a host to the one that its connections are recorded under: dropping that one cuts them too. Default: the host itself. */
export function trackConnections(siteOf = (host: string): string => host): Connections {
  const open = new Set<Duplex>();
  const hosts = new WeakMap<Duplex, string>();
  const byHost = new Map<string, Set<Duplex>>();

  function forget(socket: Duplex): void {
    const host = hosts.get(socket);
    if (host === undefined) return;
    const sockets = byHost.get(host);
    sockets?.delete(socket);
    if (sockets?.size === 0) byHost.delete(host);
  }

  function track(socket: Duplex): void {
    open.add(socket);
    socket.once("close", () => {
      open.delete(socket);
      forget(socket);
    });
  }

  function use(socket: Duplex, name: string): void {
    const host = siteOf(name);
    if (hosts.get(socket) === host || !open.has(socket)) return;
    forget(socket);
    hosts.set(socket, host);
    const sockets = byHost.get(host);
    if (sockets === undefined) byHost.set(host, new Set([socket]));
    else sockets.add(socket);
  }

  function drop(host: string): number {
    const sockets = [...(byHost.get(host) ?? [])];
    for (const socket of sockets) socket.destroy();
    return sockets.length;
  }

  function dropAll(): void {
    for (const socket of open) socket.destroy();
  }

  const isFor = (socket: Duplex, host: string): boolean => hosts.get(socket) === siteOf(host);

  return { track, use, isFor, drop, dropAll };
}
