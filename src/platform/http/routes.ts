import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "../clock.ts";
import type { Database } from "../db/database.ts";
import { Problem } from "../problem.ts";
import { answerWriter, send } from "./answers.ts";
import { hasBody, jsonBytesMax, parseJson, readBody, streamBody, tooLarge } from "./bodies.ts";
import { idempotencyKeyOf, idempotentRunner } from "./idempotency.ts";
import { requireJsonAccepted, requireMediaType } from "./negotiation.ts";
import type { Answer, Call, Operation, Received } from "./operation.ts";
import { addressOf } from "./prefix.ts";
import { bodyValidator, parameterValidator } from "./validation.ts";

export type Runtime = { db: Database; clock: Clock };

/**
 * Makes a route of each operation, and a 405 of each method that a path does not have. Refusals come in the order of
 * decisions, part 1; what comes before them (address, key, limits) is the gate's.
 */
export function addOperations(app: FastifyInstance, operations: Operation[], runtime: Runtime): void {
  const idempotent = idempotentRunner(runtime.db);
  for (const operation of operations) {
    app.route({
      method: operation.method,
      url: routeOf(operation.path),
      config: { operationId: operation.operationId },
      handler: handlerOf(operation, runtime, idempotent),
    });
  }
  for (const path of new Set(operations.map((operation) => operation.path))) addMethodNotAllowed(app, path, operations);
}

function handlerOf(operation: Operation, { db, clock }: Runtime, idempotent: ReturnType<typeof idempotentRunner>) {
  const validateParams = operation.params && parameterValidator(operation.params, "path");
  const validateQuery = parameterValidator(operation.query ?? { type: "object", properties: {} }, "query");
  const validateBody = operation.body && bodyValidator(operation.body);
  const announceDeprecation = operation.deprecated && deprecationOf(operation.deprecated);
  const writeAnswer = answerWriter(operation);
  const mediaTypes = operation.mediaTypes ?? ["application/json"];
  const { upload } = operation;

  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const now = clock();
    if (operation.params) requireParameters(request.params as Record<string, string>);
    announceDeprecation?.(request, now);
    const caller = requireScope(request, operation.scope);
    requireJsonAccepted(request.headers.accept);

    let input: unknown;
    if (validateBody) {
      requireBodyWithin(request, jsonBytesMax);
      const isChunked = request.headers["transfer-encoding"] !== undefined;
      if (!isChunked && hasBody(request.headers)) requireMediaType(mediaTypes, request.headers);
      const bytes = await readBody(request.raw, jsonBytesMax);
      // only a chunked body that was read is known not to be too large, which comes first
      if (isChunked && bytes.length > 0) requireMediaType(mediaTypes, request.headers);
      input = parseJson(bytes);
    }
    if (upload) {
      requireBodyWithin(request, upload.bytesMax);
      requireMediaType([upload.mediaType], request.headers);
    }
    const key = operation.method === "POST" ? idempotencyKeyOf(request.headers["idempotency-key"]) : undefined;
    const call = {
      accountId: caller.accountId,
      keyId: caller.keyId,
      params: validateParams?.(request.params),
      query: validateQuery(request.query),
      body: validateBody?.(input),
      conditions: { ifMatch: request.headers["if-match"], ifNoneMatch: request.headers["if-none-match"] },
      now,
    } as Call<never, never, never>;

    const answer = await run(call);
    writeAnswer(request, reply, answer);

    function run(given: typeof call): Promise<Answer> {
      return operation.read ? operation.read(db, given) : change(operation, given);
    }

    async function change({ before, write, finish }: Exclude<Operation, { write?: undefined }>, given: typeof call): Promise<Answer> {
      const prepared = (await before?.(db, given, streamBody(request.raw, upload?.bytesMax ?? 0))) as never;
      try {
        if (key === undefined) return await db.write((tx) => write(tx, given, prepared));
        const target = `${operation.method} ${pathOf(request.url)}`;
        const said = upload ? (prepared as Received).fingerprint : input;
        return await idempotent({ accountId: given.accountId, target, key }, said, now, (tx) => write(tx, given, prepared));
      } finally {
        await finish?.(db, given, prepared);
      }
    }
  };
}

function requireScope(request: FastifyRequest, scope: string) {
  const { caller } = request;
  if (!caller) throw new Problem("unauthorized", "The request needs an API key.");
  if (!caller.scopes.has(scope)) throw new Problem("forbidden", `The key lacks the scope ${scope}.`);
  return caller;
}

/** The router lets `/pets/` through as `/pets/{petId}` with an empty id: there is no such path. */
function requireParameters(params: Record<string, string>): void {
  for (const name in params) if (params[name] === "") throw notFound();
}

/** `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and the successor; after the date the operation is gone. */
function deprecationOf({ since, sunset, successor }: NonNullable<Operation["deprecated"]>) {
  const end = new Date(sunset).toUTCString();
  const headers = ["Deprecation", `@${Math.floor(since / 1000)}`, "Sunset", end];
  const [before = "", name = "", after = ""] = addressOf(successor).split(/\{(\w+)\}/);

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

function addMethodNotAllowed(app: FastifyInstance, path: string, operations: Operation[]): void {
  const allowed = operations.filter((operation) => operation.path === path).map((operation) => operation.method as string);
  if (allowed.includes("GET")) allowed.push("HEAD");
  const allow = [...allowed, "OPTIONS"].toSorted().join(", ");
  app.route({
    method: app.supportedMethods.filter((method) => !allowed.includes(method)),
    url: routeOf(path),
    handler: (request, reply) => {
      requireParameters(request.params as Record<string, string>);
      request.answerHeaders.push("Allow", allow);
      if (request.method === "OPTIONS") return send(request, reply, 204);
      throw new Problem("method_not_allowed", `${request.method} is not a method of this path. It has ${allow}.`);
    },
  });
}

function routeOf(path: string): string {
  return addressOf(path).replaceAll(/\{(\w+)\}/g, ":$1");
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
