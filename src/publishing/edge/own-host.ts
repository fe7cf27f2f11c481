import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { TLSSocket } from "node:tls";

/** A server of HTTP/1.1 that answers the HTTPS connections of one host, such as that of the API. */
export type OwnHost = { host: string; server: Server };

/** The events that an HTTP server emits for a new request. */
const events = ["request", "checkContinue", "checkExpectation"];

/**
 * Returns the function that passes a host's secure connections to its server, which then reads and answers them like its own. The edge still
 * counts them among its connections.
 *
 * @param hstsSeconds returns the max-age of Strict-Transport-Security; undefined to send none
 */
export function passConnections({ server }: OwnHost, hstsSeconds: () => number | undefined): (socket: TLSSocket) => void {
  const passed = new WeakSet<object>();
  const prepare = ({ socket }: IncomingMessage, response: ServerResponse): void => {
    if (!passed.has(socket)) return;
    const seconds = hstsSeconds();
    if (seconds !== undefined) response.setHeader("Strict-Transport-Security", `max-age=${seconds}`);
  };
  for (const event of events) server.prependListener(event, prepare);
  return (socket) => {
    passed.add(socket);
    server.emit("connection", socket);
  };
}
