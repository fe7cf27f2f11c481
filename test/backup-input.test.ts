import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import sql from "sql-template-tag";
import { checkArchive } from "../src/backup/archive-check.ts";
import { archiveOf, textEntry, type Entry } from "../src/backup/archive.ts";
import { ArchiveError, headerName, manifestName, type Manifest } from "../src/backup/manifest.ts";
import { openSqlite } from "../src/platform/db/sqlite.ts";
import { encryptCheaply } from "./support/age.ts";
import { contentsOf, done, refused } from "./support/backups.ts";
import { runCommand } from "./support/commands.ts";
import { random, runs } from "./support/fault-runs.ts";
import { temporaryFolder } from "./support/folder.ts";
import { createAccount, inherited, spawnServer, addressOf } from "./support/process.ts";
import { mountSmallDisk } from "./support/small-disk.ts";

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));
const passphrase = "correct horse";
let folder: string;
let dataDir: string;
let file: string;
let encrypted: string;
before(async (t) => {
  folder = temporaryFolder(t as TestContext);
  dataDir = join(folder, "data");
  file = join(folder, "backup");
  await createAccount(dataDir);
  writeFileSync(join(folder, "passphrase"), `${passphrase}\n`);
  await done({ DATA_DIR: dataDir }, "backup", file);
  encrypted = await encryptCheaply(file, passphrase);
});

