import { AsyncLocalStorage } from "node:async_hooks";
import { randomBytes } from "node:crypto";
import type { EndedAttempt } from "../events/webhooks/session.ts";
import type { Clock } from "../platform/clock.ts";
import type { Awaitable, Database } from "../platform/db/database.ts";
import type { Exchange } from "../platform/http/exchange.ts";
import type { OnAnswer } from "../platform/http/traffic.ts";
import { coalesced, repeat } from "../platform/jobs/runs.ts";
import { loggedPath, type Logger } from "../platform/log.ts";
import type { OnVisit, Visit } from "../publishing/edge/visits.ts";
import type { Settings } from "./settings.ts";

/** Spans that wait to be sent. Further ones are dropped. */
const waitingMax = 2_048;
const batchMax = 512;
/** How long the stop waits for the collector (ms). */
const closeMsMax = 1_000;

export type Tracing = {
  /** Begins the span of an admitted request, and calls `serve` within it. */
  inSpan: (exchange: Exchange, serve: () => void) => void;
  onAnswered: OnAnswer;
  /** The span of a visit to a published site. */
  onVisit: OnVisit;
  /** The span of an attempt to deliver a webhook, in a separate trace that names the request of its event. */
  onDelivery: (attempted: EndedAttempt) => void;
  /** Wraps a gate: the calls that it awaits belong to the request's span. */
  tracedGate<G extends { authenticate(exchange: Exchange): unknown }>(gate: G): G;
  /** Wraps a database: each read and each transaction of a request gets a span. */
  traced(db: Database): Database;
  /**
   * Wraps calls: each that returns a promise gets a span, within that of its request, or in a separate trace if it belongs to no request.
   *
   * @param problemOf returns why an answer counts as an error, or undefined. Default: no answer does
   */
  tracedCalls<T extends object>(system: string, calls: T, problemOf?: (answer: unknown) => string | undefined): T;
  close(): Promise<void>;
};

type Span = Record<string, unknown>;
/** The span of a request, which the spans of its work name as their parent. */
type Scope = { traceId: string; spanId: string; parentSpanId?: string };

type Collector = Pick<Settings, "otlpEndpoint" | "otlpHeaders" | "otlpTimeoutMs" | "otlpDelayMs" | "otlpServiceName">;

/**
 * Sends a span of each request, visit and webhook, and of each call to the database, Redis, DNS and the certificate authority, to an
 * OpenTelemetry collector, as OTLP/HTTP with JSON. A request that says in its `traceparent` that it is not sampled has none. Nothing waits for the
 * collector: spans are queued within a bound, and dropped if it does not answer.
 */
export function openTracing(settings: Collector, clock: Clock, log: Pick<Logger, "info" | "warn">): Tracing {
  /** Null in a request that is not sampled, whose calls have no spans either. */
  const current = new AsyncLocalStorage<Scope | null>();
  const scopes = new WeakMap<Exchange, Scope | null>();
  const exporter = openExporter(settings, log);

  function add(scope: Scope, kind: number, name: string, ms: number, attributes: Attribute[], failed: boolean): void {
    const endMs = clock();
    const times = { startTimeUnixNano: nanoseconds(endMs - ms), endTimeUnixNano: nanoseconds(endMs) };
    exporter.add({ ...scope, name, kind, ...times, attributes, status: failed ? { code: errorCode } : {} });
  }

  const measure = openMeasure(current, add);
  const call = openCalls(current, add);

  /** The scope of a request, the same from its gate to its answer. */
  function scopeIn(exchange: Exchange): Scope | null {
    let scope = scopes.get(exchange);
    if (scope === undefined) scopes.set(exchange, (scope = scopeOf(exchange) ?? null));
    return scope;
  }

  return {
    inSpan: (exchange, serve) => current.run(scopeIn(exchange), serve),
    onVisit(visit, ms) {
      const scope = scopeOf(visit);
      if (scope) add(scope, serverKind, spanName(visit.method), ms, visitAttributes(visit), visit.status >= 500 || visit.isCut);
    },
    onDelivery: (sent) =>
      add(
        { traceId: newTraceId(), spanId: newSpanId() },
        producerKind,
        "send webhook",
        sent.ms,
        deliveryAttributes(sent),
        !sent.isDelivered,
      ),
    tracedGate: (gate) => ({ ...gate, authenticate: (exchange) => current.run(scopeIn(exchange), () => gate.authenticate(exchange)) }),
    tracedCalls: (system, calls, problemOf = () => undefined) => wrapped(calls, (name, answer) => call(system, name, answer, problemOf)),
    onAnswered(exchange, ms) {
      const { method, template, status } = exchange;
      const scope = scopeIn(exchange);
      if (scope) add(scope, serverKind, spanName(method, template), ms, requestAttributes(exchange), status >= 500);
    },
    traced: (db) => db.around((operation, work) => measure(db.engine, operation, work)),
    close: () => exporter.close(),
  };
}

