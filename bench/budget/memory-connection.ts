import type { Server } from "node:http";
import { Duplex } from "node:stream";

/** Connections to a server in this process, without sockets. */
export type MemoryConnections = {
  /** Sends one request on each connection, and resolves with the number of answers when all have come. @throws Error for an answer other than 2xx */
  ask(requests: readonly string[]): Promise<number>;
  close(): void;
};

/** How many connections there are, each of which has one request in a turn of the event loop. */
export const connections = 64;
const address = { remoteAddress: "127.0.0.1", localAddress: "127.0.0.1", localPort: 1, bytesRead: 0, bytesWritten: 0 };

/** Connects to a server by its `connection` event. A request then takes Node's parser, streams and events, and no system call. */
export function connectInMemory(server: Server, count: number): MemoryConnections {
  let missing = 0;
  let done: ((answers: number) => void) | undefined;
  let failed: ((error: Error) => void) | undefined;

  function answered(begin: string): void {
    if (!/^HTTP\/1\.1 20[01] /.test(begin)) return failed?.(new Error(begin));
    missing -= 1;
    if (missing === 0) done?.(count);
  }

  const sockets = Array.from({ length: count }, (_, i) => {
    const socket = new Duplex({
      decodeStrings: false,
      read: () => undefined,
      write(chunk: string | Buffer, _encoding, next) {
        if (typeof chunk === "string" ? chunk.startsWith("HTTP/") : chunk.subarray(0, 5).toString() === "HTTP/")
          answered(chunk.toString().slice(0, 300));
        next();
      },
    });
    Object.assign(socket, address, { remotePort: 1_024 + i });
    server.emit("connection", socket);
    return socket;
  });

  return {
    ask(requests) {
      missing = requests.length;
      const answers = new Promise<number>((resolve, reject) => {
        done = resolve;
        failed = reject;
      });
      for (const [i, request] of requests.entries()) sockets[i]!.push(request, "latin1");
      return answers;
    },
    close: () => sockets.forEach((socket) => socket.destroy()),
  };
}
