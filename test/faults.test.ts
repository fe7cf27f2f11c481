import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import {
  closeSync,
  copyFileSync,
  globSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { suite, test, type TestContext } from "node:test";
import type { Deployment } from "../src/publishing/projects/deployments.ts";
import { openFaultyShop as openShop } from "./support/faulty-shop.ts";
import { temporaryFolder } from "./support/folder.ts";
import { freePort } from "./support/ports.ts";
import { createAccount } from "./support/process.ts";
import { sendRaw } from "./support/raw.ts";
import { refusedStarts } from "./support/refusals.ts";
import { ask } from "./support/service.ts";
import { packSite } from "./support/sites.ts";
import { mountSmallDisk } from "./support/small-disk.ts";
import { until } from "./support/until.ts";

/** Overwrites part of a file, which keeps its size. */
function overwrite(file: string, at: number, bytes: Uint8Array): void {
  const descriptor = openSync(file, "r+");
  writeSync(descriptor, bytes, 0, bytes.length, at);
  closeSync(descriptor);
}

/** A stopped shop with `pages` pages of categories in its database, and a function that damages those pages. */
async function openFilled(t: TestContext) {
  const dataDir = temporaryFolder(t);
  const key = await createAccount(dataDir);
  const file = join(dataDir, "petstore.db");
  const db = new DatabaseSync(file);
  const roots = db.prepare("SELECT rootpage FROM sqlite_schema WHERE tbl_name = 'categories'").all();
  db.close();
  const damage = (): void => {
    for (const { rootpage } of roots) overwrite(file, (Number(rootpage) - 1) * 4_096, new Uint8Array(4_096).fill(0xa5));
  };
  return { dataDir, key, file, damage };
}

suite("a fault of the machine", { concurrency: 2 }, () => {
  test("a full data disk: writes get 503 and /readyz says why; reads go on; with room again writes succeed, without a restart", async (t) => {
    const disk = mountSmallDisk(t, 24 << 20);
    const shop = await openShop(t, disk.path);
    assert.equal(await shop.add(), 201);
    assert.equal((await shop.ready()).status, 200);
    disk.fill();
    await until(async () => (await shop.ready()).status === 503);
    assert.equal((await shop.ready()).body.reason, "the disk of DATA_DIR is full");
    assert.equal(await shop.fault("data_disk"), 1);
    let last = 201;
    for (let i = 0; i < 3_000 && last === 201; i++) last = (await shop.send("POST", "/store/orders", {})).status;
    assert.equal(last, 503);
    assert.deepEqual((await shop.names()).slice(0, 1), ["Category 0"]);
    assert.equal((await shop.ready()).status, 503);

    disk.empty();
    await until(async () => (await shop.ready()).status === 200);
    assert.equal(await shop.add(), 201);
    assert.deepEqual([await shop.fault("data_disk"), await shop.fault("database_writes")], [0, 0]);
    const { body } = await ask<string>(`${shop.address}/metrics`, "GET");
    assert.match(body, /^petstore_faults_total\{fault="data_disk"\} 1$/m);
    await shop.stop();
    const again = await openShop(t, disk.path, { key: shop.key });
    assert.deepEqual((await again.names()).toSorted(), shop.added.toSorted());
  });

  test("no room for an upload, by the disk or by a limit: 503 with Retry-After, nothing stays, and with room again it succeeds", async (t) => {
    const disk = mountSmallDisk(t, 24 << 20);
    const shop = await openShop(t, disk.path);
    const { id } = (await shop.send<{ id: number }>("POST", "/projects", { name: "Luna", slug: "luna" })).body;
    const archive = await packSite({
      "index.html": "<h1>Luna</h1>",
      "petstore.json": "{}",
      "noise.txt": randomBytes(3 << 20).toString("latin1"),
    });
    const upload = (to: string, key: string) =>
      ask<{ code: string }>(`${to}/v1/projects/${id}/deployments`, "POST", {
        key,
        body: archive,
        headers: { "content-type": "application/gzip" },
      });
    disk.fill();
    const refused = await upload(shop.address, shop.key);
    assert.deepEqual([refused.status, refused.body.code, refused.headers.get("retry-after")], [503, "unavailable", "1"]);
    assert.deepEqual(globSync(join(disk.path, "uploads", "*")), []);
    disk.empty();
    await until(async () => (await shop.ready()).status === 200);
    assert.equal((await upload(shop.address, shop.key)).status, 202);
    await shop.stop();
    assert.doesNotMatch(shop.server.out(), /"level":50,.*"requestId"/); // no request met an error that the service did not expect

    const bounded = await openShop(t, disk.path, { key: shop.key, under: ["sh", "-c", 'ulimit -f 2048; exec "$@"', "sh"] });
    const tooLarge = await upload(bounded.address, shop.key);
    assert.deepEqual([tooLarge.status, tooLarge.headers.get("retry-after")], [503, "1"]);
    await bounded.stop();
  });

  test("a database that may not grow: writes get 503, and /readyz and a metric say why", async (t) => {
    const under = ["sh", "-c", 'ulimit -f 2048; exec "$@"', "sh"];
    const shop = await openShop(t, temporaryFolder(t), { under });
    const fill = (i: number) => shop.send("POST", "/categories", { name: `${i} ${"x".repeat(90)}` });
    let statuses: number[] = [];
    for (let i = 0; i < 30_000 && !statuses.includes(503); i += 100) {
      statuses = (await Promise.all(Array.from({ length: 100 }, (_, j) => fill(i + j)))).map(({ status }) => status);
    }
    assert.ok(statuses.includes(503));
    const { status: readiness, body } = await shop.ready();
    assert.equal(readiness, 503);
    assert.match(body.reason ?? "", /^the database takes no writes: /);
    assert.equal(await shop.fault("database_writes"), 1);
    assert.equal((await shop.send("GET", "/categories")).status, 200);
    await shop.stop();
  });

  test("a damaged page, found by a read or by a write: writes get 503, other reads go on, and nothing more is damaged", async (t) => {
    for (const method of ["GET", "POST"]) {
      const { dataDir, key, file, damage } = await openFilled(t);
      damage();
      const logBytes = () => statSync(`${file}-wal`).size;
      const shop = await openShop(t, dataDir, { key });
      assert.equal((await shop.ready()).status, 200);
      assert.equal((await shop.send(method, "/categories", method === "POST" ? { name: "Dogs" } : undefined)).status, 500);
      const before = logBytes();
      for (let i = 0; i < 3; i++) assert.equal((await shop.send("POST", "/categories", { name: "Cats" })).status, 503);
      assert.equal((await shop.send("POST", "/store/orders", {})).status, 503);
      assert.equal((await shop.send("GET", "/store/orders")).status, 200);
      const { status, body } = await shop.ready();
      assert.equal(status, 503);
      assert.match(body.reason ?? "", /^the database is damaged: /);
      assert.equal(await shop.fault("database_damage"), 1);
      assert.equal(logBytes(), before);
      await shop.stop();
    }
  });

  test("a database that is overwritten, cut short or replaced under a running service does not end it", async (t) => {
    const ways: ((file: string) => void)[] = [
      (file) => overwrite(file, 0, new Uint8Array(statSync(file).size).fill(0xa5)),
      (file) => truncateSync(file, 8_192),
      (file) => {
        copyFileSync(file, `${file}.copy`);
        renameSync(`${file}.copy`, file);
      },
    ];
    for (const change of ways) {
      const { dataDir, key, file } = await openFilled(t);
      const shop = await openShop(t, dataDir, { key });
      assert.equal(await shop.add(), 201);
      await shop.names();
      change(file);
      for (let i = 0; i < 5; i++) {
        await shop.send("GET", "/pets");
        await shop.send("GET", "/store/orders");
        await shop.add();
      }
      await until(async () => (await shop.ready()).status === 503);
      assert.match((await shop.ready()).body.reason ?? "", /^(the database|petstore\.db)/);
      assert.equal(await shop.fault("database_damage"), 1);
      assert.equal((await ask(`${shop.address}/healthz`, "GET")).status, 200);
      shop.server.kill("SIGTERM");
      assert.equal(await shop.server.ended, 0);
    }
  });

  test("a missing or shortened published file: its visitors get 500, /readyz stays 200 with a warning, until the file is back", async (t) => {
    const dataDir = temporaryFolder(t);
    const edgePort = await freePort();
    const shop = await openShop(t, dataDir, { env: { EDGE_HTTP_PORT: `${edgePort}` } });
    const { id } = (await shop.send<{ id: number }>("POST", "/projects", { name: "Luna", slug: "luna" })).body;
    const headers = { "content-type": "application/gzip" };
    const archive = await packSite({ "index.html": "<h1>Luna</h1>", "petstore.json": "{}" });
    await ask(`${shop.address}/v1/projects/${id}/deployments`, "POST", { key: shop.key, body: archive, headers });
    await until(async () => (await shop.send<Deployment[]>("GET", `/projects/${id}/deployments`)).body[0]?.status === "ready");
    const visit = async () =>
      (await sendRaw(`http://127.0.0.1:${edgePort}`, "GET / HTTP/1.1\r\nHost: luna.petstore.localhost\r\n\r\n")).status;
    const path = globSync(join(dataDir, "content", "??", "*")).find((name) => readFileSync(name, "utf8") === "<h1>Luna</h1>") ?? "";
    for (const harm of [() => renameSync(path, `${path}.away`), () => writeFileSync(path, "<h1>")]) {
      copyFileSync(path, join(dataDir, "kept"));
      harm();
      assert.equal(await visit(), 500);
      await until(async () => (await shop.fault("published_files")) === 1);
      const { status, body } = await shop.ready();
      assert.deepEqual([status, body.warnings], [200, ["1 published files are missing or damaged"]]);
      copyFileSync(join(dataDir, "kept"), path);
      await until(async () => (await shop.fault("published_files")) === 0);
      assert.deepEqual((await shop.ready()).body, { status: "ready" });
    }
    assert.equal(await visit(), 200);
    await shop.stop();
  });

  test("a full disk, or a folder in the place of the database, refuses the start in one line that names the path", async (t) => {
    const disk = mountSmallDisk(t, 256 << 10);
    disk.fill();
    const folder = temporaryFolder(t);
    mkdirSync(join(folder, "petstore.db"));
    const roomy = mountSmallDisk(t, 400 << 10);
    const folders = [disk.path, folder, roomy.path];
    const lines = await refusedStarts(
      folders.map((DATA_DIR) => ({ DATA_DIR })),
      { mayLog: true },
    );
    for (const [index, line] of lines.entries()) assert.ok(line.includes(folders[index]!), line);
  });
});
