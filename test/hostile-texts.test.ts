import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { readFileSync } from "node:fs";
import { Agent, type IncomingMessage, request as sendRequest } from "node:http";
import { after, before, test } from "node:test";
import { dashboardOperations } from "../src/app/operations.ts";
import type { TextField } from "../src/importing/mapping-schema.ts";
import { petOf } from "../src/importing/pets.ts";
import { checkOf } from "../src/platform/http/value-checks.ts";
import { cpuMicros, growthOf } from "./support/cpu.ts";
import { dereferenced, exampleOf, operationsIn, type Document, type Operation } from "./support/description.ts";
import { someOf } from "./support/fault-runs.ts";
import { headerTexts, hostile, shownText, valueTexts, type HostileText } from "./support/hostile-texts.ts";
import { startService, type TestService } from "./support/service.ts";
import { fillWithExamples } from "./support/shop.ts";

type Schema = Record<string, unknown> & { type?: string; properties?: Record<string, Schema>; items?: Schema };
type Sent = { origin: string; method: string; path: string; headers?: Record<string, string>; body?: string };

const document = JSON.parse(readFileSync(new URL("../openapi.json", import.meta.url), "utf8")) as Document;
const operations = operationsIn(document);
/** Longest text of a header or a path: together with the others it stays within 16 KiB. */
const lineMax = 14_000;
const agent = new Agent({ keepAlive: true });
let service: TestService;
before(async () => {
  service = await startService({ env: { TRUSTED_PROXIES: "127.0.0.1" } });
  await fillWithExamples(service);
});
after(async () => {
  agent.destroy();
  await service.close();
});

/** Sends a request and reads its answer; resolves also where the connection is cut. */
function send({ origin, method, path, headers = {}, body }: Sent): Promise<number> {
  return new Promise((resolve) => {
    const request = sendRequest(`${origin}${path}`, { agent, method, headers });
    request.on("response", (response) => response.resume().on("close", () => resolve(response.statusCode ?? 0)));
    request.on("error", () => resolve(0)).end(body);
  });
}

async function assertLinear(
  what: string,
  of: (text: HostileText) => (length: number) => () => unknown,
  texts: HostileText[],
  options: { length: number; floorMicros?: number; every?: number },
): Promise<void> {
  for (const text of someOf(texts, options.every ?? 36)) {
    const growth = await growthOf(of(text), options.length, options.floorMicros);
    assert.ok(growth <= 5, `${what} with ${shownText(text)}: ${growth} times the time for 4 times the length`);
  }
}

/** The schemas of texts in a schema, each once, by what they ask of a text. */
function textSchemas(schemas: Schema[]): Schema[] {
  const found = new Map<string, Schema>();
  const collect = (schema: Schema): void => {
    for (const property of Object.values(schema.properties ?? {})) collect(property);
    if (schema.items) collect(schema.items);
    const {
      description: _description,
      default: _default,
      "x-extensible-enum": _values,
      ...rules
    } = schema as Schema & { "x-extensible-enum"?: string[] };
    if (schema.type === "string") found.set(JSON.stringify(rules), rules);
  };
  for (const schema of schemas) collect(schema);
  return [...found.values()];
}

function describedSchemas(): Schema[] {
  const bodies = operations.flatMap(({ requestBody }) => Object.entries(requestBody?.content ?? {}));
  const schemas = bodies.filter(([type]) => type.includes("json")).map(([, { schema }]) => schema);
  return [...schemas, ...operations.flatMap(({ parameters }) => parameters.map(({ schema }) => schema))].map(
    (schema) => dereferenced(schema, document) as Schema,
  );
}

function dashboardSchemas(): Schema[] {
  return dashboardOperations
    .flatMap(({ params, query, body }) => [params, query, body])
    .filter((schema) => schema !== undefined) as Schema[];
}

