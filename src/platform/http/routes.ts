import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Clock, NowRange } from "../clock.ts";
import type { Database } from "../db/database.ts";
import { Problem } from "../problem.ts";
import { answerWriter, send } from "./answers.ts";
import { bodyBytesMaxOf, hasBody, parseJson, readBody, streamBody, tooLarge } from "./bodies.ts";
import { idempotencyKeyOf, idempotentRunner } from "./idempotency.ts";
import { requireJsonAccepted, requireMediaType } from "./negotiation.ts";
import { type Caller, clientAddress } from "./caller.ts";
import {
  readingOf,
  sunsetOf,
  type Answer,
  type Call,
  type DashboardCall,
  type DescribedOperation,
  type Operation,
  type Received,
  type Sunsets,
} from "./operation.ts";
import type { RequestBounds } from "./request-bounds.ts";
import { addressOf, prefix, relocated } from "./api-surfaces.ts";
import { bodyValidator, parameterValidator } from "./validation.ts";

/** What the operations of an app run with. */
export type Runtime<S> = {
  db: Database;
  clock: Clock;
  nowRange: () => NowRange;
  requests: Pick<RequestBounds, "takeBytes">;
  /** What the operations need besides the database. */
  services: S;
  sunsets: Sunsets;
};

type Change<S> = Extract<Operation<S>, { write: unknown }>;

/** Everything about one operation that is the same for all its requests. */
type Route<S> = {
  operation: Operation<S>;
  runtime: Runtime<S>;
  base: string;
  validateParams: ReturnType<typeof parameterValidator> | undefined;
  validateQuery: ReturnType<typeof parameterValidator>;
  validateBody: ReturnType<typeof bodyValidator> | undefined;
  addDeprecation: ((request: FastifyRequest, now: number) => void) | undefined;
  writeAnswer: ReturnType<typeof answerWriter>;
  idempotent: ReturnType<typeof idempotentRunner>;
  mediaTypes: readonly string[];
  bytesMax: number;
};

/** The validated input of one request, with the parsed body as it was sent. */
type Given = { params: unknown; query: unknown; body: unknown; sent: unknown; key: string | undefined; now: number };

/**
 * Adds a route below `base` for each operation, and a 405 for each method that a path does not have. Refusals come in the order of
 * specification 1.9; the gate has made those that come before them (address, key, limits).
 */
export function addOperations<S>(app: FastifyInstance, operations: Operation<S>[], runtime: Runtime<S>, base = prefix): void {
  const idempotent = idempotentRunner();
  for (const operation of operations) {
    const route = routeOf(operation, runtime, idempotent, base);
    app.route({
      method: operation.method,
      url: routePattern(base, operation.path),
      config: { operationId: operation.operationId, isOpen: operation.scope === null },
      handler: (request, reply) => handleRequest(route, request, reply),
    });
  }
  for (const path of new Set(operations.map((operation) => operation.path))) addMethodNotAllowed(app, base, path, operations);
}

function routeOf<S>(operation: Operation<S>, runtime: Runtime<S>, idempotent: Route<S>["idempotent"], base: string): Route<S> {
  if (operation.scope === null && operation.body && !operation.throttle) {
    throw new TypeError(`${operation.operationId} reads bodies from anyone, so it needs a throttle`);
  }
  return {
    operation,
    runtime,
    base,
    validateParams: operation.params && parameterValidator(operation.params, "path"),
    validateQuery: parameterValidator(operation.query ?? { type: "object", properties: {} }, "query"),
    validateBody: operation.body && bodyValidator(operation.body, readingOf(operation)),
    addDeprecation: operation.deprecated && deprecationOf(operation.deprecated, sunsetOf(operation, runtime.sunsets), base),
    writeAnswer: answerWriter(operation),
    idempotent,
    mediaTypes: operation.mediaTypes ?? ["application/json"],
    bytesMax: bodyBytesMaxOf(operation),
  };
}