type Add = (scope: Scope, kind: number, name: string, ms: number, attributes: Attribute[], failed: boolean) => void;

/** Returns the function that adds the span of work on the database within that of its request. */
function openMeasure(current: AsyncLocalStorage<Scope | null>, add: Add): Measure {
  return async (engine, operation, work) => {
    const parent = current.getStore();
    if (!parent) return work();
    const startedAt = performance.now();
    let problem: string | undefined;
    try {
      return await work();
    } catch (error) {
      problem = typeOf(error);
      throw error;
    } finally {
      const scope = { traceId: parent.traceId, spanId: newSpanId(), parentSpanId: parent.spanId };
      const attributes = databaseAttributes(engine, operation, problem);
      add(scope, clientKind, operation, performance.now() - startedAt, attributes, problem !== undefined);
    }
  };
}

/** Returns the function that adds the span of a call when it is answered. */
function openCalls(current: AsyncLocalStorage<Scope | null>, add: Add) {
  return async function call(system: string, name: string, answer: Promise<unknown>, problemOf: (answer: unknown) => string | undefined) {
    const parent = current.getStore();
    if (parent === null) return answer;
    const startedAt = performance.now();
    let problem: string | undefined = "cancelled";
    try {
      const value = await answer;
      problem = problemOf(value);
      return value;
    } catch (error) {
      problem = typeOf(error);
      throw error;
    } finally {
      const traceId = parent?.traceId ?? newTraceId();
      const scope = { traceId, spanId: newSpanId(), ...(parent && { parentSpanId: parent.spanId }) };
      const attributes = callAttributes(system, name, problem);
      add(scope, clientKind, `${system} ${name}`, performance.now() - startedAt, attributes, problem !== undefined);
    }
  };
}

/** Wraps functions: passes each promise that they return through `watch`. */
function wrapped<T extends object>(calls: T, watch: (name: string, answer: Promise<unknown>) => Promise<unknown>): T {
  const entries = Object.entries(calls).map(([name, value]: [string, unknown]) => {
    if (typeof value !== "function") return [name, value];
    const traced = (...values: unknown[]): unknown => {
      const answer: unknown = Reflect.apply(value, calls, values);
      return answer instanceof Promise ? watch(name, answer) : answer;
    };
    return [name, traced];
  });
  return Object.fromEntries(entries) as T;
}

/** Sends spans in batches, one call at a time: when a batch is full, and after a while when it is not. */
function openExporter(settings: Collector, log: Pick<Logger, "info" | "warn">) {
  let waiting: Span[] = [];
  let isAway = false;
  const resource = { attributes: [text("service.name", settings.otlpServiceName)] };
  const closing = new AbortController();
  const { run: send } = coalesced(sendAll);

  /** Sends the waiting spans, one batch at a time. */
  async function sendAll(): Promise<void> {
    do await sendBatch();
    while (waiting.length > 0 && !isAway);
  }

  async function sendBatch(): Promise<void> {
    const spans = waiting.slice(0, batchMax);
    if (spans.length === 0) return;
    waiting = waiting.slice(spans.length);
    const body = JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ scope: { name: "petstore" }, spans }] }] });
    const problem = await post(settings, body, closing.signal);
    if (problem !== undefined && !isAway) log.warn({ reason: problem }, "spans cannot be delivered, and are dropped for now");
    if (problem === undefined && isAway) log.info("spans are delivered again");
    isAway = problem !== undefined;
  }

  const job = repeat(settings.otlpDelayMs, send, () => undefined);
  return {
    add(span: Span): void {
      if (waiting.length >= waitingMax) return;
      waiting.push(span);
      if (waiting.length >= batchMax && !isAway) void send();
    },
    async close(): Promise<void> {
      const giveUp = setTimeout(() => closing.abort(), closeMsMax);
      await job.stop();
      await send();
      clearTimeout(giveUp);
    },
  };
}

/** Measures work as a span of the request that it belongs to, if there is one. */
type Measure = <T>(engine: Database["engine"], operation: string, work: () => Awaitable<T>) => Promise<T>;

/** Returns undefined for a request that is not sampled. */
function scopeOf({ traceparent }: { traceparent?: string | undefined }): Scope | undefined {
  const [, traceId = newTraceId(), parentSpanId, flags = "01"] = traceparent?.split("-") ?? [];
  if ((Number.parseInt(flags, 16) & 1) === 0) return undefined;
  return { traceId, spanId: newSpanId(), ...(parentSpanId !== undefined && { parentSpanId }) };
}

function newTraceId(): string {
  return randomBytes(16).toString("hex");
}

function newSpanId(): string {
  return randomBytes(8).toString("hex");
}

/** SPAN_KIND_SERVER, SPAN_KIND_CLIENT, SPAN_KIND_PRODUCER and STATUS_CODE_ERROR of OTLP. */
const serverKind = 2;
const clientKind = 3;
const producerKind = 4;
const errorCode = 2;

