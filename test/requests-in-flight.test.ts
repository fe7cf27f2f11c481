import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { systemTimer } from "../src/platform/clock.ts";
import { newMember, openBrowser } from "./support/dashboard.ts";
import { temporaryFolder } from "./support/folder.ts";
import { addressOf, createAccount, spawnServer } from "./support/process.ts";
import { openRaw, type RawAnswer, type RawConnection } from "./support/raw.ts";
import { ask, startService } from "./support/service.ts";
import { until } from "./support/until.ts";

type Requests = NonNullable<Parameters<typeof startService>[0]>["requests"];

async function openScene(t: TestContext, requests: Requests) {
  // the minute of the limits stands still, and a wait passes
  const now = Date.now();
  const service = await startService({ requests, clock: () => now, timer: systemTimer });
  const held: RawConnection[] = [];
  t.after(async () => {
    for (const connection of held) connection.close();
    await service.close();
  });

  /** Sends the head of a request whose body is still to come: it is in flight until `finish`. */
  async function begin(body: string, key = service.key): Promise<RawConnection & { finish(): Promise<RawAnswer> }> {
    const connection = await openRaw(service.address);
    held.push(connection);
    const head = ["POST /v1/store/orders HTTP/1.1", "Host: localhost", `X-API-Key: ${key}`, "Content-Type: application/json"];
    const length = body === "" ? "Transfer-Encoding: chunked" : `Content-Length: ${body.length}`;
    await connection.write([...head, length, "", ""].join("\r\n"));
    const finish = async (): Promise<RawAnswer> => {
      await connection.write(body);
      return connection.answer();
    };
    return { ...connection, finish };
  }

  const figure = async (line: string): Promise<number> => {
    const { body } = await ask<string>(`${service.address}/metrics`, "GET");
    return Number(
      body
        .split("\n")
        .find((text) => text.startsWith(`${line} `))
        ?.split(" ")
        .at(-1) ?? assert.fail(line),
    );
  };
  const untilIs = (line: string, value: number): Promise<void> => until(async () => (await figure(line)) === value);
  return { service, begin, figure, untilIs };
}

const hourMs = 3_600_000;
const inFlight = 'petstore_requests_in_flight{listener="api"}';
const waiting = 'petstore_requests_waiting{listener="api"}';
const bodyBytes = 'petstore_body_bytes{listener="api"}';
const refusedOf = (reason: string): string => `petstore_bound_refusals_total{reason="${reason}"}`;
const order = '{"quantity":7}';

function requireOverload(answer: { status: number; headers: Headers }): void {
  assert.deepEqual([answer.status, answer.headers.get("retry-after")], [503, "1"]);
}

test("a request over the bounds of running and waiting requests is refused at once, and its account gets its quota back", async (t) => {
  const { service, begin, figure, untilIs } = await openScene(t, { inFlight: { maxPerKey: 1, waitingMaxPerKey: 1, waitMs: hourMs } });
  const { key } = await service.newAccount("free");
  const first = await begin(order, key);
  await untilIs(inFlight, 1);
  const second = service.ask("GET", "/pets", { key });
  await untilIs(waiting, 1);
  const refused = await service.ask("GET", "/pets", { key });
  requireOverload(refused);
  assert.equal(refused.headers.get("x-ratelimit-remaining"), "58", "two count: the one in flight and the one that waits");
  assert.match(refused.headers.get("ratelimit") ?? "", /"minute";r=58;.*"day";r=998;/);
  assert.equal((await service.ask("GET", "/pets")).status, 200, "another account is not held up");
  assert.equal((await first.finish()).status, 201);
  assert.equal((await second).status, 200);
  assert.equal(await figure(refusedOf("requests_in_flight")), 1);
  const usage = await service.ask<{ points: { requests: number }[] }>("GET", "/usage?interval=minute", { key });
  assert.equal(usage.headers.get("x-ratelimit-remaining"), "57");
  assert.equal(
    usage.body.points.reduce((sum, { requests }) => sum + requests, 0),
    3,
  );
});

