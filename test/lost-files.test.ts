import assert from "node:assert/strict";
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { suite, test, type TestContext } from "node:test";
import { runCommand } from "./support/commands.ts";
import { someOf } from "./support/fault-runs.ts";
import { type Faulty, openFaultyShop } from "./support/faulty-shop.ts";
import { temporaryFolder } from "./support/folder.ts";
import { freePort } from "./support/ports.ts";
import { newDatabase } from "./support/postgres.ts";
import { createAccount, type LogLine, spawnServer } from "./support/process.ts";
import { ask, secretsKey } from "./support/service.ts";
import { until } from "./support/until.ts";

/** How a file is lost, and how an operator brings the folder back before the next start. */
type Loss = { name: string; lose: (folder: string) => void; putBack?: (folder: string) => void; reason: RegExp; kind?: string };

const away = (name: string): Pick<Loss, "lose" | "putBack"> => ({
  lose: (folder) => renameSync(join(folder, name), join(folder, "away")),
  putBack: (folder) => renameSync(join(folder, "away"), join(folder, name)),
});

const losses: Loss[] = [
  { name: "petstore.db moved", ...away("petstore.db"), reason: /^petstore\.db was removed or replaced .*: put it back/ },
  {
    name: "petstore.db replaced by its copy",
    lose(folder) {
      copyFileSync(join(folder, "petstore.db"), join(folder, "copy"));
      renameSync(join(folder, "petstore.db"), join(folder, "away"));
      renameSync(join(folder, "copy"), join(folder, "petstore.db"));
    },
    putBack: (folder) => renameSync(join(folder, "away"), join(folder, "petstore.db")),
    reason: /^petstore\.db was removed or replaced/,
  },
  {
    name: "petstore.db-wal removed",
    lose: (folder) => rmSync(join(folder, "petstore.db-wal")),
    reason: /^petstore\.db-wal was removed or replaced .*: nothing is lost; restart the service$/,
  },
  {
    name: "petstore.db-wal replaced by a copy of it",
    lose(folder) {
      copyFileSync(join(folder, "petstore.db-wal"), join(folder, "copy"));
      renameSync(join(folder, "copy"), join(folder, "petstore.db-wal"));
    },
    reason: /^petstore\.db-wal was removed or replaced .*: nothing is lost; restart the service$/,
  },
  {
    name: "petstore.db-shm removed",
    lose: (folder) => rmSync(join(folder, "petstore.db-shm")),
    reason: /^petstore\.db-shm was removed or replaced .*: nothing is lost; restart the service$/,
  },
  {
    name: "petstore.lock removed",
    lose: (folder) => rmSync(join(folder, "petstore.lock")),
    reason: /^petstore\.lock was removed or replaced .*: another process may use the folder/,
    kind: "folder_lock",
  },
  {
    name: "the folder moved, and another one in its place",
    lose(folder) {
      renameSync(folder, `${folder}-away`);
      mkdirSync(folder, { mode: 0o700 });
    },
    putBack(folder) {
      rmSync(folder, { recursive: true });
      renameSync(`${folder}-away`, folder);
    },
    reason: /^petstore\.db was removed or replaced/,
  },
];

/** Adds categories from six clients until one is refused. */
async function addUntilRefused({ add }: Faulty): Promise<void> {
  const client = async (): Promise<void> => {
    for (let status = 201; status === 201;) status = await add();
  };
  await Promise.all(Array.from({ length: 6 }, client));
}

async function openShop(t: TestContext) {
  const dataDir = join(temporaryFolder(t), "data");
  const key = await createAccount(dataDir);
  return { dataDir, shop: await openFaultyShop(t, dataDir, { key }) };
}

