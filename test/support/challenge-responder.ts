import { createServer as createHttpServer } from "node:http";
import type { Server } from "node:net";
import { createServer as createTlsServer, createSecureContext, type SecureContext } from "node:tls";
import type { AcmeChallenge } from "../../src/publishing/acme/acme-client.ts";
import { tlsAlpnCertificate } from "../../src/publishing/acme/x509.ts";

export type ChallengeResponder = {
  httpPort: number;
  tlsPort: number;
  /** Publishes a challenge. Once this resolves, the challenge is answered. */
  publish(hostname: string, challenge: AcmeChallenge, now: number): Promise<void>;
  close(): Promise<void>;
};

/** Answers the authority's challenges and nothing else: http-01 on one port, tls-alpn-01 on the other. */
export async function startChallengeResponder(): Promise<ChallengeResponder> {
  const texts = new Map<string, string>();
  const contexts = new Map<string, SecureContext>();
  const http = createHttpServer((request, response) => {
    const text = texts.get(request.url ?? "");
    response.writeHead(text === undefined ? 404 : 200, { connection: "close" }).end(text);
  });
  const tls = createTlsServer({
    ALPNProtocols: ["acme-tls/1"],
    SNICallback: (name, done) => done(null, contexts.get(name)),
  }).on("tlsClientError", () => {});
  const [httpPort, tlsPort] = await Promise.all([listen(http), listen(tls)]);
  return {
    httpPort,
    tlsPort,
    async publish(hostname, challenge, now) {
      if (challenge.type === "http-01") texts.set(`/.well-known/acme-challenge/${challenge.token}`, challenge.keyAuthorization);
      else contexts.set(hostname, createSecureContext(await tlsAlpnCertificate(hostname, challenge.keyAuthorization, now)));
    },
    close: async () => void (await Promise.all([http, tls].map((server) => new Promise((done) => server.close(done))))),
  };
}

function listen(server: Server): Promise<number> {
  return new Promise((done) =>
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      done(typeof address === "object" && address !== null ? address.port : 0);
    }),
  );
}
