import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { BlockList } from "node:net";
import { openBounds } from "../../src/platform/bounds.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { connectionLimits, guardConnections } from "../../src/platform/connections.ts";
import { andThen, type Awaitable } from "../../src/platform/db/database.ts";
import { openAccessLog } from "../../src/platform/http/access-log.ts";
import { type Admission, admit } from "../../src/platform/http/admission.ts";
import { sendAnswer } from "../../src/platform/http/answers.ts";
import { prefix } from "../../src/platform/http/api-surfaces.ts";
import { announcedBytes, parseJson, receiveBody } from "../../src/platform/http/bodies.ts";
import { openExchange, type Exchange } from "../../src/platform/http/exchange.ts";
import { checkHosts, splitAbsoluteForm } from "../../src/platform/http/hosts.ts";
import { openHttp1 } from "../../src/platform/http/http1.ts";
import { requireAccepted } from "../../src/platform/http/negotiation.ts";
import type { Answer } from "../../src/platform/http/operation.ts";
import { boundChunks } from "../../src/platform/http/parser-bounds.ts";
import { boundRequests, requestLimits } from "../../src/platform/http/request-bounds.ts";
import type { Runnable } from "../../src/platform/http/run.ts";
import { countTraffic } from "../../src/platform/http/traffic.ts";
import { answerOf } from "../load.ts";
import { connectInMemory, connections } from "./memory-connection.ts";
import { exchangeOf, operationOn, requestText, withFirstResult, type OwnService } from "./service.ts";
import { cpuUsEach, type Measure, type Named } from "./whole.ts";

/** Requests of one kind. `next` returns the text of the next one; each is for other rows. */
export type Requests = { method: "GET" | "POST"; path: string; body?: object; operationId: string; next: () => string };

/** The turns of the event loop in a round. In each of them every connection sends a request. */
const turns = 20;
/** How often a round calls a part. */
const calls = 2_000;

/** Sends a round of requests in memory, and returns how many. */
export async function sendRound(server: Server, { next }: Requests): Promise<number> {
  const memory = connectInMemory(server, connections);
  for (let turn = 0; turn < turns; turn++) await memory.ask(Array.from({ length: connections }, next));
  memory.close();
  return turns * connections;
}

/** Measures a request to a server. */
export function measureServer(server: Server, requests: Requests): Measure {
  return async () => (await cpuUsEach(1, () => sendRound(server, requests))) / (turns * connections);
}

/** The stages of a request. A server of one of them has those before it too. */
const stages = ["http", "admission", "operation", "log"] as const;
type Stage = (typeof stages)[number];
const stageNames: Record<Stage, string> = {
  http: "HTTP/1.1: parser, streams, events, bounds, body; head and answer, written with the others of the turn",
  admission: "route, key, limits and their headers, host, requests in flight",
  operation: "the operation: scope, input, answer",
  log: "the line of the access log, and the counts of the metrics",
};

/** What a server answers: with one answer each time, or, from the stage `operation`, by running an operation. */
type Answering = { service: OwnService; requests: Requests; sent: Answer & Pick<Exchange, "limits" | "lines">; runnable: Runnable };

/** The steps of a request up to its rows, and a function that measures it with another operation, on another database for example. */
export async function requestSteps(service: OwnService, requests: Requests) {
  const { method, path, body, operationId } = requests;
  const { db, settings } = service;
  const exchange = await exchangeOf(service, method, path, requestText(service, method, path, body));
  const before = exchange.lines.length;
  const answer = await operationOn(db, settings, operationId).run(exchange, () => body);
  const sent = { ...answer, limits: exchange.limits, lines: exchange.lines.slice(before) };
  const canned = operationOn(withFirstResult(db), settings, operationId);
  const withRunnable = (runnable: Runnable, stage: Stage): Measure =>
    measureServer(openStage(stages.indexOf(stage), { service, requests, sent, runnable }), requests);
  const steps = stages.map((stage): Named => ({ what: stageNames[stage], us: withRunnable(canned, stage) }));
  const bare: Named = {
    what: "bare `node:http` with the same bytes",
    us: measureServer(bareServer(await answerOf(await service.ask(method, path, body))), requests),
  };
  const parts = [bare, ...partsOf(service, exchange)];
  return { steps, parts, measureWith: (runnable: Runnable) => withRunnable(runnable, "log") };
}

