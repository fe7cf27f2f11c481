import { constants } from "node:crypto";
import type { Socket } from "node:net";
import { createServer, type SecureContext, type Server, type TLSSocket } from "node:tls";
import { addressName } from "../../platform/addresses.ts";
import type { Bounds } from "../../platform/bounds.ts";
import { openLoopTurns } from "../../platform/event-loop.ts";
import { createContexts, secureContext, tlsOptions } from "./contexts.ts";
import type { EdgeLimits } from "./limits.ts";
import { normaliseName } from "./requests.ts";
import type { Certificates, Challenges, Log } from "./site.ts";

const challengeProtocol = "acme-tls/1";
const protocols = ["h2", "http/1.1"];

export type TlsParts = {
  certificates: Certificates;
  challenges: Challenges;
  limits: EdgeLimits;
  bounds: Pick<Bounds, "queue">;
  log: Log;
  /** Called with each secure connection whose name is served; `socket.alpnProtocol` is its protocol. */
  serve(socket: TLSSocket, host: string): void;
  /** A name that is served over HTTP/1.1 only. */
  http1Host?: string | undefined;
};

/**
 * Terminates TLS by name. There is no default certificate: the handshake fails if the client sends no name, or one without a certificate.
 * Sessions are not resumed: OpenSSL would resume a session under a name other than its own, and then skip the look-up by name. A name
 * can be removed during the handshake, so every connection is checked again once it is secure.
 */
export function createTlsServer(parts: TlsParts): Server {
  const { certificates, limits, log } = parts;
  const contexts = createContexts(certificates, limits.secureContextsMax);
  const challenged = new WeakMap<TLSSocket, SecureContext>();
  const inTurn = openLoopTurns(parts.bounds.queue<string>("handshakes", { waitMs: limits.handshakeTimeoutMs }));
  const runInTurn: RunInTurn = (socket, job) => inTurn(addressName(socket.remoteAddress ?? ""), job, () => socket.destroy());

  const server = createServer({
    ...tlsOptions,
    // Without tickets a session could be resumed only by its id, and no session ids are stored.
    secureOptions: constants.SSL_OP_NO_TICKET,
    handshakeTimeout: limits.handshakeTimeoutMs,
    // Node calls ALPNCallback with the connection as `this`: on TLS 1.3 before SNICallback, on 1.2 after SNICallback and after the choice of a
    // cipher, which needs a certificate. So SNICallback returns the challenge's certificate for a name that has no other.
    ALPNCallback(this: TLSSocket, offer: { servername: string; protocols: string[] }) {
      if (!offer.protocols.includes(challengeProtocol)) {
        const known = parts.http1Host !== undefined && normaliseName(offer.servername) === parts.http1Host ? ["http/1.1"] : protocols;
        return known.find((protocol) => offer.protocols.includes(protocol));
      }
      const context = challengeContext(offer.servername);
      if (context === undefined) return undefined;
      challenged.set(this, context);
      this.setKeyCert(context);
      return challengeProtocol;
    },
    SNICallback(this: TLSSocket, name: string, done: (error: Error | null, context?: SecureContext) => void) {
      const context = challenged.get(this) ?? contexts.get(normaliseName(name) ?? "") ?? challengeContext(name);
      if (!(context instanceof Promise)) return runInTurn(this, () => done(null, context));
      context.then(
        (made) => runInTurn(this, () => done(null, made)),
        (error: unknown) => {
          log.error({ err: error, host: name }, "a certificate could not be used");
          done(null);
        },
      );
    },
  });

  function challengeContext(name: string): SecureContext | undefined {
    const pair = parts.challenges.tlsAlpn(normaliseName(name) ?? "");
    return pair && secureContext(pair);
  }

  handshakeInTurn(server, runInTurn);
  server.on("tlsClientError", (_error, socket) => socket.destroy());
  server.on("secureConnection", (socket) => {
    socket.on("error", () => socket.destroy());
    if (socket.alpnProtocol === challengeProtocol) return socket.end();
    const host = normaliseName(socket.servername || "");
    if (socket.isSessionReused() || host === undefined || certificates.current(host) === undefined) return socket.destroy();
    parts.serve(socket, host);
  });
  return server;
}

type RunInTurn = (socket: Socket, job: () => void) => void;

/**
 * Starts or continues one handshake per turn of the event loop, in turns by address. A client may send a hundred requests right after its handshake, so many
 * clients that connect at once would fill a turn, and everything else would wait for all of them.
 */
function handshakeInTurn(server: Server, runInTurn: RunInTurn): void {
  for (const begin of server.listeners("connection")) {
    server.off("connection", begin as () => void);
    server.on("connection", (socket) => runInTurn(socket, () => socket.destroyed || begin.call(server, socket)));
  }
}
