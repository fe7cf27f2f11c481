import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync, statSync } from "node:fs";
import { join as joinPath } from "node:path";
import { createInterface } from "node:readline";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import sql, { join, raw } from "sql-template-tag";
import type { Database } from "../src/platform/db/database.ts";
import { openPostgres } from "../src/platform/db/postgres.ts";
import { openSqlite } from "../src/platform/db/sqlite.ts";
import { decryptSecret, encryptSecret, newSecretsKey, parseSecretsKeys, type SecretsKeys } from "../src/platform/secrets.ts";
import { runCommand } from "./support/commands.ts";
import { random, runs } from "./support/fault-runs.ts";
import { temporaryFolder } from "./support/folder.ts";
import { newDatabase } from "./support/postgres.ts";
import { addressOf, inherited, spawnServer } from "./support/process.ts";
import { engine, startService } from "./support/service.ts";

/** How many names there are where a rotation is killed, in the middle of so many: each has a certificate, an order and a challenge. */
const namesOfKills = 600;
const [older, newer, other] = [newSecretsKey(), newSecretsKey(), newSecretsKey()];
const idOf = (key: string): string => parseSecretsKeys(key).current.id;

test("secrets rotate, killed at any moment and repeated, encrypts every secret with the new key; only then does the service start with that key alone", async (t) => {
  const shop = await openShop(t, older);
  const run = (key: string) => runCommand(["secrets", "rotate"], { ...shop.env, SECRETS_KEY: key });
  const refused = async (key: string, message: RegExp, exitCode = 2): Promise<void> => {
    const before = await shop.secrets();
    const { code, out, error } = await run(key);
    assert.equal(out, "");
    assert.equal(code, exitCode, error);
    assert.match(error, message);
    assert.equal(error.trim().split("\n").length, 1, error);
    assert.deepEqual(await shop.secrets(), before, "nothing changed");
  };
  await refused("c2hvcnQ=", /SECRETS_KEY="\(secret\)" is not allowed: it must be 32 bytes as base64/, 1);
  await refused(older, /holds no earlier key: make a new key with `openssl rand -base64 32`/);
  await refused(newer, new RegExp(`encrypted with key ${idOf(older)}, which SECRETS_KEY does not hold: add it`));
  await refused(`${newer},${other}`, new RegExp(`encrypted with key ${idOf(older)}, which SECRETS_KEY does not hold: add it`));
  await shop.refusesToStartWith(newer);

  for (let kill = 0; kill < runs(engine === "sqlite" ? 2 : 1, 50); kill++) {
    const keys = kill % 2 === 0 ? [newer, older] : [older, newer];
    await killAfter(random(1, 4), shop.env, keys.join());
    await shop.check(parseSecretsKeys(keys.join()));
  }
  await shop.resealSome(parseSecretsKeys(older));
  await shop.refusesToStartWith(newer);
  const copy = joinPath(shop.env["DATA_DIR"], "before-upgrade-0024-to-0026-20261122T141726Z.db");
  if (engine === "sqlite") await copyDatabase(shop.env["DATA_DIR"], copy);
  const done = await run(`${newer},${older}`);
  assert.equal(done.code, 0, done.error);
  if (engine === "sqlite") assert.match(done.out, new RegExp(`${copy} needs key ${idOf(older)}: keep it as long as that copy`));
  assert.match(
    done.out,
    new RegExp(`Encrypted \\d+ secrets again, all with key ${idOf(newer)}\\. The earlier key ${idOf(older)} can be removed`),
  );
  assert.match(done.error, /^Encrypted \d+ of \d+ secrets again\.$/m);
  const secrets = await shop.check(parseSecretsKeys(newer));
  assert.ok(secrets.every((envelope) => envelope.startsWith(`v1.${idOf(newer)}.`)));

  assert.match((await run(`${newer},${older}`)).out, /^No secret has an earlier key\. The earlier key \w+ can be removed/);
  assert.match((await run(`${newer},${older}`)).out, new RegExp(`Backups and copies .* need key ${idOf(older)}: keep it`));
  await refused(newer, /holds no earlier key/);
  const misused = await runCommand(["secrets", "rotate", "--drop-earlier"], { ...shop.env, SECRETS_KEY: `${newer},${older}` });
  assert.match(misused.error, /--drop-earlier is for secrets\.key/);
  const server = spawnServer(t, shop.env["DATA_DIR"], { ...shop.env, SECRETS_KEY: newer });
  assert.ok(await addressOf(server));
});

