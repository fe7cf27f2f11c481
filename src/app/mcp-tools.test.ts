import assert from "node:assert/strict";
import { test } from "node:test";
import { Ajv } from "ajv";
import { addressOf } from "../platform/http/api-surfaces.ts";
import type { DescribedOperation } from "../platform/http/operation.ts";
import { openRouter } from "../platform/http/router.ts";
import errorExamples from "./error-examples.json" with { type: "json" };
import { requestOf, secretsKey, toolsOf } from "./mcp-tools.ts";
import { refusalForAgents } from "./mcp.ts";
import { agentOperations } from "./operations.ts";

const operations: DescribedOperation[] = agentOperations;
const tools = toolsOf(operations);
const operationOf = (name: string): DescribedOperation => operations.find(({ operationId }) => operationId === name)!;

/** Words that only a reader who knows HTTP understands: its name, methods, headers, statuses and parts of a request. */
const wordsOfHttp =
  /\bHTTP\b|\b(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)\b|\bheaders?\b|\bstatus codes?\b|\b[1-5]\d\d `|\ba [45]\d\d\b|\b(?:20[0-9]|30[0-9]|4[0-3]\d|50[1-9])\b|If-(?:None-)?Match|\bETag\b|`(?:Link|Location|Accept|Allow|Host|Origin|Prefer)`|\bLink header|Content-Type|Retry-After|Idempotency-Key|Prefer:|\bX-\w+|\bparameters?\b|\bquery\b|\bpath\b|\bmerge patch|\b(?:request|response) body\b|in the body\b|in the path\b|[Ss]copes? of the key|\/v1\b|\bRFC [78]|media type|\bcookies?\b/;

function textsOf(value: unknown, key = ""): string[] {
  if (typeof value === "string") return key === "description" || key === "title" ? [value] : [];
  if (value === null || typeof value !== "object") return [];
  return Object.entries(value).flatMap(([name, member]) => textsOf(member, Array.isArray(value) ? key : name));
}

test("the descriptions of tools and their arguments say nothing of HTTP", () => {
  for (const { shown } of tools) {
    assert.ok(shown.description.length > 10, shown.name);
    for (const text of textsOf(shown)) assert.doesNotMatch(text, wordsOfHttp, shown.name);
  }
  for (const text of [
    "a 409 `pet_in_use`",
    "Send `If-Match`.",
    "the `Link` header",
    "A JSON merge patch (RFC 7396).",
    "any other is a 400.",
  ])
    assert.match(text, wordsOfHttp);
});

test("the refusals of tools say nothing of HTTP: they name arguments, and tools in place of methods and paths", () => {
  const router = openRouter([]);
  for (const [path, own] of Map.groupBy(operations, (one) => one.path)) {
    const routes = own.map(({ operationId, method }) => [method, { operationId }] as [string, never]);
    router.add(addressOf(path).replaceAll(/\{(\w+)\}/g, ":$1"), new Map(routes));
  }
  const find: typeof router.find = (...request) => router.find(...request);
  const forAgents = (message: string): string => refusalForAgents({ message }, find).message;
  for (const { shown } of tools) {
    const refusals = Object.values((errorExamples as Record<string, Record<string, { message: string }>>)[shown.name] ?? {});
    for (const refusal of refusals)
      assert.doesNotMatch(
        JSON.stringify(refusalForAgents(refusal, find)),
        /\/v1|If-Match|ETag|header|\b(?:query|path)\.|[a-z] (?:PUT|GET)/,
      );
  }
  assert.equal(
    forAgents("PUT /v1/store/inventory/4 begins, and `GET /account` shows."),
    "replaceInventoryItem begins, and `getAccount` shows.",
  );
  assert.equal(forAgents("query.limit must be 1. GET /nothing stays."), "limit must be 1. GET /nothing stays.");
});

test("the tools of a key with every scope take at most 32,000 bytes", () => {
  const bytes = Buffer.byteLength(JSON.stringify({ jsonrpc: "2.0", id: 1, result: { tools: tools.map(({ shown }) => shown) } }));
  assert.ok(bytes <= 32_000, `${bytes} bytes`);
});

test("the schema of a tool accepts what its operation accepts: the example, and null for optional fields", () => {
  const ajv = new Ajv({ strict: false, formats: { "date-time": true } });
  let examples = 0;
  for (const { shown } of tools) {
    const { example, method, body } = operationOf(shown.name);
    const given = { ...example?.params, ...example?.query, ...(example?.body !== undefined && { body: example.body }) };
    const accepts = ajv.compile(shown.inputSchema);
    assert.ok(accepts(given), `${shown.name}: ${ajv.errorsText(accepts.errors)}`);
    if (!body || method === "PATCH" || Array.isArray(example?.body)) continue;
    const { properties = {}, required = [] } = body as { properties?: object; required?: string[] };
    const optional = Object.keys(properties).filter((name) => !required.includes(name));
    const nulls = { ...(example?.body as object), ...Object.fromEntries(optional.map((name) => [name, null])) };
    assert.ok(accepts({ ...given, body: nulls }), `${shown.name}: ${ajv.errorsText(accepts.errors)}`);
    examples++;
  }
  assert.ok(examples > 5);
});

test("a tool that shows a secret once says so and is marked, and no other is", () => {
  for (const { shown, secret } of tools) {
    const { _meta: meta } = shown;
    const { answers, method } = operationOf(shown.name);
    const examples = JSON.stringify(Object.values(answers).map(({ example }) => example ?? null));
    assert.equal(secret !== undefined, method === "POST" && /"secret":|"key":"ps[kp]_/.test(examples), shown.name);
    assert.deepEqual(meta, secret === undefined ? undefined : { [secretsKey]: [secret] });
    if (secret !== undefined) assert.match(shown.description, /Shows a secret once/);
  }
  assert.deepEqual(
    tools.filter(({ secret }) => secret).map(({ shown }) => shown.name),
    ["createKey", "rotateKey", "createWebhook", "rotateWebhookSecret"],
  );
});

test("a tool that only adds is not destructive, and one that ends what it replaces is", () => {
  const hint = (name: string) => tools.find(({ shown }) => shown.name === name)?.shown.annotations;
  for (const name of ["createKey", "createPet", "createWebhook"]) assert.deepEqual(hint(name), { destructiveHint: false }, name);
  for (const name of ["rotateKey", "rotateWebhookSecret"]) assert.deepEqual(hint(name), { destructiveHint: true }, name);
});

test("no identifier that the service assigns is an argument of a body, nor a field that changes nothing", () => {
  for (const { shown } of tools) assert.ok(!("id" in (shown.inputSchema.properties?.["body"]?.properties ?? {})), shown.name);
  const photos = tools.find(({ shown }) => shown.name === "updateProfile")!.shown.inputSchema.properties!["body"]!.properties!["photos"]!;
  assert.deepEqual(Object.keys(photos.items!.properties!), ["id", "alt"]);
});

test("an argument that a tool lacks is refused: with all it has, or with the place where it belongs", () => {
  const createPet = tools.find(({ shown }) => shown.name === "createPet")!;
  assert.throws(() => requestOf(createPet, { name: "A", categoryId: 1 }), { message: "name belongs in `body`." });
  assert.throws(() => requestOf(createPet, { nothing: 1 }), {
    message: "nothing is not an argument of createPet, which has body, dryRun, idempotencyKey.",
  });
  assert.throws(() => requestOf(createPet, {}), { message: "body is required." });
});
