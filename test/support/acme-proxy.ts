import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { createServer, request as send, type Server } from "node:https";
import type { Pebble } from "./pebble.ts";

/** A request on its way to the authority. `payload`: its signed payload, decoded; null if it has none. */
export type ProxiedRequest = {
  method: string;
  path: string;
  payload: unknown;
  /** The status of the authority's own answer; undefined if the request did not reach it. */
  status?: number;
};
export type ProxiedAnswer = { status: number; headers: IncomingHttpHeaders; body: Buffer };

type MaybeLater<T> = T | Promise<T>;

export type Interception = {
  /** Answers in place of the authority, which never receives the request. */
  before?: (request: ProxiedRequest) => MaybeLater<Partial<ProxiedAnswer> | "hang up" | undefined>;
  /** Changes the authority's answer, or hangs up: the request has taken effect, the reply is lost. */
  after?: (request: ProxiedRequest, answer: ProxiedAnswer) => MaybeLater<ProxiedAnswer | "hang up">;
};

export type AcmeProxy = {
  directoryUrl: string;
  /** The current faults. Tests replace them at any time. */
  intercept: Interception;
  /** Every request received, oldest first. */
  requests: ProxiedRequest[];
  close(): Promise<void>;
};

/** An HTTPS proxy in front of Pebble that injects faults. It keeps the Host header, so that every URL of the authority leads through it. */
export async function startAcmeProxy(pebble: Pebble): Promise<AcmeProxy> {
  const target = new URL(pebble.directoryUrl);
  const server = createServer({ cert: pebble.tls.cert, key: pebble.tls.key });
  const port = await new Promise<number>((done) =>
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      done(typeof address === "object" && address !== null ? address.port : 0);
    }),
  );
  const proxy: AcmeProxy = {
    directoryUrl: `https://localhost:${port}${target.pathname}`,
    intercept: {},
    requests: [],
    close: () => closeServer(server),
  };
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    pass(proxy, target, pebble.ca, request, response).catch(() => response.destroy());
  });
  return proxy;
}

function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((done) => server.close(() => done()));
}

async function pass(proxy: AcmeProxy, target: URL, ca: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await readAll(request);
  const seen: ProxiedRequest = { method: request.method ?? "", path: request.url ?? "", payload: payloadOf(body) };
  proxy.requests.push(seen);
  const answer = await answerFor(proxy, seen, () => forward(target, ca, request, body));
  if (answer === "hang up") return void response.destroy();
  const { "transfer-encoding": _, ...headers } = answer.headers;
  response.writeHead(answer.status, { ...headers, "content-length": answer.body.length }).end(answer.body);
}

async function answerFor(
  { intercept }: AcmeProxy,
  request: ProxiedRequest,
  ask: () => Promise<ProxiedAnswer>,
): Promise<ProxiedAnswer | "hang up"> {
  const instead = await intercept.before?.(request);
  if (instead === "hang up") return instead;
  if (instead !== undefined) return { status: 200, headers: {}, body: Buffer.alloc(0), ...instead };
  const answer = await ask();
  Object.assign(request, { status: answer.status });
  return (await intercept.after?.(request, answer)) ?? answer;
}

async function forward(target: URL, ca: string, from: IncomingMessage, body: Buffer): Promise<ProxiedAnswer> {
  const options = {
    host: "127.0.0.1",
    servername: "localhost",
    port: target.port,
    method: from.method,
    path: from.url,
    headers: from.headers,
    ca,
  };
  const answer = await new Promise<IncomingMessage>((answered, failed) => {
    send(options, answered).on("error", failed).end(body);
  });
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: await readAll(answer) };
}

async function readAll(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function payloadOf(body: Buffer): unknown {
  if (body.length === 0) return null;
  const { payload } = JSON.parse(body.toString()) as { payload?: string };
  return payload === undefined || payload === "" ? null : JSON.parse(Buffer.from(payload, "base64url").toString());
}
