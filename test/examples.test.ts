import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, suite, test } from "node:test";
import { descriptionOf } from "../src/app/description.ts";
import { loadSettings } from "../src/app/settings.ts";
import { bodyChecker, exampleOf, operationsIn, successOf, type Document, type Operation } from "./support/description.ts";
import { startExampleShops, type ExampleShops } from "./support/example-shops.ts";
import type { Failure } from "./support/models.ts";
import { examplePicture } from "./support/pictures.ts";
import { openSampleRunner, type SampleRunner } from "./support/samples.ts";
import { startService, type Asked, type Reply, type TestService } from "./support/service.ts";
import { fillWithExamples } from "./support/shop.ts";

// as the service serves it: the document file leaves the code samples out
const document = JSON.parse(JSON.stringify(descriptionOf(loadSettings({})))) as Document;
const operations = operationsIn(document);
const wrongWith = bodyChecker(document);
const limits = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"];

let now = Date.now();
let shop: TestService;
let examples: ExampleShops;
let samples: SampleRunner;
const folder = mkdtempSync(join(tmpdir(), "petstore-samples-"));
before(async () => {
  examples = await startExampleShops(folder);
  shop = await startService({ clock: () => now, env: { DNS_SERVERS: examples.dns } });
  await fillWithExamples(shop);
  writeFileSync(join(folder, ".curlrc"), 'silent\nwrite-out = "\\n%{http_code}"\n');
});
after(async () => {
  await shop.close();
  await examples.close();
  rmSync(folder, { recursive: true });
});

/** Headers that an answer has only at times: on a page that is not the last, on a replay, on a list of one animal, of a deprecated operation. */
function isOccasional(header: string, operation: Operation): boolean {
  if (header === "Deprecation" || header === "Sunset") return !operation.deprecated;
  if (header === "Idempotent-Replayed" || header === "Preference-Applied") return true;
  if (operation.operationId === "listPets" && header === "ETag") return true;
  return header === "Link" && !operation.deprecated;
}

/** The introduction of the description names them. */
const ofEveryAnswer = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "RateLimit", "RateLimit-Policy", "X-Request-Id"];
/** Refusals that all operations share do not describe those of a deprecated one. */
const ofDeprecated = ["Deprecation", "Sunset", "Link"];

function assertHeaders(operation: Operation, reply: Reply): void {
  const described = Object.keys(operation.responses[reply.status]?.headers ?? {});
  for (const header of described) {
    assert.ok(reply.headers.has(header) || isOccasional(header, operation), `${operation.operationId} ${reply.status} has no ${header}`);
  }
  for (const header of ofEveryAnswer) assert.ok(reply.headers.has(header), `${operation.operationId} ${reply.status} has no ${header}`);
  const lower = new Set(
    [...described, ...ofEveryAnswer, ...(operation.deprecated ? ofDeprecated : [])].map((header) => header.toLowerCase()),
  );
  for (const header of Object.keys(document.components.headers)) {
    const name = header.toLowerCase();
    assert.ok(
      lower.has(name) || !reply.headers.has(name),
      `${operation.operationId} ${reply.status} has ${header}, which is not described`,
    );
  }
}

/**
 * A test's account has its own name, limits, use, keys and log, and its webhooks have random secrets and changing positions: of these examples only
 * the form is compared. So it is of the bytes of the log in the usage.
 */