test("every text rule of every operation takes linear time, with its bound of the length and without", async () => {
  const rules = textSchemas([...describedSchemas(), ...dashboardSchemas()]);
  const patterns = new Set(rules.map(({ pattern }) => pattern));
  assert.ok(patterns.size >= 3 && rules.some(({ format }) => format === "date-time"), JSON.stringify(rules));
  for (const { maxLength, ...rule } of rules) {
    for (const bound of typeof maxLength === "number" ? [undefined, maxLength] : [undefined]) {
      const schema = bound === undefined ? rule : { ...rule, maxLength: bound };
      const check = checkOf(schema);
      const of = (text: HostileText) => (length: number) => {
        const value = hostile(text, length);
        return () => check(value, "body", []);
      };
      // a text within the bound costs nothing, so both are within it or both beyond
      const length = bound !== undefined && bound >= 4_000 && bound < 16_000 ? bound + 1 : 4_000;
      await assertLinear(JSON.stringify(schema), of, valueTexts, { length });
    }
  }
});

/** What is sent in whole requests: the rules themselves have met all texts above. */
const sentTexts = valueTexts.filter(({ start, end }) => start === "" && end !== "\0");
/** A request costs much more than a rule. Each place gets other texts than the one before, so all places together get all of them. */
const everySent = 64;
const everyHeader = 110;
const key = () => ({ "x-api-key": service.key });

for (const operation of operations) {
  const { method, operationId } = operation;
  test(`${operationId} takes linear time for any text in its path, its query and its body`, async () => {
    const { path, body, contentType } = exampleOf(operation);
    const origin = `${service.address}/v1`;
    const plain: Sent = { origin, method, path, headers: { ...key(), ...(contentType && { "content-type": contentType }) } };
    const isJson = contentType?.includes("json") === true;
    const good = isJson ? { ...plain, body: JSON.stringify(body) } : plain;
    const floorMicros = 4 * (await cpuMicros(() => send({ ...good, path: withQuery(path, "a", "a") })));
    for (const place of urlPlaces(operation)) {
      const of = (text: HostileText) => (length: number) => {
        const sent = { ...good, path: place(encodeURIComponent(hostile(text, length, encodeURIComponent).toWellFormed())) };
        return () => send(sent);
      };
      await assertLinear(`${method} ${path}`, of, sentTexts, { length: lineMax / 4, floorMicros, every: everySent });
    }
    for (const [name, place] of isJson ? bodyPlaces(operation, body) : []) {
      const of = (text: HostileText) => (length: number) => {
        const sent = { ...plain, body: JSON.stringify(place(hostile(text, length, (unit) => JSON.stringify(unit)))) };
        return () => send(sent);
      };
      await assertLinear(`${method} ${path}, ${name}`, of, sentTexts, { length: 10_000, floorMicros, every: everySent });
    }
  });
}

function withQuery(path: string, name: string, value: string): string {
  return `${path}${path.includes("?") ? "&" : "?"}${name}=${value}`;
}

/** The places of an operation's URL that take text: each of its parameters, and one that it does not have. */
function urlPlaces(operation: Operation): ((value: string) => string)[] {
  const { path } = exampleOf(operation);
  const names = operation.parameters.filter((parameter) => parameter.in === "query").map(({ name }) => name);
  const inPath = operation.parameters
    .filter((parameter) => parameter.in === "path")
    .map(({ name }) => (value: string) => {
      const others = Object.fromEntries(
        operation.parameters.filter((other) => other.in === "path").map((other) => [other.name, other.example]),
      );
      return operation.path.replaceAll(/\{(\w+)\}/g, (_all, found: string) => (found === name ? value : String(others[found])));
    });
  return [
    ...inPath,
    ...[...names, "unknown"].map((name) => (value: string) => withQuery(path, name, value)),
    (value) => withQuery(path, value, "1"),
  ];
}

/** The fields of an operation's body that take text, each put into the example. */
function bodyPlaces({ requestBody }: Operation, example: unknown): [string, (value: string) => unknown][] {
  const [media] = Object.values(requestBody?.content ?? {});
  const schema = dereferenced(media?.schema ?? {}, document) as Schema;
  const { properties = {} } = schema.items ?? schema;
  const [sample] = [example].flat() as object[];
  return Object.keys({ ...properties, unknown: 0 }).map((name) => [
    name,
    (value) => {
      const filled = { ...sample, [name]: value };
      return schema.items ? [filled] : filled;
    },
  ]);
}