suite("a file that the service has open", { concurrency: 2 }, () => {
  for (const { name, lose, putBack, reason, kind = "database_damage" } of someOf(losses, 2)) {
    test(`${name} under load: writes get 503, nothing acknowledged is lost, reads go on`, async (t) => {
      const { dataDir, shop } = await openShop(t);
      const adding = addUntilRefused(shop);
      await until(() => shop.added.length > 60);
      lose(dataDir);
      await adding;
      const refused = await shop.send<{ code: string }>("POST", "/categories", { name: "Late" });
      assert.deepEqual([refused.status, refused.body.code, refused.headers.get("retry-after")], [503, "unavailable", "1"]);
      assert.equal((await shop.names()).length > 0, true);
      const { status, body } = await shop.ready();
      assert.equal(status, 503);
      assert.match(body.reason ?? "", reason);
      assert.equal(await shop.fault(kind), 1);
      const isBegin = ({ msg, fault }: LogLine): boolean => msg === "a fault began" && fault === kind;
      await shop.server.logged(isBegin);
      shop.server.kill(kind === "folder_lock" ? "SIGKILL" : "SIGTERM");
      await shop.server.ended;
      assert.equal(shop.server.log().filter(isBegin).length, 1);

      putBack?.(dataDir);
      const again = await openFaultyShop(t, dataDir, { key: shop.key });
      const found = new Set(await again.names());
      assert.deepEqual(
        shop.added.filter((one) => !found.has(one)),
        [],
      );
      assert.equal(await again.add("After"), 201);
      await again.stop();
    });
  }

  test("petstore.db-wal removed, and the process killed after it noticed: the log is in the database, and another log is not used", async (t) => {
    const { dataDir, shop } = await openShop(t);
    assert.equal(await shop.add(), 201);
    copyFileSync(join(dataDir, "petstore.db-wal"), join(dataDir, "older"));
    for (let i = 0; i < 5; i++) assert.equal(await shop.add(), 201);
    renameSync(join(dataDir, "older"), join(dataDir, "petstore.db-wal"));
    await until(async () => (await shop.ready()).status === 503);
    shop.server.kill("SIGKILL");
    await shop.server.ended;
    const again = await openFaultyShop(t, dataDir, { key: shop.key });
    assert.deepEqual((await again.names()).toSorted(), shop.added.toSorted());
    assert.ok(existsSync(join(dataDir, "petstore.db-wal.damaged")));
    await again.stop();
  });

  test("petstore.db-wal cut short while the service runs: refused, and the next start does not use what is left", async (t) => {
    const { dataDir, shop } = await openShop(t);
    for (let i = 0; i < 5; i++) assert.equal(await shop.add(), 201);
    truncateSync(join(dataDir, "petstore.db-wal"), 0);
    assert.equal(await shop.add(), 503);
    assert.match((await shop.ready()).body.reason ?? "", /^petstore\.db-wal was cut short/);
    shop.server.kill("SIGTERM");
    assert.equal(await shop.server.ended, 0);
    const next = spawnServer(t, dataDir);
    assert.equal(await next.ended, 1);
    assert.match(next.err(), /^petstore: .*petstore\.db-wal is gone: .*repair --yes`\n$/);
  });

  test("a log that another program has copied into the database and emptied is not lost", async (t) => {
    const { dataDir, shop } = await openShop(t);
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 5; i++) assert.equal(await shop.add(), 201);
      const other = new DatabaseSync(join(dataDir, "petstore.db"), { timeout: 100 });
      const empty = other.prepare("PRAGMA wal_checkpoint(TRUNCATE)");
      await until(() => empty.get()!["busy"] === 0); // the service may be reading
      other.close();
    }
    assert.equal((await shop.ready()).status, 200);
    assert.equal(await shop.add(), 201);
    shop.server.kill("SIGKILL");
    await shop.server.ended;
    const again = await openFaultyShop(t, dataDir, { key: shop.key });
    assert.deepEqual((await again.names()).toSorted(), shop.added.toSorted());
    assert.equal(await again.add("After"), 201);
    await again.stop();
  });

  test("an unclean stop without petstore.db-wal is reported at the next start in one line, and `repair --yes` goes on", async (t) => {
    const { dataDir, shop } = await openShop(t);
    assert.equal(await shop.add(), 201);
    shop.server.kill("SIGKILL");
    await shop.server.ended;
    for (const lose of [() => writeFileSync(join(dataDir, "petstore.db-wal"), ""), () => rmSync(join(dataDir, "petstore.db-wal"))]) {
      lose();
      const next = spawnServer(t, dataDir);
      assert.equal(await next.ended, 1);
      assert.match(next.err(), /^petstore: .*petstore\.db-wal is gone: the last process did not stop cleanly.*\n$/);
    }
    const found = await runCommand(["doctor"], { DATA_DIR: dataDir });
    assert.match(found.out, /^FAULT +database: .*petstore\.db-wal is gone, and had changes/m);
    const { out } = await runCommand(["repair", "--yes"], { DATA_DIR: dataDir });
    assert.match(out, /The log is gone/);
    const again = await openFaultyShop(t, dataDir, { key: shop.key });
    assert.equal(await again.add("After"), 201);
    await again.stop();
    assert.equal(existsSync(join(dataDir, "petstore.db-log")), false);
  });

  test("the key of the secrets, the socket or the published files removed: 200 with a warning until they are back", async (t) => {
    const { dataDir, shop } = await openShop(t);
    writeFileSync(join(dataDir, "secrets.key"), "x");
    mkdirSync(join(dataDir, "content"), { recursive: true });
    await until(async () => (await shop.ready()).body.warnings === undefined);
    for (const name of ["secrets.key", "petstore.sock", "content"]) {
      renameSync(join(dataDir, name), join(dataDir, "away"));
      await until(async () => (await shop.fault("folder_files")) === 1);
      const { status, body } = await shop.ready();
      assert.equal(status, 200);
      assert.match(body.warnings?.[0] ?? "", new RegExp(`^${name} was removed: `));
      assert.equal(await shop.add(), 201);
      renameSync(join(dataDir, "away"), join(dataDir, name));
      await until(async () => (await shop.fault("folder_files")) === 0);
    }
    await shop.stop();
  });

  test("the file of standard output removed: 200 with a warning, and requests go on", async (t) => {
    const dataDir = join(temporaryFolder(t), "data");
    const [port, file] = [await freePort(), join(temporaryFolder(t), "log")];
    const server = spawnServer(t, dataDir, { PORT: `${port}` }, ["sh", "-c", `exec "$@" > '${file}'`, "sh"]);
    const readyz = () => ask<{ warnings?: string[] }>(`http://127.0.0.1:${port}/readyz`, "GET");
    await until(() =>
      readyz().then(
        ({ status }) => status === 200,
        () => false,
      ),
    );
    rmSync(file);
    await until(async () => (await readyz()).body.warnings?.[0] === "log lines are lost: the file of standard output was removed");
    assert.equal((await readyz()).status, 200);
    server.kill("SIGTERM");
    assert.equal(await server.ended, 0);
  });

  test("petstore.lock removed or replaced beside PostgreSQL: writes get 503, reads go on, and a second start is refused", async (t) => {
    const { url, drop } = await newDatabase(undefined, { migrated: true });
    t.after(drop);
    const env = { DATABASE_URL: url, SECRETS_KEY: secretsKey };
    const dataDir = join(temporaryFolder(t), "data");
    const key = await createAccount(dataDir, env);
    for (const isReplaced of [false, true]) {
      const shop = await openFaultyShop(t, dataDir, { key, env });
      assert.equal(await shop.add(isReplaced ? "Replaced" : "Removed"), 201);
      rmSync(join(dataDir, "petstore.lock"));
      if (isReplaced) writeFileSync(join(dataDir, "petstore.lock"), "");
      await until(async () => (await shop.fault("folder_lock")) === 1);
      const { status, body } = await shop.ready();
      assert.deepEqual([status, body.faults], [503, ["folder_lock"]]);
      assert.match(body.reason ?? "", /^petstore\.lock was removed or replaced .*: another process may use the folder/);
      const refused = await shop.send<{ code: string }>("POST", "/categories", { name: "Late" });
      assert.deepEqual([refused.status, refused.body.code, refused.headers.get("retry-after")], [503, "unavailable", "1"]);
      assert.equal((await shop.names()).length > 0, true);
      const second = spawnServer(t, dataDir, env);
      assert.equal(await second.ended, 1);
      assert.match(second.err(), /^petstore: .* is in use by process \d+, whose petstore\.lock was removed: stop it first\n$/);
      await shop.stop();
    }
    const again = await openFaultyShop(t, dataDir, { key, env });
    assert.equal(await again.add("After"), 201);
    await again.stop();
  });

  test("a second start on a folder whose lock was removed is refused in one line, and the first goes on refusing writes", async (t) => {
    const { dataDir, shop } = await openShop(t);
    assert.equal(await shop.add(), 201);
    rmSync(join(dataDir, "petstore.lock"));
    rmSync(join(dataDir, "petstore.holder"));
    const second = spawnServer(t, dataDir);
    assert.equal(await second.ended, 1);
    assert.match(second.err(), /^petstore: .* is in use by process \d+, whose petstore\.lock was removed: stop it first\n$/);
    assert.equal(await shop.add(), 503);
    shop.server.kill("SIGTERM");
    assert.equal(await shop.server.ended, 0);
  });
});