async function handleRequest<S>(route: Route<S>, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { operation, runtime, base } = route;
  const now = runtime.clock();
  operation.throttle?.(runtime.services, clientAddress(request), now);
  if (operation.params) requireParameters(request.params as Record<string, string>);
  route.addDeprecation?.(request, now);
  const caller = requireScope(request, operation.scope);
  if (caller && operation.authorize) await operation.authorize(runtime.db.forAccount(caller.accountId), caller, now);
  requireJsonAccepted(request.headers.accept);

  let sent: unknown;
  if (route.validateBody) {
    const isChunked = request.headers["transfer-encoding"] !== undefined;
    admitBody(route, request, isChunked);
    const { requests } = runtime;
    const bytes = await readBody(request.raw, route.bytesMax, isChunked ? (count) => requests.takeBytes(request, count) : undefined);
    // the size comes first, and the size of a chunked body is known only now
    if (isChunked && bytes.length > 0) requireMediaType(route.mediaTypes, request.headers);
    sent = parseJson(bytes);
  }
  if (operation.upload) {
    requireBodyWithin(request, route.bytesMax);
    requireMediaType([operation.upload.mediaType], request.headers);
  }
  const key = operation.method === "POST" && operation.write ? idempotencyKeyOf(request.headers["idempotency-key"]) : undefined;
  if (request.keyProblem) throw request.keyProblem;
  const params = route.validateParams?.(request.params);
  const given = { params, query: route.validateQuery(request.query), body: route.validateBody?.(sent, params), sent, key, now };
  const answered = await run(route, request, caller, given);
  route.writeAnswer(request, reply, base === prefix ? answered : moved(answered, base));
}

/** Refuses a body by its headers, before any of it is read. */
function admitBody<S>({ runtime, mediaTypes, bytesMax }: Route<S>, request: FastifyRequest, isChunked: boolean): void {
  requireBodyWithin(request, bytesMax);
  if (isChunked) return;
  if (hasBody(request.headers)) requireMediaType(mediaTypes, request.headers);
  const refusal = runtime.requests.takeBytes(request, Number(request.headers["content-length"] ?? 0));
  if (refusal) throw refusal;
}

function run<S>(route: Route<S>, request: FastifyRequest, caller: Caller | null, given: Given): Promise<Answer> {
  const { operation, runtime } = route;
  const { db, services } = runtime;
  const { params, query, body, now } = given;
  const { headers } = request;
  if (operation.handle) {
    const own = caller ? db.forAccount(caller.accountId) : db;
    const [address, userAgent] = [clientAddress(request), headers["user-agent"] ?? ""];
    return operation.handle({ params, query, body, db: own, caller, address, userAgent, services, now } as DashboardCall<S, never>);
  }
  if (!caller) throw unknownCaller();
  const { accountId, keyId } = caller;
  const conditions = { ifMatch: headers["if-match"], ifNoneMatch: headers["if-none-match"] };
  const call = { params, query, body, accountId, keyId, conditions, services, now } as Call<S, never>;
  const own = db.forAccount(accountId);
  return operation.read ? operation.read(own, call) : change(route, operation, own, call, request, given);
}

async function change<S>(
  { runtime, base, idempotent, bytesMax }: Route<S>,
  { before, write, finish, method, path, upload }: Change<S>,
  db: Database,
  call: Call<S, never>,
  request: FastifyRequest,
  { params, sent, key }: Given,
): Promise<Answer> {
  const prepared = (await before?.(db, call, streamBody(request.raw, bytesMax))) as never;
  try {
    if (key === undefined) return await db.write((tx) => write(tx, call, prepared));
    const target = `${method} ${filledPath(base, path, params as Record<string, unknown> | undefined)}`;
    const input = upload ? (prepared as Received).fingerprint : sent;
    const { accountId } = call as Call<S>;
    return await idempotent(db, { accountId, target, key }, input, runtime.nowRange(), (tx) => write(tx, call, prepared));
  } finally {
    await finish?.(db, call, prepared);
  }
}

