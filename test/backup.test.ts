import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test, type TestContext } from "node:test";
import { contentsOf, done, publish, refused, settingsOf } from "./support/backups.ts";
import { runCommand } from "./support/commands.ts";
import { temporaryFolder } from "./support/folder.ts";
import type { Order } from "./support/models.ts";
import { engine, startService, type TestService } from "./support/service.ts";
import { made, newCategory } from "./support/shop.ts";
import { until } from "./support/until.ts";

let service: TestService;
let env: Record<string, string>;
before(async () => {
  service = await startService();
  env = await settingsOf(service.dataDir);
  await newCategory(service, "Dogs");
  await made(service, "POST", "/pets", { name: "Rex", categoryId: 1 });
  await made(service, "PUT", "/store/inventory/1", { quantity: 1_000_000 });
  await publish(service, "rex", { "index.html": `<h1>${"Rex ".repeat(2_000)}</h1>`, "small.txt": "small" });
});
after(() => service.close());

/** An empty target of a restore, on an engine. */
async function newPlace(t: TestContext, on = engine): Promise<Record<string, string>> {
  const dataDir = join(temporaryFolder(t), "data");
  if (on === "sqlite") return { DATA_DIR: dataDir };
  const { newDatabase } = await import("./support/postgres.ts");
  const { url, drop } = await newDatabase(dataDir);
  t.after(drop);
  return { DATA_DIR: dataDir, DATABASE_URL: url, ...(env["SECRETS_KEY"] && { SECRETS_KEY: env["SECRETS_KEY"] }) };
}

/** Places orders until it is stopped, and returns the ids of those that were acknowledged. */
function placeOrders(): { acknowledged: number[]; stop: () => Promise<void> } {
  const acknowledged: number[] = [];
  const stopping = new AbortController();
  const placing = (async () => {
    while (!stopping.signal.aborted) {
      const { status, body } = await service.ask<Order & { id: number }>("POST", "/store/orders", { body: { petId: 1, quantity: 1 } });
      assert.equal(status, 201);
      acknowledged.push(body.id);
    }
  })();
  return { acknowledged, stop: () => (stopping.abort(), placing) };
}

/** Starts a service on restored data, and returns the pages of its orders. */
async function ordersIn(t: TestContext, place: Record<string, string>): Promise<{ ids: Set<number>; restored: TestService }> {
  const restored = await startService({ dataDir: place["DATA_DIR"]!, env: { ...place, DATABASE_URL: place["DATABASE_URL"] ?? "" } });
  t.after(() => restored.close());
  const ids = new Set<number>();
  for (let path = "/store/orders?limit=100"; path !== "";) {
    const reply = await restored.ask<{ id: number }[]>("GET", path, { key: service.key });
    assert.equal(reply.status, 200);
    for (const { id } of reply.body) ids.add(id);
    path = /<[^>]*\/v1([^>]+)>; rel="next"/.exec(reply.headers.get("link") ?? "")?.[1] ?? "";
  }
  return { ids, restored };
}

test("a backup of a service that takes orders has every order that was acknowledged before it began, and restores on both engines", async (t) => {
  const file = join(temporaryFolder(t), "backup.tar.gz");
  await until(() => Promise.resolve(existsSync(join(service.dataDir, "limits.state"))));
  const load = placeOrders();
  while (load.acknowledged.length < 50) await new Promise(setImmediate);
  const acknowledged = [...load.acknowledged];
  const report = await done<{ file: string; rows: number; files: number; secrets: boolean }>(env, "backup", file);
  await load.stop();
  assert.deepEqual([report.file, report.secrets, report.files], [file, true, 4]);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal((await done<{ whole: boolean }>({}, "verify", file)).whole, true);
  assert.match(
    execFileSync("tar", ["tzf", file], { encoding: "utf8" }),
    /^petstore-backup\.json\nsecrets\.key\ndatabase\/[^]*manifest\.json\n$/,
  );

  const other = engine === "sqlite" ? "postgres" : "sqlite";
  for (const on of [engine, other]) {
    const place = await newPlace(t, on);
    await done(place, "restore", file);
    assert.equal(readFileSync(join(place["DATA_DIR"]!, "limits.state"), "utf8"), textIn(file, "limits.state"), "the counters are restored");
    assert.equal((await done<{ whole: boolean }>(place, "verify")).whole, true);
    await refused(place, /is not empty/, "restore", file);
    if (on === "postgres") {
      const held = temporaryFolder(t);
      writeFileSync(join(held, "secrets.key"), `${randomBytes(32).toString("base64")}\n`);
      const key = readFileSync(join(held, "secrets.key"), "utf8");
      await refused({ ...place, SECRETS_KEY: "", DATA_DIR: held }, /holds secrets\.key of another store/, "restore", file, "--replace");
      assert.equal(readFileSync(join(held, "secrets.key"), "utf8"), key, "the key of another store stays");
    }
    const needed = { ...place, ...(on === "postgres" && { SECRETS_KEY: secretsIn(file) }) };
    const { ids, restored } = await ordersIn(t, needed);
    for (const id of acknowledged) assert.ok(ids.has(id), `order ${id} is there on ${on}`);
    const next = await restored.ask<{ id: number }>("POST", "/store/orders", { key: service.key, body: { petId: 1, quantity: 1 } });
    assert.equal(next.status, 201);
    assert.ok(next.body.id > Math.max(...ids), "no identifier comes twice");
    const page = await restored.publishing.idle().then(() => restored.ask("GET", "/projects", { key: service.key }));
    assert.equal(page.status, 200);
    assert.equal((await done<{ whole: boolean }>(needed, "verify")).whole, true);
  }
});