/** Returns undefined if the collector took the spans, or why it did not. */
async function post(
  { otlpEndpoint, otlpHeaders, otlpTimeoutMs }: Collector,
  body: string,
  closing: AbortSignal,
): Promise<string | undefined> {
  const headers = { ...otlpHeaders, "content-type": "application/json" };
  try {
    const signal = AbortSignal.any([AbortSignal.timeout(otlpTimeoutMs), closing]);
    const response = await fetch(`${otlpEndpoint}/v1/traces`, { method: "POST", headers, body, signal, redirect: "error" });
    await response.body?.cancel();
    return response.ok ? undefined : `the collector answers ${response.status}`;
  } catch (error) {
    return (error as Error).name === "TimeoutError" ? "the collector does not answer in time" : "the collector cannot be reached";
  }
}

function nanoseconds(ms: number): string {
  return String(BigInt(Math.round(ms * 1_000)) * 1_000n);
}

/** The kind of an error, without any text from a caller: its code, such as `ECONNREFUSED` or `unavailable`, or its name, such as `TimeoutError`. */
function typeOf(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: string };
  return typeof code === "string" ? code : (name ?? "error");
}

// The names of OpenTelemetry's semantic conventions for HTTP servers, database clients and messaging. Attributes without a name there
// begin with `petstore.`. Queries, addresses of clients and endpoints, and user agents are left out: they may hold secrets or say who somebody is.

export type Attribute = { key: string; value: { stringValue: string } | { intValue: string } };

/** The methods that the conventions know. With others, clients could make any number of span names. */
const methods = new Set(["CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"]);
const systems = { sqlite: "sqlite", postgres: "postgresql" } as const;

/** The name of the span of a request: its method, and the template of its path if a route has it. */
export function spanName(method: string, template?: string): string {
  const known = methods.has(method) ? method : "HTTP";
  return template === undefined ? known : `${known} ${template}`;
}

export function requestAttributes({ request, method, route, template, url, status, id, caller }: Exchange): Attribute[] {
  return [
    ...methodAttributes(method),
    ...(template === undefined ? [] : [text("http.route", template)]),
    text("url.scheme", "encrypted" in request.socket ? "https" : "http"),
    text("url.path", loggedPath(url)),
    ...answerAttributes(status),
    text("network.protocol.version", request.httpVersion),
    text("petstore.operation", route.name),
    text("petstore.request_id", id),
    ...(caller ? [whole("petstore.account_id", caller.accountId)] : []),
  ];
}

export function visitAttributes({ host, method, url, status, id, isCut, protocol, scheme }: Visit): Attribute[] {
  return [
    ...methodAttributes(method),
    ...(host === undefined ? [] : [text("server.address", host)]),
    text("url.scheme", scheme),
    text("url.path", loggedPath(url)),
    ...answerAttributes(status, isCut ? "cut" : undefined),
    text("network.protocol.version", protocol === "h2" ? "2" : "1.1"),
    text("petstore.request_id", id),
  ];
}

/** @param problem why it failed */
export function databaseAttributes(engine: Database["engine"], operation: string, problem?: string): Attribute[] {
  return [text("db.system.name", systems[engine]), text("db.operation.name", operation), ...errorAttributes(problem)];
}

/** Of a call to Redis, DNS or the certificate authority. */
export function callAttributes(system: string, name: string, problem?: string): Attribute[] {
  const names = system === "redis" ? [text("db.system.name", system), text("db.operation.name", name)] : [text("petstore.system", system)];
  return [...names, ...errorAttributes(problem)];
}

export function deliveryAttributes({ accountId, webhookId, messageId, requestId, type, status, isDelivered }: EndedAttempt): Attribute[] {
  return [
    text("messaging.system", "webhook"),
    text("messaging.operation.name", "send"),
    text("messaging.operation.type", "send"),
    text("messaging.destination.name", `webhook/${webhookId}`),
    text("messaging.message.id", messageId),
    text("petstore.event_type", type),
    whole("petstore.account_id", accountId),
    whole("petstore.webhook_id", webhookId),
    ...(requestId === null ? [] : [text("petstore.request_id", requestId)]),
    ...(status === null ? [] : [whole("http.response.status_code", status)]),
    ...errorAttributes(isDelivered ? undefined : status === null ? "no_answer" : String(status)),
  ];
}

function methodAttributes(method: string): Attribute[] {
  if (methods.has(method)) return [text("http.request.method", method)];
  return [text("http.request.method", "_OTHER"), text("http.request.method_original", method)];
}

function answerAttributes(status: number, problem = status >= 500 ? String(status) : undefined): Attribute[] {
  return [whole("http.response.status_code", status), ...errorAttributes(problem)];
}

function errorAttributes(problem: string | undefined): Attribute[] {
  return problem === undefined ? [] : [text("error.type", problem)];
}

export function text(key: string, value: string): Attribute {
  return { key, value: { stringValue: value } };
}

function whole(key: string, value: number): Attribute {
  return { key, value: { intValue: String(value) } };
}