function requireScope({ caller, headers }: FastifyRequest, scope: string | null): Caller | null {
  if (scope === null) return caller;
  if (!caller) throw unknownCaller();
  requireOrigin(caller, headers.origin);
  if (caller.scopes.has(scope)) return caller;
  throw new Problem("forbidden", caller.person ? "Your role does not allow this." : `The key lacks the scope ${scope}.`);
}

/** A browser names the origin of every page that calls another host. A request without one comes from a program, and passes. */
function requireOrigin({ origins }: Caller, origin: string | undefined): void {
  if (origins === undefined || origin === undefined || origins.has(origin)) return;
  throw new Problem("forbidden", "The key is bound to other origins than that of this page.");
}

function unknownCaller(): Problem {
  return new Problem("unauthorized", "The request needs an API key.");
}

/** The answer with its addresses below `base`, for an operation of the API that is served there too. */
function moved(answer: Answer, base: string): Answer {
  const { location, link, ...headers } = answer.headers ?? {};
  if (location !== undefined) headers["location"] = relocated(location, base);
  if (link !== undefined) headers["link"] = `<${relocated(link.slice(1), base)}`;
  return { ...answer, headers };
}

/** The router lets `/pets/` through as `/pets/{petId}` with an empty id: there is no such path. */
function requireParameters(params: Record<string, string>): void {
  for (const name in params) if (params[name] === "") throw notFound();
}

/** Adds `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and the successor to an answer; refuses the request after the sunset. */
function deprecationOf({ since, successor }: NonNullable<DescribedOperation["deprecated"]>, sunset: number, base: string) {
  const end = new Date(sunset).toUTCString();
  const headers = ["Deprecation", `@${Math.floor(since / 1000)}`, "Sunset", end];
  const [before = "", name = "", after = ""] = relocated(addressOf(successor), base).split(/\{(\w+)\}/);

  return (request: FastifyRequest, now: number): void => {
    const value = (request.params as Record<string, string>)[name] ?? "";
    const link = before + encodeURIComponent(value.toWellFormed()) + after;
    request.answerHeaders.push(...headers, "Link", `<${link}>; rel="successor-version"`);
    if (now >= sunset) throw new Problem("operation_sunset", `This operation ended on ${end}. Its successor: ${link}`);
  };
}

function requireBodyWithin(request: FastifyRequest, bytesMax: number): void {
  if (Number(request.headers["content-length"] ?? 0) > bytesMax) throw tooLarge(bytesMax);
}

function addMethodNotAllowed<S>(app: FastifyInstance, base: string, path: string, operations: Operation<S>[]): void {
  const allowed = operations.filter((operation) => operation.path === path).map((operation) => operation.method as string);
  if (allowed.includes("GET")) allowed.push("HEAD");
  const allow = [...allowed, "OPTIONS"].toSorted().join(", ");
  app.route({
    method: app.supportedMethods.filter((method) => !allowed.includes(method)),
    url: routePattern(base, path),
    config: { allow },
    // the other methods were refused before (`request-form.ts`)
    handler: (request, reply) => {
      request.answerHeaders.push("Allow", allow);
      return send(request, reply, 204);
    },
  });
}

/** The path of a request in its one canonical spelling. */
function filledPath(base: string, path: string, params: Record<string, unknown> | undefined): string {
  return (base + path).replaceAll(/\{(\w+)\}/g, (_all, name: string) => String(params?.[name]));
}

function routePattern(base: string, path: string): string {
  return (base + path).replaceAll(/\{(\w+)\}/g, ":$1");
}

/** The path of a request's URL, without its query. */
export function pathOf(url: string): string {
  const end = url.indexOf("?");
  return end < 0 ? url : url.slice(0, end);
}

/** The refusal of a path that does not exist. */
export function notFound(): Problem {
  return new Problem("not_found", "There is nothing at this path.");
}
