import { constants } from "node:crypto";
import type { Socket } from "node:net";
import { createSecureContext, createServer, type SecureContext, type Server, type TLSSocket } from "node:tls";
import { addressName } from "../../platform/addresses.ts";
import type { Bounds } from "../../platform/bounds.ts";
import { createCache } from "../../platform/cache.ts";
import { openLoopTurns } from "../../platform/event-loop.ts";
import { normaliseName } from "../../platform/http/hosts.ts";
import { openSharedRuns } from "../../platform/jobs/runs.ts";
import type { Certificates, EdgeHosts, KeyPair, Log } from "./site.ts";

/** Cipher suites with authenticated encryption (AEAD) and forward secrecy: those of TLS 1.3, then of 1.2. */
const cipherSuites = [
  "TLS_AES_128_GCM_SHA256",
  "TLS_AES_256_GCM_SHA384",
  "TLS_CHACHA20_POLY1305_SHA256",
  "ECDHE-ECDSA-AES128-GCM-SHA256",
  "ECDHE-RSA-AES128-GCM-SHA256",
  "ECDHE-ECDSA-AES256-GCM-SHA384",
  "ECDHE-RSA-AES256-GCM-SHA384",
  "ECDHE-ECDSA-CHACHA20-POLY1305",
  "ECDHE-RSA-CHACHA20-POLY1305",
];
/** Set both on the server and on each name's context: OpenSSL takes the versions from the server and the suites from the context. */
const tlsOptions = { minVersion: "TLSv1.2", maxVersion: "TLSv1.3", ciphers: cipherSuites.join(":") } as const;

const secureContext = (pair: KeyPair): SecureContext => createSecureContext({ ...tlsOptions, ...pair });

const challengeProtocol = "acme-tls/1";
const protocols = ["h2", "http/1.1"];

/** `secureContextsMax`: each context takes about 30 KB outside the heap. */
export type TlsLimits = { handshakeTimeoutMs: number; secureContextsMax: number };

/**
 * Terminates TLS by name. There is no default certificate: the handshake fails if the client sends no name, or one without a certificate.
 * Sessions are not resumed: OpenSSL would resume a session under a name other than its own, and then skip the look-up by name. A name
 * can be removed during the handshake, so every connection is checked again once it is secure.
 *
 * @param http1Host a name that is served over HTTP/1.1 only
 * @param serve called with each secure connection whose name is served; `socket.alpnProtocol` is its protocol
 */
export function createTlsServer(
  { certificates, challenges }: Pick<EdgeHosts, "certificates" | "challenges">,
  { bounds, log }: { bounds: Pick<Bounds, "queue">; log: Log },
  limits: TlsLimits,
  http1Host: string | undefined,
  serve: (socket: TLSSocket, host: string) => void,
): Server {
  const contextOf = openContexts(certificates, limits.secureContextsMax);
  const challenged = new WeakMap<TLSSocket, SecureContext>();
  const inTurn = openLoopTurns(bounds.queue<string>("handshakes", { waitMs: limits.handshakeTimeoutMs }));
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
        const known = http1Host !== undefined && normaliseName(offer.servername) === http1Host ? ["http/1.1"] : protocols;
        return known.find((protocol) => offer.protocols.includes(protocol));
      }
      const context = challengeContext(offer.servername);
      if (context === undefined) return undefined;
      challenged.set(this, context);
      this.setKeyCert(context);
      return challengeProtocol;
    },
    SNICallback(this: TLSSocket, name: string, done: (error: Error | null, context?: SecureContext) => void) {
      const context = challenged.get(this) ?? contextOf(normaliseName(name) ?? "") ?? challengeContext(name);
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
    const pair = challenges.tlsAlpn(normaliseName(name) ?? "");
    return pair && secureContext(pair);
  }

  handshakeInTurn(server, runInTurn);
  server.on("tlsClientError", (_error, socket) => socket.destroy());
  server.on("secureConnection", (socket) => {
    socket.on("error", () => socket.destroy());
    if (socket.alpnProtocol === challengeProtocol) return socket.end();
    const host = normaliseName(socket.servername || "");
    if (socket.isSessionReused() || host === undefined || certificates.current(host) === undefined) return socket.destroy();
    serve(socket, host);
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

/**
 * Caches the most recently used secure contexts by certificate: a context costs 0.2 ms and 30 KB, a certificate as PEM 1.4 KB. Concurrent
 * handshakes share one load. A renewed certificate has a new id, so the next handshake uses it.
 *
 * @returns a function that returns the context of a name's certificate, or a promise if it is not cached. Undefined if the name has no certificate.
 */
function openContexts(certificates: Certificates, contextsMax: number) {
  const cache = createCache<string, SecureContext>(contextsMax);
  const loading = openSharedRuns<string, SecureContext | undefined>();

  async function make(id: string, host: string): Promise<SecureContext | undefined> {
    const pair = await certificates.load(id, host);
    if (pair === undefined) return undefined;
    return cache.set(id, secureContext(pair));
  }

  return (host: string): SecureContext | undefined | Promise<SecureContext | undefined> => {
    const id = certificates.current(host);
    if (id === undefined) return undefined;
    return cache.get(id) ?? loading.run(id, () => make(id, host));
  };
}
