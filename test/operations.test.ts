import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readFileSync, statSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { suite, test, type TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import sql from "sql-template-tag";
import { openSqlite } from "../src/platform/db/sqlite.ts";
import { temporaryFolder } from "./support/folder.ts";
import { freePort } from "./support/ports.ts";
import { addressOf, createAccount, keyIn, signInLinkIn, spawnServer } from "./support/process.ts";
import { openRaw } from "./support/raw.ts";
import { refusedStarts } from "./support/refusals.ts";
import { ask, startService } from "./support/service.ts";
import { until } from "./support/until.ts";

/** A port that something else listens at until the test ends. */
async function takenPort(t: TestContext): Promise<string> {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  t.after(() => other.close());
  return String((other.address() as AddressInfo).port);
}

suite("a server as a process", { concurrency: 2 }, () => {
  test("the first start shows a key and a sign-in link, once, in its log and in a file that the first sign-in deletes", async (t) => {
    const dataDir = join(temporaryFolder(t), "data");
    const first = spawnServer(t, dataDir);
    const address = await addressOf(first);
    const key = keyIn(first.out());
    const { status, body } = await ask<{ plan: string }>(`${address}/v1/account`, "GET", { key });
    assert.deepEqual([status, body.plan], [200, "business"]);
    const token = /^http:\/\/localhost:0\/sign-in#token=([\w-]{43})$/.exec(signInLinkIn(first.out()))?.[1];
    const file = join(dataDir, "first-sign-in");
    assert.equal(
      readFileSync(file, "utf8"),
      first
        .out()
        .split(/(?<=\n)/)
        .find((line) => line.includes('"msg":"first start"')),
    );
    assert.equal(statSync(file).mode & 0o777, 0o600);
    const link = () => ask(`${address}/dashboard/v1/sign-in/link`, "POST", { headers: { origin: address }, body: { token } });
    assert.deepEqual([(await link()).status, existsSync(file), (await link()).status], [200, false, 401]);
    assert.equal(statSync(dataDir).mode & 0o777, 0o700);
    first.kill("SIGTERM");
    assert.equal(await first.ended, 0);

    const second = spawnServer(t, dataDir);
    assert.equal((await ask(`${await addressOf(second)}/v1/pets`, "GET", { key })).status, 200);
    assert.doesNotMatch(second.out() + second.err(), /ps[kp]_|token=/);
    for (const line of (first.out() + second.out()).trim().split("\n")) assert.equal(typeof JSON.parse(line), "object");
  });

  test("on a terminal the first start greets a person, and writes no file", async (t) => {
    const dataDir = join(temporaryFolder(t), "data");
    const terminal = spawnServer(t, dataDir, {}, ["sh", "-c", 'exec script -qefc "$0 $1 $2" /dev/null']);
    await until(() => /INFO {2}started address=http/.test(terminal.out())); // lines for people
    const shown =
      /^Pet Store is at http:\/\/localhost:0 [^]*Its key, shown only now:\s+psk_\w+\s[^]* at\s+http:\/\/localhost:0\/sign-in#token=[\w-]{43}\s/;
    assert.match(terminal.out(), shown);
    assert.equal(existsSync(join(dataDir, "first-sign-in")), false);
  });

  test("a first start that is killed as soon as it is ready has shown its key, or the next one shows another", async (t) => {
    const dataDir = join(temporaryFolder(t), "data");
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const first = spawnServer(t, dataDir, { PORT: String(port) });
    const isReady = async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.status === 200;
    while (!(await isReady())) await pause(1);
    first.kill("SIGKILL");
    await first.ended;
    const next = spawnServer(t, dataDir, { PORT: String(port) });
    await addressOf(next);
    const key = keyIn(next.out()) || keyIn(first.out());
    assert.equal((await ask(`${url}/v1/account`, "GET", { key })).status, 200);
  });

  test("a server that runs", async (t) => {
    const dataDir = temporaryFolder(t);
    const server = spawnServer(t, dataDir);
    const address = await addressOf(server);

    await t.test("GET /healthz and GET /readyz answer 200 without a key while the service takes requests", async () => {
      const [health, ready] = [await ask(`${address}/healthz`, "GET"), await ask(`${address}/readyz`, "GET")];
      assert.deepEqual([health.status, health.body], [200, { status: "ok" }]);
      assert.deepEqual([ready.status, ready.body], [200, { status: "ready" }]);
    });

    await t.test("a second server on the same data folder is refused in one line that says who has it", async () => {
      const [line = ""] = await refusedStarts([{ DATA_DIR: dataDir }]);
      assert.ok(line.includes(dataDir) && line.includes("in use by"), line);
      assert.equal((await ask(`${address}/healthz`, "GET")).status, 200);
    });

    await t.test("the log is one JSON object a line, with the request's id, and never a key, a query or a body", async () => {
      const key = keyIn(server.out());
      const secret = "hush-hush";
      const replies = [
        await ask(`${address}/v1/pets?q=${secret}`, "GET", { key }),
        await ask(`${address}/v1/pets?key=${key}`, "GET", { key: "", headers: { "x-api-key": key } }),
        await ask(`${address}/v1/categories`, "POST", { key, body: { name: secret }, headers: { "idempotency-key": secret } }),
        await ask(`${address}/v1/nothing?${secret}`, "GET", { key: `${key}${secret}` }),
        await ask(`${address}/openapi.json?${secret}`, "GET", { headers: { cookie: secret } }),
      ];
      const ids = replies.map(({ headers }) => headers.get("x-request-id"));
      for (const id of ids) await server.logged(({ requestId }) => requestId === id);
      server.kill("SIGTERM");
      assert.equal(await server.ended, 0);

      const lines = server.log().filter(({ requestId }) => requestId !== undefined);
      assert.deepEqual(
        lines.map(({ requestId, method, path, status }) => [requestId, method, path, status]),
        [
          [ids[0], "GET", "/v1/pets", 200],
          [ids[1], "GET", "/v1/pets", 400],
          [ids[2], "POST", "/v1/categories", 201],
          [ids[3], "GET", "/v1/nothing", 401],
          [ids[4], "GET", "/openapi.json", 200],
        ],
      );
      const logged = server.out().replace(/^.*"msg":"first start".*\n/m, "");
      assert.doesNotMatch(logged, /ps[kp]_/);
      assert.doesNotMatch(logged, new RegExp(secret));
      assert.equal(server.err(), "");
      for (const line of logged.trim().split("\n")) assert.equal(typeof JSON.parse(line), "object");
    });
  });

  test("a start that is refused says why in one clear line", async (t) => {
    const newer = temporaryFolder(t);
    await createAccount(newer);
    const db = openSqlite(join(newer, "petstore.db"));
    await db.write((tx) => tx.query(sql`INSERT INTO migrations (number, name, applied_at) VALUES (9999, 'tomorrow', 0)`));
    await db.close();
    const names = ["PORT", "EDGE_HTTP_PORT", "EDGE_HTTPS_PORT"];
    const [port = "", ...others] = await Promise.all(names.map(() => takenPort(t)));
    const taken = { [names[0]!]: port, [names[1]!]: others[0]!, [names[2]!]: others[1]! };
    const free = String(await freePort());
    const wrong = Object.entries({ PORT: "80x", GET_PET_SUNSET: "soon", PUBLIC_URL: "localhost", TRUSTED_PROXIES: "10.0.0.0/33" });
    const below = ["sites.example.com", "pets.sites.example.com", "PETS.sites.example.com."];
    const lines = await refusedStarts([
      { DATA_DIR: newer },
      ...names.map((name) => ({ DATA_DIR: temporaryFolder(t), [name]: port })),
      { DATA_DIR: temporaryFolder(t), ...taken },
      { DATA_DIR: temporaryFolder(t), PORT: free, EDGE_HTTPS_PORT: free },
      ...wrong.map(([name, value]) => ({ DATA_DIR: temporaryFolder(t), [name]: value })),
      ...below.map((host) => ({ DATA_DIR: temporaryFolder(t), PLATFORM_DOMAIN: "sites.example.com", PUBLIC_URL: `https://${host}` })),
    ]);
    const next = () => lines.shift() ?? assert.fail("no line is left");

    await t.test("a data folder that a newer version wrote", () => assert.match(next(), /newer version.*9999 tomorrow/));

    await t.test("a port that is taken is named with its setting", () => {
      for (const name of names) assert.ok(next().startsWith(`petstore: ${name}=${port} is taken on 127.0.0.1`), name);
    });

    await t.test("ports that are taken are all named with their settings", () => {
      const line = next();
      for (const [name, value] of Object.entries(taken)) assert.ok(line.includes(`${name}=${value} is taken on 127.0.0.1`), line);
    });

    await t.test("one port for two of them", () =>
      assert.equal(next(), `petstore: EDGE_HTTPS_PORT="${free}" is not allowed: it must be another port than that of PORT\n`),
    );

    await t.test("a bad setting is named with the values that are allowed", () => {
      for (const [name, value] of wrong) {
        const line = next();
        assert.ok(line.includes(name) && line.includes(value) && line.includes("must be"), line);
      }
    });

    await t.test("a PUBLIC_URL at or below PLATFORM_DOMAIN", () => {
      for (const line of lines) assert.ok(line.startsWith("petstore: PUBLIC_URL=") && line.includes("sites.example.com"), line);
      assert.equal(lines.length, below.length);
    });
  });

  test("a PUBLIC_URL with the same registrable domain as PLATFORM_DOMAIN gets one warning", async (t) => {
    const PLATFORM_DOMAIN = "sites.example.com";
    const warnings: string[][] = [];
    for (const host of ["pets.example.com", "pets.example"]) {
      const server = spawnServer(t, temporaryFolder(t), { PLATFORM_DOMAIN, PUBLIC_URL: `https://${host}` });
      await addressOf(server);
      const said = server.log().map(({ msg }) => msg ?? "");
      warnings.push(said.filter((msg) => msg.includes("share example.com")));
    }
    assert.deepEqual(
      warnings.map(({ length }) => length),
      [1, 0],
    );
  });

  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    test(`${signal} finishes the requests in flight, accepts no new ones, and ends with 0`, async (t) => {
      const dataDir = temporaryFolder(t);
      const server = spawnServer(t, dataDir);
      const address = await addressOf(server);
      const key = keyIn(server.out());
      const connection = await openRaw(address);
      t.after(() => connection.close());
      const body = JSON.stringify({ name: "In flight" });
      const head = ["POST /v1/categories HTTP/1.1", "host: a", `authorization: Bearer ${key}`, "content-type: application/json"];
      await connection.write([...head, "expect: 100-continue", `content-length: ${body.length}`, "", ""].join("\r\n"));
      assert.equal((await connection.answer()).status, 100, "the request has begun");

      server.kill(signal);
      await server.logged(({ msg }) => msg === "stopping");
      await assert.rejects(ask(`${address}/v1/pets`, "GET", { key }), "a new connection is refused");
      await connection.write(body);
      const { status } = await connection.answer();
      assert.equal(status, 201);
      await assert.rejects(connection.answer(), /the connection ended/, "and the connection with it");
      assert.equal(await server.ended, 0);

      const next = await startService({ dataDir });
      t.after(() => next.close());
      const { body: categories } = await next.ask<{ name: string }[]>("GET", "/categories", { key });
      assert.deepEqual(
        categories.map(({ name }) => name),
        ["In flight"],
      );
    });
  }
});
