import { createSecureContext, createServer, type SecureContext, type Server, type TLSSocket } from "node:tls";
import type { Clock } from "../../platform/clock.ts";
import { createContexts } from "./contexts.ts";
import type { EdgeLimits } from "./limits.ts";
import { normaliseName } from "./requests.ts";
import type { Certificates, Challenges, Log } from "./site.ts";
import { ticketKeys, ticketPeriodMs } from "./tickets.ts";

const challengeProtocol = "acme-tls/1";
const protocols = ["h2", "http/1.1"];

export type TlsParts = {
  certificates: Certificates;
  challenges: Challenges;
  ticketSecret: Buffer;
  limits: EdgeLimits;
  log: Log;
  clock: Clock;
  /**
   * Takes over a connection whose name is served now; the protocol is `socket.alpnProtocol`. No name where a session of TLS 1.2 is resumed:
   * the first request has to tell one.
   */
  serve(socket: TLSSocket, host: string | undefined): void;
};

/**
 * Terminates TLS by name. There is no default certificate: a client that sends no name, or one without a certificate, gets a refused
 * handshake. A resumed session skips the look-up by name, so every connection is checked again once it is secure, or at its first request.
 */
export function createTlsServer(parts: TlsParts): Server {
  const { certificates, limits, log } = parts;
  const contexts = createContexts(certificates, limits.secureContextsMax);
  const challenged = new WeakMap<TLSSocket, SecureContext>();

  const server = createServer({
    minVersion: "TLSv1.2",
    handshakeTimeout: limits.handshakeTimeoutMs,
    ticketKeys: ticketKeys(parts.ticketSecret, parts.clock()),
    // Called with the connection as `this`. On TLS 1.3 it comes before SNICallback, on 1.2 after it and after the choice of a cipher, for
    // which there must be a certificate: there a name without one of its own begins with that of its challenge.
    ALPNCallback(this: TLSSocket, offer: { servername: string; protocols: string[] }) {
      if (!offer.protocols.includes(challengeProtocol)) return protocols.find((protocol) => offer.protocols.includes(protocol));
      const context = challengeContext(offer.servername);
      if (context === undefined) return undefined;
      challenged.set(this, context);
      this.setKeyCert(context);
      return challengeProtocol;
    },
    SNICallback(this: TLSSocket, name: string, done: (error: Error | null, context?: SecureContext) => void) {
      const context = challenged.get(this) ?? contexts.get(normaliseName(name) ?? "") ?? challengeContext(name);
      if (!(context instanceof Promise)) return done(null, context);
      context.then(
        (made) => done(null, made),
        (error: unknown) => {
          log.error({ err: error, host: name }, "a certificate could not be used");
          done(null);
        },
      );
    },
  });

  function challengeContext(name: string): SecureContext | undefined {
    const pair = parts.challenges.tlsAlpn(normaliseName(name) ?? "");
    return pair && createSecureContext(pair);
  }

  server.maxConnections = limits.connectionsMax;
  rotateTicketKeys(server, parts);
  server.on("tlsClientError", (_error, socket) => socket.destroy());
  server.on("secureConnection", (socket) => {
    socket.on("error", () => socket.destroy());
    if (socket.alpnProtocol === challengeProtocol) return socket.end();
    if (isNameless(socket)) return parts.serve(socket, undefined);
    const host = normaliseName(socket.servername || "");
    if (host === undefined || certificates.current(host) === undefined) return socket.destroy();
    parts.serve(socket, host);
  });
  return server;
}

/** OpenSSL gives the name of a resumed session from the session itself on TLS 1.2, where Node keeps none. */
function isNameless(socket: TLSSocket): boolean {
  return !socket.servername && socket.isSessionReused() && socket.getProtocol() === "TLSv1.2";
}

function rotateTicketKeys(server: Server, { ticketSecret, clock }: TlsParts): void {
  let period = Math.floor(clock() / ticketPeriodMs);
  server.prependListener("connection", () => {
    const now = clock();
    if (Math.floor(now / ticketPeriodMs) === period) return;
    period = Math.floor(now / ticketPeriodMs);
    server.setTicketKeys(ticketKeys(ticketSecret, now));
  });
}