function assertIsExample(operation: Operation, status: number, body: unknown): void {
  if (operation.operationId === "streamEvents") return assert.match(String(body), /^: open\n\nid: 1\ndata: \{/);
  assert.deepEqual(wrongWith(operation, status, body), []);
  if (operation.operationId === "getAccount" || ["Events", "Webhooks", "Keys"].includes(operation.tags[0] ?? "")) return;
  const example = operation.responses[status]?.content?.["application/json"]?.example ?? "";
  const shown =
    operation.operationId === "getUsage" ? { ...(body as object), eventBytes: (example as { eventBytes: object }).eventBytes } : body;
  assert.deepEqual(shown, example, operation.operationId);
}

suite("the documentation cannot lie", () => {
  let reading: TestService;
  before(async () => {
    samples = openSampleRunner(folder);
    reading = await examples.open();
  });
  after(async () => {
    await samples.close();
    await reading.close();
  });

  for (const operation of operations) {
    test(`the example of ${operation.operationId} is answered as described: as a request, by its curl and by its TypeScript`, async () => {
      const success = successOf(operation);
      const use = ([first, second, third]: Three): Promise<[Reply, string, string]> =>
        Promise.all([
          first.ask(operation.method, ...askedAs(operation)),
          runSample(operation, "Shell", second),
          runSample(operation, "TypeScript", third),
        ]);
      // A read changes nothing but the account's usage, so one shop answers all of them.
      const isRead = operation.method === "GET" && operation.tags[0] !== "Account";
      const [requested, curl, printed] = await (isRead ? use([reading, reading, reading]) : inExampleShops(use));
      assert.equal(requested.status, success, JSON.stringify(requested.body));
      assertIsExample(operation, success, requested.body);
      assertHeaders(operation, requested);

      const [answer, status] = splitLast(curl, "\n");
      assert.equal(Number(status), success, curl);
      assertIsExample(operation, success, /^[[{]/.test(answer) ? JSON.parse(answer) : answer);
      assert.match(printed, new RegExp(`^${success}\\b`), printed);
    });
  }
});

/** What the operation takes in place of JSON. */
const uploadOf = ({ operationId }: Operation): Uint8Array | undefined =>
  ({ addPhoto: examplePicture, createDeployment: examples.site })[operationId];

function askedAs(operation: Operation): [string, Asked] {
  const { path, body = uploadOf(operation), contentType } = exampleOf(operation);
  return [path, { body, ...(contentType && { headers: { "content-type": contentType } }) }];
}

type Three = [TestService, TestService, TestService];

/** Does something in three new shops. */
async function inExampleShops<T>(use: (shops: Three) => Promise<T>): Promise<T> {
  // All of them start before the first is used: a start keeps this process, and with it the DNS server, from answering in time.
  const shops = await Promise.all([examples.open(), examples.open(), examples.open()]);
  try {
    return await use(shops);
  } finally {
    await Promise.all(shops.map((service) => service.close()));
  }
}

/** Runs a code sample as a reader would, and gives what it printed. */
async function runSample(operation: Operation, lang: "Shell" | "TypeScript", service: TestService): Promise<string> {
  const source = operation["x-codeSamples"].find((sample) => sample.lang === lang)?.source ?? "";
  const variables = { BASE_URL: `${service.address}/v1`, API_KEY: service.key };
  if (lang === "TypeScript") return samples.run(source, variables);
  const env = { PATH: process.env["PATH"], CURL_HOME: folder, ...variables };
  const child = spawn("bash", ["--norc", "-c", source], { env, cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  assert.equal(err, "");
  return out.trim();
}

function splitLast(line: string, separator: string): [string, string] {
  const at = line.lastIndexOf(separator);
  return [line.slice(0, Math.max(0, at)), line.slice(at + 1)];
}

/** Requests that must be refused, made of an operation's example. */
type Refusal = { status: number; applies: (operation: Operation) => boolean; send: (operation: Operation) => Promise<Reply> };

function send(operation: Operation, more: { key?: string; headers?: Record<string, string>; body?: unknown; path?: string } = {}) {
  const { path, body = uploadOf(operation), contentType } = exampleOf(operation);
  const headers = { ...(contentType && { "content-type": contentType }), ...more.headers };
  return shop.ask(operation.method, more.path ?? path, { body, ...more, headers });
}

/** A scope that the operation does not ask for. */
const scopeBeside = ({ tags }: Operation): string =>
  tags.some((tag) => tag === "Projects" || tag === "Domains") ? "account:read" : "publishing:write";

const hasBody = (operation: Operation): boolean => operation.requestBody !== undefined;
const hasPath = (operation: Operation): boolean => operation.path.includes("{");
const refusals: Refusal[] = [
  {
    status: 400,
    applies: () => true,
    send: (operation) => send(operation, { path: `${exampleOf(operation).path.split("?")[0]}?nonsense=1` }),
  },
  { status: 401, applies: () => true, send: (operation) => send(operation, { key: "" }) },
  {
    status: 403,
    applies: () => true,
    send: async (operation) => {
      const { key } = await shop.administration["keys.create"]({ account: shop.accountId, scopes: [scopeBeside(operation)] });
      return send(operation, { key });
    },
  },
  {
    status: 404,
    applies: hasPath,
    send: (operation) =>
      send(operation, {
        path: exampleOf(operation, Object.fromEntries(operation.path.matchAll(/(?<=\{)\w+Id(?=\})/g).map(([name]) => [name, 999]))).path,
      }),
  },
  { status: 406, applies: () => true, send: (operation) => send(operation, { headers: { accept: "text/html" } }) },
  {
    status: 413,
    applies: hasBody,
    send: (operation) => send(operation, { body: " ".repeat(uploadOf(operation) ? 52_428_801 : 1_048_577) }),
  },
  { status: 415, applies: hasBody, send: (operation) => send(operation, { headers: { "content-type": "text/plain" } }) },
];

for (const refusal of refusals) {
  test(`a ${refusal.status} of every operation is as the description says, with the limit headers`, async () => {
    const concerned = operations.filter(refusal.applies);
    assert.ok(concerned.length > 0);
    for (const operation of concerned) {
      now += 2_000; // An address has 60 requests a minute without a key, and there are more operations.
      const reply = await refusal.send(operation);
      assert.equal(reply.status, refusal.status, `${operation.operationId}: ${JSON.stringify(reply.body)}`);
      assert.deepEqual(wrongWith(operation, reply.status, reply.body), []);
      assert.equal((reply.body as Failure).status, refusal.status);
      assertHeaders(operation, reply);
      for (const header of limits) assert.match(reply.headers.get(header) ?? "", /^\d+$/);
    }
  });
}

test("HEAD of every GET has the headers of its answer and no body", async () => {
  for (const operation of operations.filter(({ method }) => method === "GET")) {
    const { path } = exampleOf(operation);
    const [get, head] = [await shop.ask("GET", path), await shop.ask("HEAD", path)];
    assert.equal(head.status, get.status, operation.operationId);
    assert.equal(head.body, "");
    for (const header of ["content-type", "etag", "link"]) assert.equal(head.headers.get(header), get.headers.get(header));
    if (operation.tags[0] !== "Account") assert.equal(head.headers.get("content-length"), get.headers.get("content-length"));
  }
});