// The embedded database alone works without `SECRETS_KEY`, and only PostgreSQL has several nodes.
if (engine === "sqlite")
  test("secrets rotate replaces the key file while the service runs, and resumes what a kill cut short", replacesKeyFile);
else
  test("secrets rotate refuses to begin while a node lacks the new key, and to end while one encrypts with the earlier key", waitsForNodes);

async function replacesKeyFile(t: TestContext): Promise<void> {
  const shop = await openShop(t, undefined);
  const path = joinPath(shop.env["DATA_DIR"], "secrets.key");
  const inFile = (): SecretsKeys => parseSecretsKeys(readFileSync(path, "utf8").trim());
  const first = inFile().current.id;

  await killAfter(1, shop.env, undefined);
  const halfway = inFile();
  assert.deepEqual([...halfway.byId.keys()].slice(1), [first], "the file holds both keys");
  const server = spawnServer(t, shop.env["DATA_DIR"]);
  await addressOf(server);
  const rest = await runCommand(["secrets", "rotate", "--json"], shop.env);
  assert.equal(rest.code, 0, rest.error);
  assert.deepEqual((JSON.parse(rest.out) as { mayGo: string[] }).mayGo, [first]);
  assert.deepEqual([...inFile().byId.keys()], [halfway.current.id, first], "no third key; the first one stays for copies from before");
  assert.equal(statSync(path).mode & 0o777, 0o600);
  const dropped = await runCommand(["secrets", "rotate", "--drop-earlier"], shop.env);
  assert.match(dropped.out, /The earlier key \w+ is removed from secrets\.key: back the file up again\./);
  assert.deepEqual([...inFile().byId.keys()], [halfway.current.id]);

  await keepsKeyForCopies(shop.env["DATA_DIR"], inFile);
  const mismatch = await runCommand(["secrets", "rotate"], { ...shop.env, SECRETS_KEY: `${newer},${older}` });
  assert.match(mismatch.error, /The service runs with other keys than this command's SECRETS_KEY/);
  server.kill("SIGTERM");
  await server.ended;
  await shop.check(inFile());
  await addressOf(spawnServer(t, shop.env["DATA_DIR"]));
}

/** A copy from before an upgrade, and a backup without its key, can be used as long as the key file keeps the earlier key. */
async function keepsKeyForCopies(dataDir: string, inFile: () => SecretsKeys): Promise<void> {
  const env = { DATA_DIR: dataDir };
  const copy = joinPath(dataDir, "before-upgrade-0024-to-0026-20261122T141726Z.db");
  await copyDatabase(dataDir, copy);
  const bare = joinPath(dataDir, "..", `bare-${process.pid}`);
  assert.equal((await runCommand(["backup", bare, "--without-secrets"], env)).code, 0);
  const before = inFile().current.id;

  const again = await runCommand(["secrets", "rotate"], env);
  assert.equal(again.code, 0, again.error);
  assert.match(again.out, new RegExp(`secrets\\.key keeps the earlier key ${before}.*--drop-earlier`));
  assert.match(again.out, new RegExp(`${copy} needs key ${before}: keep it as long as that copy`));
  assert.match(again.out, new RegExp(`Backups and copies .* need key ${before}`));
  const kept = readFileSync(joinPath(dataDir, "secrets.key"), "utf8").trim();
  const refusal = await runCommand(["secrets", "rotate", "--drop-earlier"], env);
  assert.deepEqual([refusal.code, refusal.out], [2, ""]);
  assert.match(refusal.error, new RegExp(`${copy} needs key ${before}: nothing was changed\\. Delete that copy first`));
  assert.equal(readFileSync(joinPath(dataDir, "secrets.key"), "utf8").trim(), kept);
  const elsewhere = joinPath(dataDir, "..", `restored-${process.pid}`);
  const restored = await runCommand(["restore", bare, "--with-faults"], { DATA_DIR: elsewhere, SECRETS_KEY: kept });
  assert.equal(restored.code, 0, restored.error);
  rmSync(elsewhere, { recursive: true });

  rmSync(copy);
  rmSync(bare);
  assert.equal((await runCommand(["secrets", "rotate", "--drop-earlier"], env)).code, 0);
  assert.deepEqual([...inFile().byId.keys()].length, 1);
}

async function copyDatabase(dataDir: string, copy: string): Promise<void> {
  const { DatabaseSync } = await import("node:sqlite");
  const db = new DatabaseSync(joinPath(dataDir, "petstore.db"), { readOnly: true });
  db.prepare("VACUUM INTO ?").run(copy);
  db.close();
}

async function waitsForNodes(t: TestContext): Promise<void> {
  const shop = await openShop(t, older, 10);
  const run = () => runCommand(["secrets", "rotate"], { ...shop.env, SECRETS_KEY: `${newer},${older}` });
  const node = async (key: string): Promise<() => Promise<void>> => {
    const service = await startService({ dataDir: temporaryFolder(t), env: { DATABASE_URL: shop.env["DATABASE_URL"]!, SECRETS_KEY: key } });
    return () => service.close();
  };
  const stopFirst = await node(older);
  const before = await shop.secrets();
  const early = await run();
  assert.notEqual(early.code, 0);
  assert.match(early.error, /1 of 1 nodes could not decrypt what key \w+ encrypts: start every node with SECRETS_KEY=OLD,NEW first/);
  assert.deepEqual(await shop.secrets(), before);
  await stopFirst();

  const stopSecond = await node(`${older},${newer}`);
  const behind = await run();
  assert.equal(behind.code, 1);
  assert.match(behind.out, /Keep the earlier key: 1 node still encrypts with it\. Restart with the new key first/);
  await stopSecond();
  const stopThird = await node(`${newer},${older}`);
  assert.match((await run()).out, /can be removed/);
  await stopThird();
}

/** Runs the command as a process, and kills it when it has written `lines` lines of progress. */
async function killAfter(lines: number, env: Record<string, string>, key: string | undefined): Promise<void> {
  const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));
  const child = spawn(process.execPath, [main, "secrets", "rotate"], {
    env: { ...inherited(), ...env, ...(key !== undefined && { SECRETS_KEY: key }) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let seen = 0;
  for await (const line of createInterface({ input: child.stderr })) {
    assert.match(line, /^Encrypted \d+ of \d+ secrets again\.$/);
    if (++seen === lines) child.kill("SIGKILL");
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, "close");
}

/** A data folder from a first start, whose database also holds certificates, orders and challenges. */
async function openShop(t: TestContext, key: string | undefined, names = namesOfKills) {
  const dataDir = temporaryFolder(t);
  const database = engine === "postgres" ? await newDatabase(dataDir, { migrated: true }) : undefined;
  if (database) t.after(() => database.drop());
  const env = { DATA_DIR: dataDir, ...(database && { DATABASE_URL: database.url }) };
  const first = await startService({ dataDir, ...(key !== undefined && { env: { SECRETS_KEY: key } }) });
  await first.close();
  const keys = parseSecretsKeys(key ?? readFileSync(joinPath(dataDir, "secrets.key"), "utf8").trim());
  const withDb = async <R>(work: (db: Database) => Promise<R>): Promise<R> => {
    const db = database ? openPostgres(database.url, { onError: () => undefined }) : openSqlite(joinPath(dataDir, "petstore.db"));
    try {
      return await work(db);
    } finally {
      await db.close();
    }
  };
  await withDb((db) => fill(db, keys, names));
  const secrets = () => withDb(envelopesIn);
  return {
    env,
    secrets,
    /** Checks that these keys decrypt every secret, and returns them all. */
    check: async (held: SecretsKeys): Promise<string[]> => {
      const rows = await withDb(ownedSecrets);
      assert.ok(rows.length > 2 * names);
      for (const { owner, envelope } of rows) assert.match(decryptSecret(held, envelope, owner), /./);
      assert.deepEqual(rows.map(({ envelope }) => envelope).toSorted(), await secrets(), "no other column holds a secret");
      return rows.map(({ envelope }) => envelope);
    },
    /** Encrypts the keys of all certificates again with these keys. */
    resealSome: (held: SecretsKeys) =>
      withDb((db) =>
        db.write(async (tx) => {
          for (let n = 0; n < names; n++)
            await tx.query(sql`UPDATE certificates SET key = ${encryptSecret(held, "pem", nameOf(n))} WHERE hostname = ${nameOf(n)}`);
        }),
      ),
    refusesToStartWith: async (only: string): Promise<void> => {
      const { code, error } = await runCommand(["serve"], { ...env, SECRETS_KEY: only, PORT: "0" });
      assert.equal(code, 1);
      const lines = error.trim().split("\n");
      assert.equal(lines.length, 1, error);
      assert.match(lines[0]!, /secrets are encrypted with key \w{8}, which SECRETS_KEY does not hold: .*`petstore secrets rotate`/);
    },
  };
}

const nameOf = (n: number): string => `www.shop${n}.test`;

async function fill(db: Database, keys: SecretsKeys, names: number): Promise<void> {
  await db.write(async (tx) => {
    const [account] = await tx.query<{ id: number }>(sql`SELECT id FROM accounts`);
    const id = account!.id;
    await tx.query(sql`INSERT INTO projects (account_id, id, name, slug, version, created_at) VALUES (${id}, 1, 'Shop', 'shop', 1, 1)`);
    for (let n = 0; n < names; n++) {
      const name = nameOf(n);
      const seal = () => encryptSecret(keys, "pem", name);
      await tx.query(sql`
        INSERT INTO domains (account_id, id, project_id, hostname, registrable_domain, kind, status, is_primary, problems, caa, proof_needed,
          certificate_status, version, created_at)
        VALUES (${id}, ${n + 1}, 1, ${name}, ${`shop${n}.test`}, 'subdomain', 'failing', false, '[]', 'unknown', false, 'none', 1, 1)`);
      await tx.query(sql`
        INSERT INTO certificates (account_id, id, hostname, chain, key, not_before, not_after, renew_at)
        VALUES (${id}, ${n + 1}, ${name}, '', ${seal()}, 1, 2, 2)`);
      await tx.query(sql`
        INSERT INTO certificate_orders (account_id, hostname, directory_url, url, key, failures)
        VALUES (${id}, ${name}, 'https://ca.test', NULL, ${n % 7 === 0 ? null : seal()}, 0)`);
      await tx.query(sql`
        INSERT INTO challenges (account_id, hostname, type, token, key_authorization, certificate, certificate_key, expires_at)
        VALUES (${id}, ${name}, 'tls-alpn-01', 't', 'a', 'c', ${seal()}, ${Number.MAX_SAFE_INTEGER})`);
    }
    await tx.query(sql`
      INSERT INTO acme_accounts (directory_url, key) VALUES ('https://ca.test', ${encryptSecret(keys, "pem", "https://ca.test")})`);
  });
}

async function ownedSecrets(db: Database): Promise<{ owner: string; envelope: string }[]> {
  return db.query(sql`
    SELECT name AS owner, envelope FROM secrets UNION ALL SELECT directory_url, key FROM acme_accounts
    UNION ALL SELECT hostname, key FROM certificates UNION ALL SELECT hostname, key FROM certificate_orders WHERE key IS NOT NULL
    UNION ALL SELECT hostname, certificate_key FROM challenges WHERE certificate_key IS NOT NULL`);
}

/** The most parts of one statement, in SQLite. */
const selectsMax = 100;

/** Every text in the database that looks like an encrypted secret, in any column. */
async function envelopesIn(db: Database): Promise<string[]> {
  const columns = await db.query<{ table: string; column: string }>(
    db.engine === "sqlite"
      ? sql`SELECT m.name AS "table", c.name AS "column" FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type = 'table'`
      : sql`SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns WHERE table_schema = 'public'`,
  );
  const selects = columns.map(({ table, column }) => {
    const text = sql`CAST(${raw(`"${column}"`)} AS TEXT)`;
    return sql`SELECT ${text} AS text FROM ${raw(`"${table}"`)} WHERE ${text} LIKE 'v1.________.%'`;
  });
  const found: string[] = [];
  for (let at = 0; at < selects.length; at += selectsMax) {
    const rows = await db.query<{ text: string }>(join(selects.slice(at, at + selectsMax), " UNION ALL "));
    found.push(...rows.map(({ text }) => text));
  }
  return found.toSorted();
}