async function* chunks(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

const isArchiveError = (error: unknown): boolean => error instanceof ArchiveError;

test("an archive with any byte flipped, cut off or added is refused", async () => {
  const whole = readFileSync(file);
  await checkArchive(chunks(whole), undefined);
  const every = runs(41, 1);
  for (let at = random(0, every); at < whole.length; at += every) {
    for (const bits of [0xff, 0x01, 0x80]) {
      const changed = Buffer.from(whole);
      changed[at]! ^= bits;
      await assert.rejects(checkArchive(chunks(changed), undefined), isArchiveError, `byte ${at} ^ ${bits}`);
    }
    await assert.rejects(checkArchive(chunks(whole.subarray(0, at)), undefined), isArchiveError, `the first ${at} bytes`);
  }
  for (const more of [Buffer.from([0]), whole, Buffer.alloc(92)])
    await assert.rejects(checkArchive(chunks(Buffer.concat([whole, more])), undefined), isArchiveError, "more bytes");
});

test("an encrypted archive with any byte flipped, cut off or added is refused", async () => {
  const whole = readFileSync(encrypted);
  await checkArchive(chunks(whole), passphrase);
  for (let tries = runs(12, 240); tries > 0; tries--) {
    const at = random(0, whole.length);
    const changed = Buffer.from(whole);
    changed[at]! ^= 1 << random(0, 8);
    await assert.rejects(checkArchive(chunks(changed), passphrase), isArchiveError, `byte ${at}`);
    await assert.rejects(checkArchive(chunks(whole.subarray(0, at)), passphrase), isArchiveError, `the first ${at} bytes`);
  }
  await assert.rejects(checkArchive(chunks(Buffer.concat([whole, Buffer.from([0])])), passphrase), isArchiveError);
});

/** Writes an archive of these entries, with a valid seal. */
async function crafted(name: string, entries: Entry[]): Promise<string> {
  async function* each(): AsyncGenerator<Entry> {
    yield* entries;
  }
  const path = join(folder, name);
  writeFileSync(path, Buffer.concat(await Array.fromAsync(archiveOf(each(), 0, undefined))));
  return path;
}

const manifestOf = (path: string): Manifest =>
  JSON.parse(execFileSync("tar", ["xzOf", path, manifestName], { encoding: "utf8" })) as Manifest;

test("a file that is no backup, is newer or is incomplete is refused in one line, and changes nothing", async (t) => {
  const place = join(temporaryFolder(t), "data");
  const env = { DATA_DIR: place };
  const made = (name: string, content: string | Uint8Array): string => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const header = textEntry(headerName, JSON.stringify({ format: 1, program: "1.2.0" }));
  const manifest = manifestOf(file);
  const later = { ...manifest, program: "9.0.0", migrations: [...manifest.migrations, { number: 9_999, name: "flying_pets" }] };
  execFileSync("tar", ["czf", join(folder, "foreign.tar.gz"), "-C", folder, "passphrase"]);
  copyFileSync(join(dataDir, "petstore.db"), join(folder, "database"));
  const cases: [string, RegExp][] = [
    [join(folder, "none"), /there is no file/],
    [folder, /is not a file/],
    [made("empty", ""), /is not a backup of this program/],
    [made("text", "hello"), /is not a backup of this program/],
    [join(folder, "database"), /is not a backup of this program/],
    [join(folder, "foreign.tar.gz"), /is not a complete backup of this program/],
    [made("half", readFileSync(file).subarray(0, 1_000)), /is not a complete backup of this program/],
    [
      await crafted("format", [textEntry(headerName, JSON.stringify({ format: 2, program: "9.0.0" }))]),
      /was made by version 9\.0\.0 in format 2/,
    ],
    [
      await crafted("later", [header, textEntry(manifestName, JSON.stringify({ ...later, parts: [] }))]),
      /version 9\.0\.0: .*9999 flying_pets is unknown/,
    ],
    [await crafted("headless", [textEntry(manifestName, JSON.stringify(manifest))]), /is not a backup of this program/],
    [await crafted("endless", [header]), /has no manifest/],
    [await crafted("path", [header, textEntry("content/../../evil", "x")]), /is not a backup of this program/],
    [await crafted("parts", [header, textEntry(manifestName, JSON.stringify(manifest))]), /differs from its checksum/],
    [await crafted("manifest", [header, textEntry(manifestName, "{}")]), /manifest is not complete/],
  ];
  for (const [path, reason] of cases) {
    await refused(env, reason, "restore", path);
    await refused({}, reason, "verify", path);
  }
  assert.deepEqual(contentsOf(place), {});
});

test("a backup of an earlier version is restored, and migrated by the next start", async (t) => {
  const { migrate, migrationsFor } = await import("../src/platform/db/migrate.ts");
  const old = join(temporaryFolder(t), "old");
  mkdirSync(old, { mode: 0o700 });
  const db = openSqlite(join(old, "petstore.db"));
  await migrate(
    db,
    1,
    migrationsFor("sqlite").filter(({ number }) => number <= 15),
  );
  await db.write((tx) => tx.query(sql`INSERT INTO accounts (id, name, plan, created_at) VALUES (${7}, ${"Old"}, ${"pro"}, ${1})`));
  await db.write((tx) => tx.query(sql`INSERT INTO sequences (name, value) VALUES ('account_ids', 7)`));
  await db.close();
  const backup = join(folder, "old-backup");
  await done({ DATA_DIR: old }, "backup", backup);
  const env = { DATA_DIR: join(temporaryFolder(t), "data") };
  await done(env, "restore", backup);
  const server = spawnServer(t, env.DATA_DIR);
  await addressOf(server);
  const { accounts } = await done<{ accounts: { id: number; name: string }[] }>(env, "accounts", "list");
  assert.deepEqual(
    accounts.map(({ id, name }) => [id, name]),
    [[7, "Old"]],
  );
});

test("a target that is not empty, or that a server uses, is refused, and stays as it was", async (t) => {
  const server = spawnServer(t, dataDir);
  await addressOf(server);
  for (const words of [[], ["--replace"]])
    await refused({ DATA_DIR: dataDir }, /is in use by petstore serve \(process \d+\): stop it first/, "restore", file, ...words);
  server.kill("SIGTERM");
  await server.ended;
  await refused({ DATA_DIR: dataDir }, /is not empty/, "restore", file);
  const other = join(temporaryFolder(t), "other");
  mkdirSync(other);
  writeFileSync(join(other, "notes"), "mine");
  await refused({ DATA_DIR: other }, /is not empty \(it has notes\)/, "restore", file);
  assert.deepEqual(readdirSync(other), ["notes"]);
  await refused({ DATA_DIR: join(other, "notes") }, /is not a folder/, "restore", file);
  await refused({ DATA_DIR: join(other, "notes", "deeper") }, /is not a folder|cannot be made|ENOTDIR/, "restore", file);
});

/** Runs the command in a process whose files may have at most this many blocks of 512 bytes. */
function withFileLimit(blocks: number, env: Record<string, string>, ...words: string[]) {
  return spawnSync("sh", ["-c", `ulimit -f ${blocks}; exec "$@"`, "sh", process.execPath, main, ...words], {
    env: { ...inherited(), ...env, NODE_COMPILE_CACHE: "" },
    encoding: "utf8",
  });
}

test("where files may not grow, backup and restore end with one line and leave nothing", (t) => {
  const path = join(temporaryFolder(t), "backup");
  writeFileSync(join(dataDir, "limits.state"), randomBytes(100_000)); // what does not compress makes a large backup
  const made = withFileLimit(150, { DATA_DIR: dataDir }, "backup", path);
  rmSync(join(dataDir, "limits.state"));
  assert.equal(made.status, 1, made.stdout);
  assert.match(made.stderr, /^petstore: the disk has no room for more \(EFBIG\): no backup was made\n$/);
  assert.deepEqual(contentsOf(join(path, "..")), {});
  const place = join(temporaryFolder(t), "data");
  const restored = withFileLimit(200, { DATA_DIR: place }, "restore", file);
  assert.equal(restored.status, 1, restored.stdout);
  assert.match(restored.stderr, /^petstore: the disk has no room for more \([^\n]+\): nothing was changed\n$/);
  assert.deepEqual(contentsOf(place), {});
});

test("on a full disk, backup and restore end with one line; with room both succeed, also if the folder is a mount point", async (t) => {
  const disk = mountSmallDisk(t, 8 << 20);
  disk.fill();
  await refused({ DATA_DIR: dataDir }, /the disk has no room for more \(ENOSPC\): no backup was made/, "backup", join(disk.path, "backup"));
  assert.deepEqual(readdirSync(disk.path), ["filler"]);
  disk.empty();
  writeFileSync(join(disk.path, "filler"), Buffer.alloc((8 << 20) - (300 << 10)));
  const place = { DATA_DIR: join(disk.path, "data") };
  await refused(place, /the disk has no room for more/, "restore", file);
  assert.deepEqual(readdirSync(disk.path), ["filler"]);
  disk.empty();
  const mounted = { DATA_DIR: disk.path };
  await done(mounted, "restore", file);
  const { aside } = await done<{ aside: string }>(mounted, "restore", file, "--replace");
  assert.ok(aside.startsWith(join(disk.path, "petstore.replaced-")), aside);
  assert.equal((await done<{ whole: boolean }>(mounted, "verify")).whole, true);
});

test("verify names each row that breaks a rule, and exits with code 1", async (t) => {
  const place = join(temporaryFolder(t), "data");
  mkdirSync(place, { mode: 0o700 });
  const key = await createAccount(place);
  assert.ok(key);
  const breaks: [string, RegExp][] = [
    [
      "INSERT INTO categories (account_id, id, name, name_key, version) VALUES (1, 1, 'Dogs', 'dogs', 1)",
      /account 1 has 1 records, and its storage counts 0/,
    ],
    [
      "INSERT INTO sequences (name, value) VALUES ('category_ids', 0)",
      /category_ids is at 0, and categories has 1: an identifier would be given twice/,
    ],
    [
      "INSERT INTO pets (account_id, id, name, name_key, category_id, status, version) VALUES (1, 1, 'Rex', 'rex', 1, 'sold', 1)",
      /pet_ids is at 0, and pets has 1/,
    ],
    [
      "INSERT INTO inventory (account_id, pet_id, quantity, held, status, version) VALUES (1, 1, 5, 2, 'sold', 1)",
      /the stock entry of pet 1 of account 1 is sold with 5 free and 2 held units/,
    ],
    ["SELECT 1", /pet 1 of account 1 has 2 held units, and its open orders hold 0/],
    ["UPDATE inventory SET status = 'available'", /pet 1 of account 1 is sold, and its stock is available/],
    [
      "INSERT INTO orders (account_id, id, pet_id, quantity, held, complete, version) VALUES (1, 1, 9, 3, 3, FALSE, 1)",
      /order 1 of account 1 must not hold 3 units/,
    ],
    ["UPDATE orders SET price_amount = 4900", /order 1 of account 1 has a price that is not whole/],
    ["PRAGMA ignore_check_constraints = on; UPDATE inventory SET quantity = -1", /pet 1 of account 1 has -1 free and 2 held units/],
    [
      "PRAGMA foreign_keys = off; UPDATE pets SET category_id = 77",
      /the row of pets with account_id 1, id 1 refers to a row of categories that is not there/,
    ],
    [
      "INSERT INTO idempotency (account_id, target, key, body_hash, status, headers, created_at) VALUES (1, 'x', 'k', 'h', 201, 'not json', 1)",
      /the answer to the Idempotency-Key of a request of account 1 cannot be read/,
    ],
    [
      "INSERT INTO projects (account_id, id, name, slug, deployment_id, version, created_at) VALUES (1, 1, 'p', 'p', 5, 1, 1)",
      /project 1 of account 1 serves deployment 5, which is not there/,
    ],
    [
      `INSERT INTO deployments (account_id, id, project_id, status, files, bytes, manifest, version, created_at) VALUES (1, 5, 1, 'ready', 1, 1, '[["i",{"hash":"${"ab".repeat(32)}","size":3,"type":"text/html","encodings":{}}]]', 1, 1)`,
      /published file (ab){32} is missing/,
    ],
    [
      "INSERT INTO secrets (name, envelope) VALUES ('x', 'v1.0badc0de.x.x')",
      /key 0badc0de is missing, which opens secrets in secrets \(rows: 1\)/,
    ],
  ];
  for (const [script, fault] of breaks) {
    const { DatabaseSync } = await import("node:sqlite");
    const db = new DatabaseSync(join(place, "petstore.db"), { enableForeignKeyConstraints: true });
    db.exec(script);
    db.close();
    const { code, out, error } = await runCommand(["verify"], { DATA_DIR: place });
    assert.deepEqual([code, error], [1, ""], script);
    assert.match(out, fault);
    const { faults, whole } = JSON.parse((await runCommand(["verify", "--json"], { DATA_DIR: place })).out) as {
      faults: string[];
      whole: boolean;
    };
    assert.equal(whole, false);
    assert.deepEqual(out.trimEnd().split("\n"), faults, "one line for each fault");
  }
  const unopened = join(temporaryFolder(t), "backup");
  await refused({ DATA_DIR: place }, /encrypted with key 0badc0de, which is not known here: set SECRETS_KEY/, "backup", unopened);
  mkdirSync(join(place, "content", "ab"), { recursive: true });
  writeFileSync(join(place, "content", "ab", "ab".repeat(32)), "xyz");
  assert.match((await runCommand(["verify"], { DATA_DIR: place })).out, /published file (ab){32} does not have the bytes of its hash/);
  writeFileSync(join(place, "limits.state"), "rubbish\n");
  assert.match((await runCommand(["verify"], { DATA_DIR: place })).out, /limits\.state has 1 lines that cannot be read/);

  const damaged = join(temporaryFolder(t), "damaged");
  mkdirSync(damaged, { mode: 0o700 });
  const bytes = readFileSync(join(dataDir, "petstore.db"));
  bytes.fill(0x55, 8_192, 60_000);
  writeFileSync(join(damaged, "petstore.db"), bytes);
  const { code, out, error } = await runCommand(["verify"], { DATA_DIR: damaged });
  assert.equal(code, 1);
  assert.match(out + error, /damaged|malformed/);
});
