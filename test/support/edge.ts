import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest, type Agent } from "node:https";
import { text } from "node:stream/consumers";

export type Site = { status: number; headers: IncomingMessage["headers"]; body: string };

export type Visitor = {
  http(host: string, path: string): Promise<Site>;
  /** @throws if the handshake fails, or the certificate is not for the host or not from the authority */
  https(host: string, path: string, agent?: Agent): Promise<Site>;
};

/** A visitor of published sites who resolves every host name to this machine and trusts only the authority of `root` (PEM). */
export function visitorOf({ httpPort, httpsPort, root }: { httpPort: number; httpsPort: number; root: string }): Visitor {
  return {
    http: (host, path) => read(httpRequest({ host: "127.0.0.1", port: httpPort, path, headers: { host }, agent: false })),
    https: (host, path, agent) =>
      read(
        httpsRequest({ host: "127.0.0.1", port: httpsPort, path, headers: { host }, servername: host, ca: root, agent: agent ?? false }),
      ),
  };
}

const silenceMs = 60_000;

/** Sends a request and returns the response. */
export async function read(request: ReturnType<typeof httpRequest>): Promise<Site> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  request.setTimeout(silenceMs, () => request.destroy(new Error("no answer")));
  request.on("response", resolve).on("error", reject).end();
  const response = await promise;
  return { status: response.statusCode ?? 0, headers: response.headers, body: await text(response) };
}