test("any path of a published site and of the pages takes linear time", async () => {
  const edge = `http://127.0.0.1:${service.publishing.addresses()?.http.port}`;
  const headers = { host: "rex.petstore.localhost", "accept-encoding": "br" };
  for (const sent of [
    { origin: edge, method: "GET", headers },
    { origin: service.address, method: "GET" },
  ]) {
    const floorMicros = 4 * (await cpuMicros(() => send({ ...sent, path: "/index.html" })));
    const of = (text: HostileText) => (length: number) => {
      const path = `/${encodeURIComponent(hostile(text, length, encodeURIComponent).toWellFormed())}`;
      return () => send({ ...sent, path });
    };
    await assertLinear(sent.origin, of, sentTexts, { length: lineMax / 4, floorMicros, every: everySent });
  }
});

test("every cell of an imported file takes linear time through every transform", async () => {
  const field = (column: string): TextField => ({ columns: [column], transforms: ["strip-stars"] });
  const mapping = { id: "id", name: field("name"), category: field("type"), status: { columns: ["status"] } };
  const animal = petOf(mapping, ["id", "name", "type", "status"]);
  for (const place of [0, 1, 2, 3]) {
    const of = (text: HostileText) => (length: number) => {
      const cells = ["A1", "Rex", "Dogs", "sold"].with(place, hostile(text, length));
      return () => animal(cells);
    };
    await assertLinear(`cell ${place}`, of, valueTexts, { length: 4_000 });
  }
});

/** Headers that node:http reads itself, before the service; another value than a good one is no request. */
const readByNode = new Set(["content-length", "transfer-encoding", "connection", "expect", "upgrade"]);

/** The names of the headers that are read while something runs. */
async function headersRead(run: () => Promise<unknown>): Promise<Set<string>> {
  const names = new Set<string>();
  const get = (headers: Record<string, unknown>, name: string | symbol): unknown => {
    if (typeof name === "string") names.add(name);
    return headers[name as string];
  };
  const watch = (message: unknown): void => {
    const { request } = message as { request: IncomingMessage };
    Object.defineProperty(request, "headers", { value: new Proxy(request.headers, { get }) });
  };
  subscribe("http.server.request.start", watch);
  await run().finally(() => unsubscribe("http.server.request.start", watch));
  return names;
}

test("every header that is read takes linear time, at the API, the dashboard, the pages and the published sites", async () => {
  const edge = `http://127.0.0.1:${service.publishing.addresses()?.http.port}`;
  const host = { host: "rex.petstore.localhost" };
  const requests: Sent[] = [
    { origin: service.address, method: "GET", path: "/v1/pets/1", headers: key() },
    {
      origin: service.address,
      method: "POST",
      path: "/v1/categories",
      headers: { ...key(), "content-type": "application/json" },
      body: "{}",
    },
    {
      origin: service.address,
      method: "OPTIONS",
      path: "/v1/pets",
      headers: { origin: "http://a.example", "access-control-request-method": "GET" },
    },
    { origin: service.address, method: "GET", path: "/dashboard/v1/session" },
    { origin: service.address, method: "GET", path: "/openapi.json" },
    { origin: service.address, method: "GET", path: "/nothing", headers: { accept: "text/html" } },
    { origin: service.address, method: "GET", path: "/metrics" },
    { origin: edge, method: "GET", path: "/", headers: host },
  ];
  const all = new Set<string>();
  for (const request of requests) {
    const read = await headersRead(() => send(request));
    const names = [...read, "host"].filter((name) => !readByNode.has(name));
    const floorMicros = 4 * (await cpuMicros(() => send(request)));
    for (const name of names) {
      all.add(name);
      const of = (text: HostileText) => (length: number) => {
        const sent = { ...request, headers: { ...request.headers, [name]: hostile(text, length) } };
        return () => send(sent);
      };
      await assertLinear(`${request.method} ${request.path}, ${name}`, of, headerTexts, {
        length: lineMax / 4,
        floorMicros,
        every: everyHeader,
      });
    }
  }
  for (const name of ["accept", "accept-encoding", "authorization", "cookie", "if-none-match", "idempotency-key", "x-forwarded-for"]) {
    assert.ok(all.has(name), `${name} is among ${[...all].join()}`);
  }
});
