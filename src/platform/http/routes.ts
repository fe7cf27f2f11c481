import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Clock, NowRange } from "../clock.ts";
import type { Database } from "../db/database.ts";
import { Problem } from "../problem.ts";
import { answerWriter, send } from "./answers.ts";
import { bodyBytesMaxOf, hasBody, parseJson, readBody, streamBody, tooLarge } from "./bodies.ts";
import { clientAddress } from "./client-address.ts";
import { idempotencyKeyOf, idempotentRunner } from "./idempotency.ts";
import { requireJsonAccepted, requireMediaType } from "./negotiation.ts";
import type { Caller } from "./caller.ts";
import { readingOf, type Answer, type Call, type Operation, type Received, type DashboardCall } from "./operation.ts";
import type { RequestBounds } from "./request-bounds.ts";
import { addressOf, prefix, relocated } from "./prefix.ts";
import { bodyValidator, parameterValidator } from "./validation.ts";

type Runtime = { db: Database; clock: Clock; nowRange: () => NowRange; requests: Pick<RequestBounds, "takeBytes"> };

type Change = Extract<Operation, { write: unknown }>;

/**
 * Makes a route below `base` of each operation, and a 405 of each method that a path does not have. Refusals come in the order of
 * decisions, part 1; what comes before them (address, key, limits) is the gate's.
 */
export function addOperations(app: FastifyInstance, operations: Operation[], runtime: Runtime, base = prefix): void {
  const idempotent = idempotentRunner();
  for (const operation of operations) {
    app.route({
      method: operation.method,
      url: routeOf(base, operation.path),
      config: { operationId: operation.operationId, isOpen: operation.scope === null },
      handler: handlerOf(operation, runtime, idempotent, base),
    });
  }
  for (const path of new Set(operations.map((operation) => operation.path))) addMethodNotAllowed(app, base, path, operations);
}

function handlerOf(
  operation: Operation,
  { db, clock, nowRange, requests }: Runtime,
  idempotent: ReturnType<typeof idempotentRunner>,
  base: string,
) {
  const validateParams = operation.params && parameterValidator(operation.params, "path");
  const validateQuery = parameterValidator(operation.query ?? { type: "object", properties: {} }, "query");
  const validateBody = operation.body && bodyValidator(operation.body, readingOf(operation));
  const announceDeprecation = operation.deprecated && deprecationOf(operation.deprecated, base);
  const writeAnswer = answerWriter(operation);
  const { upload, mediaTypes = ["application/json"] } = operation;
  const bytesMax = bodyBytesMaxOf(operation);
  if (operation.scope === null && operation.body && !operation.throttle) {
    throw new TypeError(`${operation.operationId} reads bodies from anybody, so it needs a throttle`);
  }

  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const now = clock();
    operation.throttle?.(clientAddress(request), now);
    if (operation.params) requireParameters(request.params as Record<string, string>);
    announceDeprecation?.(request, now);
    const caller = requireScope(request, operation.scope);
    if (caller && operation.permit) await operation.permit(db.forAccount(caller.accountId), caller, now);
    requireJsonAccepted(request.headers.accept);

    let input: unknown;
    if (validateBody) {
      requireBodyWithin(request, bytesMax);
      const isChunked = request.headers["transfer-encoding"] !== undefined;
      if (!isChunked && hasBody(request.headers)) requireMediaType(mediaTypes, request.headers);
      const refusal = isChunked ? undefined : requests.takeBytes(request, Number(request.headers["content-length"] ?? 0));
      if (refusal) throw refusal;
      const bytes = await readBody(request.raw, bytesMax, isChunked ? (count) => requests.takeBytes(request, count) : undefined);
      // only a chunked body that was read is known not to be too large, which comes first
      if (isChunked && bytes.length > 0) requireMediaType(mediaTypes, request.headers);
      input = parseJson(bytes);
    }
    if (upload) {
      requireBodyWithin(request, bytesMax);
      requireMediaType([upload.mediaType], request.headers);
    }
    const key = operation.method === "POST" && operation.write ? idempotencyKeyOf(request.headers["idempotency-key"]) : undefined;
    if (request.keyProblem) throw request.keyProblem;
    const params = validateParams?.(request.params);
    const given = { params, query: validateQuery(request.query), body: validateBody?.(input, params), now };
    const answer = await run();
    writeAnswer(request, reply, base === prefix ? answer : moved(answer, base));

    function run(): Promise<Answer> {
      const { headers } = request;
      if (operation.act) {
        const { act } = operation;
        const own = caller ? db.forAccount(caller.accountId) : db;
        return act({ ...given, db: own, caller, address: clientAddress(request), userAgent: headers["user-agent"] ?? "" } as DashboardCall<
          never,
          never,
          never
        >);
      }
      if (!caller) throw unknownCaller();
      const { accountId, keyId } = caller;
      const conditions = { ifMatch: headers["if-match"], ifNoneMatch: headers["if-none-match"] };
      const call = { accountId, keyId, ...given, conditions } as Call<never, never, never>;
      const own = db.forAccount(accountId);
      return operation.read ? operation.read(own, call) : change(operation, own, call);
    }

    async function change({ before, write, finish }: Change, own: Database, call: Call<never, never, never>): Promise<Answer> {
      const prepared = (await before?.(own, call, streamBody(request.raw, bytesMax))) as never;
      try {
        if (key === undefined) return await own.write((tx) => write(tx, call, prepared));
        const target = `${operation.method} ${filledPath(base, operation.path, call.params)}`;
        const said = upload ? (prepared as Received).fingerprint : input;
        return await idempotent(own, { accountId: call.accountId, target, key }, said, nowRange(), (tx) => write(tx, call, prepared));
      } finally {
        await finish?.(own, call, prepared);
      }
    }
  };
}

function requireScope({ caller, headers }: FastifyRequest, scope: string | null): Caller | null {
  if (scope === null) return caller;
  if (!caller) throw unknownCaller();
  requireOrigin(caller, headers.origin);
  if (caller.scopes.has(scope)) return caller;
  throw new Problem("forbidden", caller.person ? "Your role does not allow this." : `The key lacks the scope ${scope}.`);
}

/** Browsers name the origin of every page that calls from elsewhere; what names none is no page, and may call. */
function requireOrigin({ origins }: Caller, origin: string | undefined): void {
  if (origins === undefined || origin === undefined || origins.has(origin)) return;
  throw new Problem("forbidden", "The key is bound to other origins than that of this page.");
}

function unknownCaller(): Problem {
  return new Problem("unauthorized", "The request needs an API key.");
}

/** The answer of an operation of the API, as it is where the operation is served elsewhere too. */
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

/** `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and the successor; after the date the operation is gone. */
function deprecationOf({ since, sunset, successor }: NonNullable<Operation["deprecated"]>, base: string) {
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

function addMethodNotAllowed(app: FastifyInstance, base: string, path: string, operations: Operation[]): void {
  const allowed = operations.filter((operation) => operation.path === path).map((operation) => operation.method as string);
  if (allowed.includes("GET")) allowed.push("HEAD");
  const allow = [...allowed, "OPTIONS"].toSorted().join(", ");
  app.route({
    method: app.supportedMethods.filter((method) => !allowed.includes(method)),
    url: routeOf(base, path),
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

function routeOf(base: string, path: string): string {
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