test("a refusal says whether the account or the service has too many requests in progress", async (t) => {
  const bounds = { max: 2, maxPerKey: 1, waitingMax: 0, waitMs: hourMs };
  const { service, begin, untilIs } = await openScene(t, { inFlight: bounds });
  const other = await service.newAccount("free");
  const messageFor = async (key: string): Promise<string> => {
    const refused = await service.ask<{ message: string }>("GET", "/pets", { key });
    requireOverload(refused);
    return refused.body.message;
  };
  const first = await begin(order);
  await untilIs(inFlight, 1);
  assert.equal(await messageFor(service.key), "This account has too many requests in progress. Try again in a moment.");
  const second = await begin(order, other.key);
  await untilIs(inFlight, 2);
  assert.equal(
    await messageFor((await service.newAccount("free")).key),
    "The service has too many requests in progress. Try again in a moment.",
  );
  assert.deepEqual([(await first.finish()).status, (await second.finish()).status], [201, 201]);
});

test("waiting requests continue in the order in which they came", async (t) => {
  const { service, begin, untilIs } = await openScene(t, { inFlight: { maxPerKey: 1, waitingMaxPerKey: 10, waitMs: hourMs } });
  const first = await begin(order);
  await untilIs(inFlight, 1);
  const done: string[] = [];
  const waits = [];
  for (const [index, name] of ["b", "a", "c"].entries()) {
    waits.push(service.ask("POST", "/categories", { body: { name } }).then(() => done.push(name)));
    await untilIs(waiting, index + 1);
  }
  await first.finish();
  await Promise.all(waits);
  const categories = await service.ask<{ name: string }[]>("GET", "/categories");
  assert.deepEqual(
    categories.body.map(({ name }) => name),
    ["b", "a", "c"],
  );
});

test("a request that has waited too long is refused, and its account gets its quota back", async (t) => {
  const { service, begin, untilIs } = await openScene(t, { inFlight: { maxPerKey: 1, waitingMaxPerKey: 10, waitMs: 20 } });
  const { key } = await service.newAccount("free");
  const first = await begin(order, key);
  await untilIs(inFlight, 1);
  const refused = await service.ask("GET", "/pets", { key });
  requireOverload(refused);
  assert.equal(refused.headers.get("x-ratelimit-remaining"), "59");
  assert.equal((await first.finish()).status, 201);
  assert.equal((await service.ask("GET", "/pets", { key })).status, 200, "the place is free again");
});

test("a publishable key and a signed-in person get their quota back too", async (t) => {
  const { service, begin, untilIs } = await openScene(t, { inFlight: { maxPerKey: 1, waitingMaxPerKey: 0, waitMs: hourMs } });
  const { id, key } = await service.newAccount("pro");
  const publishable = await service.administration["keys.create"]({ account: id, publishable: true });
  const person = await newMember(service, { account: id, email: "ann@shop.example", role: "owner" });
  const first = await begin(order, key);
  await untilIs(inFlight, 1);
  const refused = await service.ask("GET", "/pets", { key: publishable.key });
  requireOverload(refused);
  assert.equal(refused.headers.get("x-ratelimit-remaining"), "60");
  const refusedPerson = await person.ask("GET", "/pets");
  requireOverload(refusedPerson);
  await first.finish();
  const before = Number(refusedPerson.headers.get("x-ratelimit-remaining"));
  assert.equal((await person.ask("GET", "/pets")).headers.get("x-ratelimit-remaining"), `${before - 1}`);
});

