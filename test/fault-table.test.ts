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
/** The test that makes a fault that takes long to make, or that each engine has in its own way. */
type Reference = { file: string; test: string };
/**
 * `write`: the status of a write meanwhile; undefined where that depends on how much room is left, which `test/faults.test.ts` tries. `others`: tests
 * that make the fault in other ways.
 */
type Making = { make: (t: TestContext) => Made; readyz: 200 | 503; write: 201 | 503 | undefined; others: Reference[] };

const folderOf = (t: TestContext): string => join(temporaryFolder(t), "data");

const faults: Record<FaultKind, Making | Reference[]> = {
  data_disk: {
    make(t) {
      const disk = mountSmallDisk(t, 24 << 20);
      return { dataDir: disk.path, begin: () => disk.fill(), end: () => disk.empty() };
    },
    readyz: 503,
    write: undefined,
    others: [
      {
        file: "test/faults.test.ts",
        test: "a full data disk: writes get 503 and /readyz says why; reads go on; with room again writes succeed",
      },
    ],
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
    others: [
      { file: "test/lost-files.test.ts", test: "${name} under load: writes get 503, nothing acknowledged is lost, reads go on" },
      { file: "test/faults.test.ts", test: "a damaged page, found by a read or by a write: writes get 503" },
      { file: "test/faults.test.ts", test: "a database that is overwritten, cut short or replaced under a running service" },
      {
        file: "test/flipped-bits.test.ts",
        test: "a flipped bit in the text of an animal, of an event and of a kept answer: 503, and the fault is reported",
      },
    ],
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
    others: [
      { file: "test/lost-files.test.ts", test: "a second start on a folder whose lock was removed is refused in one line" },
      { file: "test/lost-files.test.ts", test: "petstore.lock removed or replaced beside PostgreSQL: writes get 503" },
    ],
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
    others: [
      { file: "test/lost-files.test.ts", test: "the key of the secrets, the socket or the published files removed: 200 with a warning" },
    ],
  },
  log: [{ file: "test/lost-files.test.ts", test: "the file of standard output removed: 200 with a warning, and requests go on" }],
  clock: {
    make(t) {
      const clock = jumpingClock(t);
      return { dataDir: folderOf(t), env: clock.env, begin: () => clock.jump("+40d"), end: () => clock.jump("+0") };
    },
    readyz: 200,
    write: 201,
    others: [
      { file: "test/clock-jumps.test.ts", test: "on the embedded database nothing is deleted or expires" },
      { file: "test/clock-jumps.test.ts", test: "of two nodes on PostgreSQL: neither deletes anything, the one says so" },
      { file: "test/clock-jumps.test.ts", test: "of two nodes on the machine of PostgreSQL, in containers: neither deletes anything" },
    ],
  },
};