const textIn = (file: string, name: string): string => execFileSync("tar", ["xzOf", file, name], { encoding: "utf8" });
const secretsIn = (file: string): string => textIn(file, "secrets.key").trim();

test("a backup made with --without-secrets has no key, and is restored beside the same one", async (t) => {
  const folder = temporaryFolder(t);
  await done(env, "backup", join(folder, "clear"));
  const without = join(folder, "without");
  assert.equal((await done<{ secrets: boolean }>(env, "backup", without, "--without-secrets")).secrets, false);
  assert.doesNotMatch(execFileSync("tar", ["tzf", without], { encoding: "utf8" }), /secrets\.key/);
  const bare = await newPlace(t);
  delete bare["SECRETS_KEY"];
  await refused(bare, /was made without its secrets key: set SECRETS_KEY to the key [0-9a-f]{8} /, "restore", without);
  await refused({ ...bare, SECRETS_KEY: Buffer.alloc(32).toString("base64") }, /which SECRETS_KEY does not hold/, "restore", without);
  await done({ ...bare, SECRETS_KEY: secretsIn(join(folder, "clear")) }, "restore", without);
});

test("content that the service deletes during a backup is in the backup", async (t) => {
  const { openSource } = await import("../src/backup/source.ts");
  const { loadSettings } = await import("../src/app/settings.ts");
  const { writeBackup } = await import("../src/backup/backup-file.ts");
  const project = await publish(service, "gone", {
    "index.html": "to be deleted while the backup runs",
    "large.html": "gone ".repeat(1_000),
  });
  const source = await openSource(loadSettings(env), true);
  await made(service, "DELETE", `/projects/${project.id}`);
  await service.publishing.idle();
  const file = join(temporaryFolder(t), "backup");
  const options = {
    now: 1,
    progress: () => undefined,
    passphrase: undefined,
  };
  const { manifest } = await writeBackup(file, source, options);
  await source.close();
  assert.equal(manifest.missing, 0);
  const verified = await runCommand(["verify", file], {});
  assert.equal(verified.code, 0, verified.out);
  assert.deepEqual(
    Object.keys(contentsOf(service.dataDir)).filter((path) => path.includes("petstore.backup-")),
    [],
  );
});

test("--replace sets all of the old state aside, and nothing of it is in the new one", async (t) => {
  const file = join(temporaryFolder(t), "backup");
  await done(env, "backup", file);
  const place = await newPlace(t);
  await done(place, "restore", file);
  if (engine === "sqlite") writeFileSync(join(place["DATA_DIR"]!, "petstore.db-wal"), "an old log");
  const { aside } = await done<{ aside: string }>(place, "restore", file, "--replace");
  assert.ok(aside.includes("replaced"), aside);
  assert.equal((await done<{ whole: boolean }>(place, "verify")).whole, true);
  if (engine === "sqlite") assert.equal(readFileSync(join(aside, "petstore.db-wal"), "utf8"), "an old log");
  const running = await refused(env, engine === "sqlite" ? /is in use by/ : /node is serving|is in use by/, "restore", file, "--replace");
  assert.doesNotMatch(running.error, /postgres:\/\//);
  assert.equal((await service.ask("GET", "/pets")).status, 200);
});

test("a backup never replaces a file, and never makes its folder", async (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, "there");
  writeFileSync(file, "something else");
  await refused(env, /there exists already/, "backup", file);
  assert.equal(readFileSync(file, "utf8"), "something else");
  await refused(env, /there is no folder/, "backup", join(folder, "none", "backup"));
  assert.equal((await runCommand(["backup"], env)).code, 2);
  rmSync(file);
  await refused({ ...env, DATA_DIR: folder, DATABASE_URL: "" }, /has no data/, "backup", file);
  await refused({}, /there is no file/, "verify", file);
});
