import assert from "node:assert/strict";
import { readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { suite, test, type TestContext } from "node:test";
import { type FaultKind, faultTable } from "../src/platform/faults.ts";
import { runCommand } from "./support/commands.ts";
import { type Faulty, openFaultyShop } from "./support/faulty-shop.ts";
import { temporaryFolder } from "./support/folder.ts";
import { jumpingClock } from "./support/jumping-clock.ts";
import { freePort } from "./support/ports.ts";
import { createAccount } from "./support/process.ts";
import { mountSmallDisk } from "./support/small-disk.ts";
import { until } from "./support/until.ts";

/** How a fault is made and ended. Without `end` it lasts until the process ends. */
type Made = { dataDir: string; env?: Record<string, string>; begin: () => void; end?: () => void };
/** The status of a write meanwhile; undefined where that depends on how much room is left, which `test/faults.test.ts` tries. */
type Making = { make: (t: TestContext) => Made; readyz: 200 | 503; write: 201 | 503 | undefined };
/** The test that makes a fault that takes long to make, or that each engine has in its own way. */
type Reference = { file: string; test: string };

const folderOf = (t: TestContext): string => join(temporaryFolder(t), "data");

const faults: Record<FaultKind, Making | Reference[]> = {
  data_disk: {
    make(t) {
      const disk = mountSmallDisk(t, 24 << 20);
      return { dataDir: disk.path, begin: () => disk.fill(), end: () => disk.empty() };
    },
    readyz: 503,
    write: undefined,
  },
  database_writes: [
    { file: "test/faults.test.ts", test: "a database that may not grow: writes get 503, and /readyz and a metric say why" },
    {
      file: "test/postgres-disk.test.ts",
      test: "a full disk of PostgreSQL: the first write that it refuses makes /readyz 503 with the reason",
    },
    { file: "test/postgres-disk.test.ts", test: "the disk of PostgreSQL's data, then that of its log, full under orders on three nodes" },
  ],
  database_damage: {
    make(t) {
      const dataDir = folderOf(t);
      return { dataDir, begin: () => rmSync(join(dataDir, "petstore.db")) };
    },
    readyz: 503,
    write: 503,
  },
  database_rewound: [
    { file: "test/postgres-rewind.test.ts", test: "an older copy at the same address is noticed at the next start" },
    { file: "test/postgres-rewind.test.ts", test: "after each failover to a standby that lacks writes, no node writes" },
    { file: "test/postgres-losses.test.ts", test: "after a failover that lost writes `petstore verify` names ids" },
  ],
  folder_lock: {
    make(t) {
      const dataDir = folderOf(t);
      return { dataDir, begin: () => rmSync(join(dataDir, "petstore.lock")) };
    },
    readyz: 503,
    write: 503,
  },
  published_files: [
    {
      file: "test/faults.test.ts",
      test: "a missing or shortened published file: its visitors get 500, /readyz stays 200 with a warning, until the file is back",
    },
  ],
  folder_files: {
    make(t) {
      const dataDir = folderOf(t);
      const [key, away] = [join(dataDir, "secrets.key"), join(dataDir, "away")];
      return { dataDir, begin: () => renameSync(key, away), end: () => renameSync(away, key) };
    },
    readyz: 200,
    write: 201,
  },
  log: [{ file: "test/lost-files.test.ts", test: "the file of standard output removed: 200 with a warning, and requests go on" }],
  clock: {
    make(t) {
      const clock = jumpingClock(t);
      return { dataDir: folderOf(t), env: clock.env, begin: () => clock.jump("+40d"), end: () => clock.jump("+0") };
    },
    readyz: 200,
    write: 201,
  },
};

/** The rows of the guide that are no kind of fault of the node itself. */
const otherRows: Record<string, Reference[]> = {
  "the database does not answer": [
    { file: "test/postgres.test.ts", test: "while the database is away requests get unavailable, and it is used again when it is back" },
    { file: "test/postgres.test.ts", test: "while the database server does not answer requests get unavailable" },
  ],
  "Redis does not answer": [
    { file: "test/limits-shared.test.ts", test: "while Redis is unreachable each node decides alone, and /metrics says so" },
  ],
  "the disk fails to flush the log": [{ file: "test/failed-flush.test.ts", test: "the process ends with one line and exit code 74" }],
};

/** Fails unless the file declares the test. */
function requireTest({ file, test: name }: Reference): void {
  const text = readFileSync(file, "utf8");
  const isThere = ['test("', "test(`", 'testOnce("'].some((beginning) => text.includes(`${beginning}${name}`));
  assert.ok(isThere, `${file} has no test “${name}”`);
}

/** The line of the fault in what `petstore doctor` says. */
async function doctorSays({ address, key }: Faulty, dataDir: string): Promise<string> {
  const { port } = new URL(address);
  const { out } = await runCommand(["doctor"], { DATA_DIR: dataDir, PORT: port, PETSTORE_KEY: key });
  return out.split("\n").find((line) => /^(?:FAULT|WARNING|warning) +service:/i.test(line)) ?? out;
}

test("the guide for operators has the table of faults", () => {
  const guide = readFileSync("docs/operating.md", "utf8");
  for (const [kind, { sign, readyz, effect, remedy }] of Object.entries(faultTable))
    assert.ok(guide.includes(`\n| \`${kind}\`: ${sign} | ${readyz} | ${effect} | ${remedy} |\n`), kind);
  const section = /^## When a part fails$(.*?)^## /ms.exec(guide)![1]!;
  const signs = [...section.matchAll(/^\| (?!fault \|)([^|]+?) \|/gm)].map(([, sign]) => sign!);
  const named = signs.map((sign) => /^`(\w+)`: /.exec(sign)?.[1] ?? sign);
  assert.deepEqual(named.toSorted(), [...Object.keys(faultTable), ...Object.keys(otherRows)].toSorted());
});

suite("a fault of the table", { concurrency: 2 }, () => {
  for (const [sign, references] of Object.entries(otherRows)) test(`${sign}: made by a test`, () => references.forEach(requireTest));
  for (const [name, fault] of Object.entries(faults)) {
    const kind = name as FaultKind;
    if (Array.isArray(fault)) {
      test(`${kind} is made by a test`, () => fault.forEach(requireTest));
      continue;
    }
    test(`${kind}: /readyz, the log, the metric, doctor and clients see it, and it ends`, async (t) => {
      const { dataDir, env, begin, end } = fault.make(t);
      const key = await createAccount(dataDir);
      const shop = await openFaultyShop(t, dataDir, { key, env: { PORT: `${await freePort()}`, ...env } });
      assert.equal(await shop.add(), 201);
      await until(async () => (await shop.ready()).body.faults === undefined);
      begin();
      await until(async () => (await shop.ready()).body.faults?.includes(kind) === true);
      const { status, body } = await shop.ready();
      assert.equal(status, fault.readyz);
      const reason = body.reason ?? body.warnings?.[0] ?? "";
      assert.notEqual(reason, "");
      assert.match(faultTable[kind].readyz, new RegExp(`^${status}`));
      assert.equal(await shop.fault(kind), 1);
      await shop.server.logged((line) => line.msg === "a fault began" && line.fault === kind && line.level === 50);
      const said = await doctorSays(shop, dataDir);
      assert.ok(said.includes(reason.split(":")[0]!) && said.includes(faultTable[kind].remedy), said);
      if (fault.write !== undefined) assert.equal(await shop.add(), fault.write);
      assert.equal((await shop.send("GET", "/categories")).status, 200);
      if (end) {
        end();
        await until(async () => (await shop.ready()).body.faults === undefined);
        await shop.server.logged((line) => line.msg === "a fault ended" && line.fault === kind);
        assert.equal(await shop.add(), 201);
      }
      shop.server.kill("SIGTERM");
      assert.equal(await shop.server.ended, 0);
    });
  }
});