const limits = "src/callers/limits";
/** The rows of the guide that are no kind of fault of the node itself. */
const otherRows: Record<string, Reference[]> = {
  "the database does not answer": [
    { file: "test/postgres.test.ts", test: "a service whose database is not there yet listens, says unavailable" },
    { file: "test/postgres.test.ts", test: "while the database is away requests get unavailable, and it is used again when it is back" },
    { file: "test/postgres.test.ts", test: "while the database server does not answer requests get unavailable" },
    { file: "test/doctor.test.ts", test: "a service that does not answer is a fault with exit code 6" },
  ],
  "a failover of PostgreSQL": [
    { file: "test/postgres-hosts.test.ts", test: "a primary that is cut off does not keep its sessions" },
    { file: "test/postgres-hosts.test.ts", test: "a failover to a synchronous standby under orders loses none of them" },
  ],
  "`DATABASE_URL` names only standbys or read-only servers": [
    { file: "test/postgres-hosts.test.ts", test: "if no server can be used, one line says why for each" },
    { file: "test/postgres-hosts.test.ts", test: "a node that finds only a standby answers 503 and says so" },
  ],
  "PostgreSQL refuses the credentials or the database, has no TLS, or has a certificate that is not trusted": [
    { file: "test/postgres.test.ts", test: "wrong credentials, and a database that does not exist, end the start with one line" },
    { file: "test/tls-to-stores.test.ts", test: "DATABASE_URL with sslmode=verify-full" },
    { file: "test/tls-to-stores.test.ts", test: "sslmode=verify-full ends the start with one line where the server knows no TLS" },
  ],
  "a pooler in transaction or statement mode": [
    { file: "test/poolers.test.ts", test: "${mode} mode is refused in one line that says what to do" },
    { file: "test/poolers.test.ts", test: "transaction mode is refused too if the pooler comes after the start" },
  ],
  "another transaction keeps rows or tables locked": [
    {
      file: "test/postgres.test.ts",
      test: "while every connection waits for a lock, further writes are refused, and pass when the lock is gone",
    },
    { file: "test/locked-row.test.ts", test: "a row that is locked for four seconds delays only the orders for it" },
  ],
  "a transaction is open while a migration needs its tables": [
    { file: "test/rolling.test.ts", test: "a report that holds its locks while the first new node starts fails no request" },
    { file: "test/strong-locks.test.ts", test: "a migration waits for a report that holds its tables, names it" },
    {
      file: "test/strong-locks.test.ts",
      test: "a migration that does not get its locks within its time fails with one line that names the report",
    },
    { file: "test/upgrade-check.test.ts", test: "on PostgreSQL the check names nodes, open transactions and the missing backup" },
  ],
  "a running node is too old for a new one": [
    { file: "test/rolling.test.ts", test: "nodes of release 1.0.0 that serve stop a new one, which names them, and changes nothing" },
    { file: "test/strong-locks.test.ts", test: "a node that is too old and starts while a migration waits stops it" },
  ],
  "the data is of a newer version": [
    { file: "test/upgrade.test.ts", test: "data of a newer version is refused with the way back" },
    { file: "test/workers.test.ts", test: "a schema of a newer release ends all workers in one line" },
    { file: "test/doctor.test.ts", test: "a problem of this machine is a fault with a fix, and exit code 1: setting, port, folder, data" },
  ],
  "an upgrade is killed": [{ file: "test/upgrade.test.ts", test: "an upgrade that is killed at any write loses nothing" }],
  "Redis does not answer, or its certificate is not trusted": [
    { file: "test/limits-shared.test.ts", test: "while Redis is unreachable each node decides alone, and /metrics says so" },
    {
      file: `${limits}/redis.faults.test.ts`,
      test: "three nodes that come back one after the other under constant load admit exactly the quota",
    },
    { file: "test/tls-to-stores.test.ts", test: "a rediss:// REDIS_URL" },
    { file: "src/app/doctor-redis.test.ts", test: "with a wrong certificate or port Redis cannot be reached" },
    { file: "test/doctor.test.ts", test: "a service that does not answer is a fault with exit code 6" },
  ],
  "Redis answers, but refuses to count: a permission, a password, a replica, a cluster without some slots, a wrong kind of `REDIS_URL`, no memory":
    [
      { file: "src/app/doctor-redis.test.ts", test: "${name}: the log and the doctor say what Redis answers and what to do" },
      { file: "src/app/doctor-redis.test.ts", test: "while Redis refuses to count, the service is ready and its metric says so" },
    ],
  "Redis does not let its user list counts": [
    { file: "src/app/doctor-redis.test.ts", test: "a node whose user may not list counts says so once, and counts all the same" },
  ],
  "Redis goes back in time, is emptied, or loses counts in a failover": [
    {
      file: `${limits}/redis.losses.test.ts`,
      test: '${name}: ${count === 1 ? "one node admits" : "three nodes together admit"} exactly the quota',
    },
    { file: `${limits}/redis.losses.test.ts`, test: "a process that starts when Redis ${name} decides nothing until" },
    { file: "test/limits-shared.test.ts", test: "a node that starts when Redis has just restarted empty takes requests once" },
  ],
  "Redis may evict counts": [
    {
      file: "src/app/doctor-redis.test.ts",
      test: "a policy that evicts counts is a warning of the doctor and of the log, and in a metric",
    },
    { file: `${limits}/redis.losses.test.ts`, test: "eviction of counts admits no more than the quota" },
  ],
  "over 10,000 requests wait for a slow Redis": [
    { file: `${limits}/redis.faults.test.ts`, test: "at most 10,000 requests wait for Redis, and further ones are refused as unavailable" },
  ],
  "no room for an upload on the disk or within a limit": [
    { file: "test/faults.test.ts", test: "no room for an upload, by the disk or by a limit: 503 with Retry-After, nothing stays" },
  ],
  "the disk fails to flush the log": [{ file: "test/failed-flush.test.ts", test: "the process ends with one line and exit code 74" }],
  "the database or its log is damaged or gone at a start": [
    { file: "test/start-failures.test.ts", test: "says why in one line: a database that is damaged within" },
    { file: "test/start-failures.test.ts", test: "says why in one line: a log that has lost acknowledged writes" },
    { file: "test/lost-files.test.ts", test: "an unclean stop without petstore.db-wal is reported at the next start in one line" },
  ],
  "no room for a start, or for the copy before an upgrade": [
    { file: "test/faults.test.ts", test: "a full disk, or a folder in the place of the database, refuses the start in one line" },
    { file: "test/upgrade.test.ts", test: "a disk without room for the copy refuses the start with one line and changes nothing" },
  ],
  "another process uses `DATA_DIR`": [
    { file: "test/lost-files.test.ts", test: "a second start on a folder whose lock was removed is refused in one line" },
    { file: "src/platform/lock.test.ts", test: "a locked folder is refused with a line that names the process that locked it" },
  ],
  "a key of the secrets is missing or damaged": [
    { file: "test/start-failures.test.ts", test: "says why in one line" },
    { file: "test/secrets.test.ts", test: "secrets rotate, killed at any moment and repeated" },
  ],
  "at a start the clock is over an hour off that of PostgreSQL": [
    { file: "test/clock.test.ts", test: "a node whose clock is hours off that of PostgreSQL does not start, and changes nothing" },
  ],
  "at a start the clock is over an hour behind the embedded data": [
    { file: "test/clock.test.ts", test: "a service whose clock is hours behind the data warns in one line and serves" },
  ],
  "`DATABASE_URL` names an empty database, and `DATA_DIR` has data": [
    { file: "test/move.test.ts", test: "the service does not start on an empty database beside a filled folder" },
  ],
  "a reload finds a wrong setting or certificate": [
    {
      file: "test/reloading.test.ts",
      test: "SIGHUP reloads the wildcard certificate; a broken one changes nothing and is logged in one line",
    },
  ],
  "a worker of `WORKERS` ends": [
    { file: "test/workers.test.ts", test: "share the ports, limits stay exact over them while one is killed" },
  ],
  "`PUBLIC_URL` gets no certificate": [
    { file: "test/own-certificate.test.ts", test: "one machine with one address needs no proxy" },
    {
      file: "test/own-certificate.test.ts",
      test: "the certificate of PUBLIC_URL is renewed in time; after a failure the log says what to do",
    },
  ],
  "the certificate authority is down, or DNS lets it issue nothing": [
    { file: "test/certificates.test.ts", test: "an authority that is down is shown as the problem with the time of the next try" },
    { file: "test/authority-change.test.ts", test: "that only the operator can solve say so" },
  ],
  "the collector of traces does not answer": [
    { file: "test/tracing.test.ts", test: "requests are answered as usual while the collector hangs or is unreachable" },
    { file: "test/logs.test.ts", test: "a collector of traces that does not answer is one line of the log, and requests go on" },
  ],
  "a backup fails": [
    { file: "test/backup-places.test.ts", test: "a failed backup removes no older one" },
    { file: "test/backup-places.test.ts", test: "--every makes a backup at each interval, continues after a failed one" },
  ],
  "the process that prepares photos is killed or uses too much": [
    { file: "src/publishing/photos/picture-encoding.test.ts", test: "a process that uses too much memory or time is ended" },
    { file: "src/publishing/photos/picture-encoding.test.ts", test: "a picture whose process is killed is encoded by another one, once" },
  ],
};

