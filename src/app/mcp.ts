import {
  createMcpHandler,
  isLegacyRequest,
  type Tool as ListedTool,
  ProtocolError,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { errorBody, problemOf, send, sendText } from "../platform/http/answers.ts";
import { addressOf, prefix } from "../platform/http/api-surfaces.ts";
import { parseJson, receiveBody, tooLarge } from "../platform/http/bodies.ts";
import { etagOf } from "../platform/http/conditions.ts";
import { addHeader, type Exchange } from "../platform/http/exchange.ts";
import { requireAccepted } from "../platform/http/negotiation.ts";
import type { Answer } from "../platform/http/operation.ts";
import { asksForDryRun } from "../platform/http/preferences.ts";
import type { RequestBounds } from "../platform/http/request-bounds.ts";
import type { Router } from "../platform/http/router.ts";
import type { Runnable } from "../platform/http/run.ts";
import { Problem } from "../platform/problem.ts";
import { programVersion } from "../platform/program-version.ts";
import { isTypo } from "../platform/typo.ts";
import { requestOf, secretsKey, type Tool, toolsOf } from "./mcp-tools.ts";
import { agentOperations } from "./operations.ts";

/** The most bytes of a message: a batch of pets, and its envelope. */
const messageBytesMax = 1_048_576 + 65_536;
const mediaTypes = ["application/json"];
/** Codes of JSON-RPC 2.0. */
const [parseError, invalidRequest, invalidParams] = [-32_700, -32_600, -32_602];

const instructions =
  "The back end of a pet shop: categories, pets, stock, orders, and published sites. " +
  "Lists answer {items, next}: pass `next` as `cursor` for the next page, and in listEvents as `after`; null is the end. " +
  "With `dryRun: true` a call shows what it would do and changes nothing. " +
  "A result ends with the version of its resource, as `ifMatch: …`. Pass it as `ifMatch`, and a change happens only if nobody else has changed the resource since. " +
  "Each tool that creates or sends something takes an `idempotencyKey`: calls with the same one happen once. " +
  "Tools whose `_meta` names secrets show them once: keep them safe. " +
  "A refused call is an error with a stable `code`, and a `message` that says what to change.";

/** What the calls of agents work with. */
type McpContext = Pick<Router, "find"> & {
  requests: RequestBounds;
  publicUrl: string;
  /** The operations of the tools, by id. */
  operations: ReadonlyMap<string, Runnable>;
};

/** One message. `failure` is an error whose details its answer must not show. */
type McpCall = McpContext & { exchange: Exchange; tools: Map<string, Tool>; failure?: Error };

/**
 * Returns the handler of POST `/mcp`: the Model Context Protocol over Streamable HTTP without sessions (specification 1.15). Each
 * request gets its own server, with the tools that its key may use; a call of a tool calls its operation.
 */
export function openMcp(context: McpContext): (exchange: Exchange) => Promise<void> {
  const tools = new Map(toolsOf(agentOperations).map((tool) => [tool.shown.name, tool]));
  return async (exchange) => {
    const { headers } = exchange;
    requireOwnOrigin(headers.origin, context.publicUrl);
    requireAccepted(headers.accept);
    asksForDryRun(headers["prefer"], "For a dry run of a tool, set its argument dryRun. The header Prefer is not used here.");
    const bytes = await receiveBody(exchange, context.requests, mediaTypes, messageBytesMax);
    if (exchange.keyProblem) throw exchange.keyProblem;
    const message = parsed(bytes);
    if (message instanceof Problem) return sendError(exchange, parseError, message.message);
    if (Array.isArray(message)) return sendError(exchange, invalidRequest, "Send one message in each request: batches are not served.");
    const call: McpCall = { ...context, exchange, tools };
    const response = await answer(call, message);
    if (call.failure !== undefined) throw call.failure;
    const text = withPlainReason(await response.text());
    if (text !== "") return sendText(exchange, response.status, text, response.headers.get("content-type") ?? "application/json");
    addHeader(exchange, "Content-Length", "0");
    send(exchange, response.status);
  };
}

/** A page of another site must not use a key that its visitor's browser has. @throws Problem `forbidden` */
function requireOwnOrigin(origin: string | undefined, publicUrl: string): void {
  if (origin === undefined || origin === new URL(publicUrl).origin) return;
  throw new Problem("forbidden", "Pages of other origins may not use /mcp.");
}

/** The message, or why it is not JSON. Models and clients write `null` where they have no arguments or parameters. */
function parsed(bytes: Buffer): unknown {
  try {
    const message = parseJson(bytes) ?? new Problem("invalid_request", "The request has no message.");
    const given = message as { params?: { arguments?: unknown } | null };
    if (given.params === null) delete given.params;
    if (given.params?.arguments === null) delete given.params.arguments;
    return message;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

type Issue = { path: (string | number)[]; message: string };

/** The text of an answer. If the protocol's package lists as JSON what is wrong with a message, makes a sentence of it. */
function withPlainReason(text: string): string {
  if (!text.includes('"error":{"code":-32')) return text;
  const dumped = JSON.parse(text) as { error?: { message: string } };
  const { message = "" } = dumped.error ?? {};
  const at = message.indexOf("[\n  {\n");
  if (at < 0 || !message.endsWith("]")) return text;
  const reasons = (JSON.parse(message.slice(at)) as Issue[]).map((issue) => `${issue.path.join(".")}: ${issue.message}`);
  const sentence = reasons.join("; ").replaceAll("Invalid input: ", "").replaceAll("record", "object");
  return JSON.stringify({ ...dumped, error: { code: invalidParams, message: sentence } });
}

function sendError(exchange: Exchange, code: number, message: string): void {
  const body = JSON.stringify({ jsonrpc: "2.0", id: null, error: { code, message } });
  sendText(exchange, 400, body, "application/json");
}

/** Answers one message, in the revision of the protocol that it is written in. */
async function answer(call: McpCall, parsedBody: unknown): Promise<Response> {
  const own = Object.entries(call.exchange.headers).filter(([name]) => name.startsWith("mcp-"));
  const headers = new Headers(own.map(([name, value]): [string, string] => [name, String(value)]));
  headers.set("content-type", "application/json");
  headers.set("accept", "application/json, text/event-stream");
  const request = new Request(`${call.publicUrl}/mcp`, { method: "POST", headers, body: JSON.stringify(parsedBody) });
  const options = { parsedBody };
  if (!(await isLegacyRequest(request, parsedBody))) {
    // No subscriptions, because the server announces no changes.
    const handler = createMcpHandler(() => serverOf(call), { legacy: "reject", maxSubscriptions: 0 });
    return handler.fetch(request, options);
  }
  const server = serverOf(call);
  try {
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    await server.connect(transport);
    return await transport.handleRequest(request, options);
  } finally {
    await server.close();
  }
}

function serverOf(call: McpCall): Server {
  const server = new Server({ name: "petstore", version: programVersion() }, { capabilities: { tools: {} }, instructions });
  const { tools, exchange } = call;
  const lacking = ({ scopes }: Tool): string | undefined => scopes.find((scope) => exchange.caller?.scopes.has(scope) !== true);
  const usable = [...tools.values()].filter((tool) => lacking(tool) === undefined);
  server.setRequestHandler("tools/list", () => ({ tools: usable.map(({ shown }) => shown) as ListedTool[] }));
  server.setRequestHandler("tools/call", async ({ params }) => {
    const tool = tools.get(params.name);
    if (!tool) throw noSuchTool(params.name, usable);
    const scope = lacking(tool);
    if (scope !== undefined) throw lacksScope(tool, scope);
    return callTool(call, tool, params.arguments ?? {});
  });
  return server;
}

/** Suggests the tool that was probably meant, such as listPets for `list_pets`. */
function noSuchTool(name: string, usable: Tool[]): ProtocolError {
  const letters = (text: string): string => text.replaceAll(/[^A-Za-z]/g, "").toLowerCase();
  const typed = letters(name.slice(0, 100));
  const meant = usable.find(({ shown }) => isTypo(typed, letters(shown.name)))?.shown.name;
  const advice = meant === undefined ? "tools/list names those that this key may use" : `did you mean ${meant}?`;
  return new ProtocolError(invalidParams, `There is no such tool: ${advice}${meant === undefined ? "." : ""}`);
}

function lacksScope({ shown: { name } }: Tool, scope: string): ProtocolError {
  return new ProtocolError(invalidParams, `The key lacks the scope ${scope}, which ${name} needs.`, { code: "forbidden", status: 403 });
}

/**
 * Calls the operation of a tool, with the caller and the request id of the message, whose gate has counted it already. An unexpected error, and an
 * overload, become the `failure` of the whole request.
 */
async function callTool(call: McpCall, tool: Tool, given: Record<string, unknown>) {
  const { exchange, operations, find } = call;
  const { origin, "x-forwarded-for": forwardedFor } = exchange.headers;
  const { run, bytesMax } = operations.get(tool.shown.name)!;
  try {
    const { params, query, body, headers } = requestOf(tool, given);
    const inner = { ...exchange, params, query, headers: { origin, "x-forwarded-for": forwardedFor, ...headers } };
    const outcome = await run(inner, () => {
      if (body !== undefined && Buffer.byteLength(JSON.stringify(body)) > bytesMax) throw tooLarge(bytesMax);
      return body;
    });
    return resultOf(tool, outcome, given["dryRun"] === true, find);
  } catch (error) {
    const problem = problemOf(error);
    if (problem.code !== "internal" && !problem.isOverload) return refusedResult(errorBody(problem), find);
    call.failure = error as Error;
    throw new ProtocolError(-32_603, "The call failed.");
  }
}

type Find = Router["find"];
type Refusal = { message: string; details?: { path: string; message: string }[] };

/**
 * Converts an answer of an operation to the result of its tool: a list becomes `{items, next}`, where `next` is the `cursor` of the next page,
 * or `after` of the next events, or null. The version of a resource is a separate text, for `ifMatch`. A refusal that was kept for its
 * Idempotency-Key is an error again.
 */
export function resultOf({ secret }: Pick<Tool, "secret">, outcome: Answer, isDryRun: boolean, find: Find) {
  const { status, headers, version } = outcome;
  const body = outcome.text === undefined ? outcome.body : (JSON.parse(outcome.text) as unknown);
  if (status >= 400) return refusedResult(body as Refusal, find);
  const shown = Array.isArray(body)
    ? { items: body as unknown[], next: nextOf(headers?.["link"]) }
    : ((body ?? {}) as Record<string, unknown>);
  const content = [text(body === undefined ? "Done." : JSON.stringify(shown))];
  const tag = version === undefined ? headers?.["etag"] : etagOf(version);
  if (isDryRun) content.push(text("This was a dry run: nothing has changed."));
  else if (tag !== undefined) content.push(text(`ifMatch: ${tag}`));
  if (secret === undefined || !(secret in shown)) return { content, structuredContent: shown };
  content.push(text(`\`${secret}\` is a secret that is shown only here: store it in a safe place, and write it nowhere else.`));
  return { content, structuredContent: shown, _meta: { [secretsKey]: [secret] } };
}

/** The result of a call that is refused: an error that names tools and their arguments. */
export function refusedResult(body: Refusal, find: Find) {
  const refusal = refusalForAgents(body, find);
  return { content: [text(JSON.stringify(refusal))], structuredContent: refusal, isError: true };
}

const text = (words: string) => ({ type: "text" as const, text: words });

function nextOf(link: string | undefined): string | number | null {
  const [, target] = /^<([^>]*)>; rel="next"$/.exec(link ?? "") ?? [];
  const parameters = new URLSearchParams(target?.split("?")[1]);
  return parameters.has("after") ? Number(parameters.get("after")) : parameters.get("cursor");
}

/** A refusal in the words of tools: arguments in place of parameters and headers, and the names of tools in place of methods and paths. */
export function refusalForAgents<T extends Refusal>(refusal: T, find: Find): T {
  const { details } = refusal;
  return {
    ...refusal,
    message: wordsForAgents(refusal.message, find),
    ...(details && {
      details: details.map(({ path, message }) => ({ path: wordsForAgents(path, find), message: wordsForAgents(message, find) })),
    }),
  };
}

function wordsForAgents(words: string, find: Find): string {
  return words
    .replaceAll(/\b(GET|POST|PUT|PATCH|DELETE) (\/[^\s`,;:)]*[^\s`,;:).])/g, (all, method: string, path: string) => {
      const url = path.startsWith(`${prefix}/`) ? path : addressOf(path);
      return find(method, url).route.operationId ?? all;
    })
    .replaceAll(/\b(?:query|path)\.(?=[a-z])|\bheader\.| in the path\b/g, "")
    .replaceAll("If-Match", "ifMatch")
    .replaceAll("Idempotency-Key", "idempotencyKey")
    .replaceAll("Prefer", "dryRun")
    .replaceAll("ETag", "version");
}