function openStage(last: number, { service, requests, sent, runnable }: Answering): Server {
  const has = (stage: Stage): boolean => stages.indexOf(stage) <= last;
  const [admits, runs, logs] = [has("admission"), has("operation"), has("log")];
  const { app, settings, log } = service;
  const bounds = openBounds();
  const inFlight = boundRequests(requestLimits, bounds);
  const admission: Admission = { log, requests: inFlight, checkHost: checkHosts(settings) };
  const traffic = countTraffic();
  const writeLog = openAccessLog(log, systemClock);

  function answered(exchange: Exchange, at: number): void {
    inFlight.release(exchange);
    if (!logs) return;
    traffic.onAnswered(exchange, at - exchange.startedAt);
    writeLog(exchange, at - exchange.startedAt);
  }

  function serve(exchange: Exchange): Awaitable<void> {
    const receive = (): Awaitable<unknown> => {
      requireAccepted(exchange.headers.accept);
      return requests.body && receiveBody(exchange, inFlight, ["application/json"], 65_536).then(parseJson);
    };
    if (runs) return andThen(runnable.run(exchange, receive), (answer) => sendAnswer(exchange, answer));
    exchange.lines += sent.lines;
    return andThen(receive(), () => sendAnswer(exchange, sent));
  }

  const shared = { trustedProxies: undefined, answered };
  const first = app.find(requests.method, prefix + requests.path);
  const route = { ...first.route, serve };
  function handle(request: IncomingMessage, response: ServerResponse): void {
    boundChunks(request, response, route, () => undefined);
    const { method = "", url = "" } = request;
    const to = admits ? app.find(method, splitAbsoluteForm(url).target) : first;
    const exchange = openExchange(shared, request, response, { ...to, route });
    if (admits) return void admit(admission, exchange);
    exchange.limits = sent.limits;
    void serve(exchange);
  }

  const limits = {
    headerBytesMax: 16_384,
    headersTimeoutMs: 20_000,
    requestTimeoutMs: 120_000,
    keepAliveTimeoutMs: 65_000,
    timeoutCheckMs: 30_000,
  };
  const guard = guardConnections({ limits: connectionLimits, exempt: new BlockList(), bounds, listener: "api" });
  return openHttp1({ limits, guard, bounds, bodyBytesOf: announcedBytes, handle }).server;
}

/** Parts of admission and of the log, alone. */
function partsOf({ app, settings, log }: OwnService, exchange: Exchange): Named[] {
  const { method, url, surface } = exchange;
  const inFlight = boundRequests(requestLimits, openBounds());
  const checkHost = checkHosts(settings);
  const writeLog = openAccessLog(log, systemClock);
  const part = (what: string, work: () => unknown): Named => ({ what, us: () => cpuUsEach(calls, work) });
  return [
    part("the route", () => app.find(method, url)),
    part("the key, the limits and their headers", () => surface!.gate.authenticate(exchange)),
    part("the host, and the requests in flight", () => {
      checkHost(exchange);
      void inFlight.admit(exchange);
      inFlight.release(exchange);
    }),
    part("the line of the access log", () => writeLog(exchange, 0.2)),
  ];
}

/** The least that Node needs to send the same bytes. */
function bareServer({ status, headers, body }: Awaited<ReturnType<typeof answerOf>>): Server {
  return createServer((request, response) => {
    const send = (): void => void response.writeHead(status, headers).end(body);
    if (request.method === "GET") return send();
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      JSON.parse(Buffer.concat(chunks).toString("utf8"));
      send();
    });
  });
}