/** Faults that operators meet, each with the row that describes it. */
const rowsOfFaults = {
  "a report keeps its locks during an upgrade": "a transaction is open while a migration needs its tables",
  "Redis goes back in time": "Redis goes back in time, is emptied, or loses counts in a failover",
  "pgbouncer in transaction mode": "a pooler in transaction or statement mode",
  "Redis with a policy that evicts": "Redis may evict counts",
  "the database or its log is removed while it is open": "database_damage",
  "the disk of PostgreSQL is full": "database_writes",
  "a newer release beside live nodes of 1.0.0": "a running node is too old for a new one",
  "the clock of a running node jumps": "clock",
  "Redis with a user, a server or a cluster that cannot count":
    "Redis answers, but refuses to count: a permission, a password, a replica, a cluster without some slots, a wrong kind of `REDIS_URL`, no memory",
  "the lock of the folder is deleted": "folder_lock",
  "no space while an upload is received": "no room for an upload on the disk or within a limit",
  "flipped bits in the database": "database_damage",
};

/** Fails unless the file declares the test. */
function requireTest({ file, test: name }: Reference): void {
  const text = readFileSync(file, "utf8").replace(/\(\s+/g, "(");
  const declared = ["test", "testOnce"].flatMap((call) => ['"', "`", "'"].map((quote) => `${call}(${quote}${name}`));
  const isThere = declared.some((beginning) => text.includes(beginning));
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

test("each fault that operators meet has a row", () => {
  for (const [fault, row] of Object.entries(rowsOfFaults)) assert.ok(row in faults || row in otherRows, fault);
});

suite("a fault of the table", { concurrency: 2 }, () => {
  for (const [sign, references] of Object.entries(otherRows)) test(`${sign}: made by a test`, () => references.forEach(requireTest));
  for (const [name, fault] of Object.entries(faults)) {
    const kind = name as FaultKind;
    if (Array.isArray(fault)) {
      test(`${kind} is made by a test`, () => fault.forEach(requireTest));
      continue;
    }
    test(`${kind} in other ways is made by a test`, () => fault.others.forEach(requireTest));
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