test("bodies over the bytes of their account are refused at once, with or without a Content-Length", async (t) => {
  const { service, begin, figure, untilIs } = await openScene(t, { bodyBytesMax: 1_000, bodyBytesEach: 600 });
  const { key } = await service.newAccount("free");
  const held = await begin(order.padEnd(500), key);
  await untilIs(bodyBytes, 500);
  const sized = await service.ask("POST", "/store/orders", { key, body: order.padEnd(101) });
  requireOverload(sized);
  assert.equal(sized.headers.get("x-ratelimit-remaining"), "59");
  const chunked = await begin("", key);
  await chunked.write(`65\r\n${order.padEnd(101)}\r\n`);
  const { status, headers } = await chunked.answer();
  assert.deepEqual([status, headers["retry-after"], headers["x-ratelimit-remaining"]], [503, "1", "59"]);
  assert.equal((await service.ask("POST", "/store/orders", { key, body: order.padEnd(100) })).status, 201, "what fits is taken");
  assert.equal((await service.ask("POST", "/store/orders", { body: order.padEnd(500) })).status, 201, "another account's");
  assert.equal((await held.finish()).status, 201);
  await untilIs(bodyBytes, 0);
  assert.equal((await service.ask("POST", "/store/orders", { key, body: order.padEnd(600) })).status, 201);
  assert.equal(await figure(refusedOf("body_bytes")), 2);
});

test("bodies beyond the bytes of all accounts are refused, and those that end early give their bytes back", async (t) => {
  const { service, begin, untilIs } = await openScene(t, { bodyBytesMax: 1_000, bodyBytesEach: 600 });
  const held = [await begin(order.padEnd(600)), await begin(order.padEnd(400), (await service.newAccount()).key)];
  await untilIs(bodyBytes, 1_000);
  const { key } = await service.newAccount();
  requireOverload(await service.ask("POST", "/store/orders", { key, body: order }));
  for (const connection of held) connection.close();
  await untilIs(bodyBytes, 0);
  await untilIs(inFlight, 0);
  assert.equal((await service.ask("POST", "/store/orders", { key, body: order })).status, 201);
});

test("a caller without a key has the bytes of the address", async (t) => {
  const { service, begin, untilIs } = await openScene(t, { bodyBytesEach: 100 });
  await begin(order.padEnd(100));
  await untilIs(bodyBytes, 100);
  const browser = openBrowser(service);
  await service.ask("GET", "/pets");
  requireOverload(await browser.ask("POST", "/sign-in", { email: "ann@shop.example".padStart(101, "a"), password: "x" }));
});

const batchBytes = 214 * 1024;

test("two hundred batches at once do not crash a process with a heap of 128 MiB", async (t) => {
  const folder = temporaryFolder(t);
  const key = await createAccount(folder);
  const address = await addressOf(spawnServer(t, folder, { NODE_OPTIONS: "--max-old-space-size=128" }));
  const category = await ask<{ id: number }>(`${address}/v1/categories`, "POST", { key, body: { name: "Dogs" } });
  const pets = Array.from({ length: 1_000 }, (_, index) => ({ name: `${index}`.padEnd(170, "x"), categoryId: category.body.id }));
  const body = JSON.stringify(pets).padEnd(batchBytes);
  const head = ["POST /v1/pets/batch HTTP/1.1", "Host: localhost", `X-API-Key: ${key}`, "Content-Type: application/json"];

  /** Sends all but the last byte, so that all bodies are there at once. */
  async function begin(): Promise<RawConnection> {
    const connection = await openRaw(address);
    t.after(() => connection.close());
    await connection.write([...head, `Content-Length: ${batchBytes}`, "", body.slice(0, -1)].join("\r\n"));
    return connection;
  }
  const connections = await Promise.all(Array.from({ length: 200 }, begin));
  const taken = Math.floor((16 * 1024 * 1024) / batchBytes);
  const lines = [`${bodyBytes} ${taken * batchBytes}`, `${refusedOf("body_bytes")} ${200 - taken}`];
  await until(async () => {
    const { body: metrics } = await ask<string>(`${address}/metrics`, "GET");
    return lines.every((line) => metrics.includes(`${line}\n`));
  });
  const answers = await Promise.all(
    connections.map(async (connection) => {
      await connection.write(body.slice(-1));
      return connection.answer();
    }),
  );
  const statuses = answers.map(({ status }) => status);
  const created = statuses.filter((status) => status === 201).length;
  assert.ok(created >= 1 && created <= taken, "others wait for the writer for too long on a slow machine");
  assert.deepEqual(new Set(statuses), new Set([201, 503]));
  assert.equal((await ask(`${address}/healthz`, "GET")).status, 200);
});
