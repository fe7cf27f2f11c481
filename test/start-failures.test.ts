import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { suite, test, type TestContext } from "node:test";
import { done } from "./support/backups.ts";
import { runCommand } from "./support/commands.ts";
import { temporaryFolder } from "./support/folder.ts";
import { addressOf, createAccount, spawnServer } from "./support/process.ts";
import { refusedStarts } from "./support/refusals.ts";
import { ask } from "./support/service.ts";

type Failure = {
  name: string;
  /** Breaks something that the start needs; may return further settings. */
  breaks: (dataDir: string, t: TestContext) => Record<string, string> | Promise<Record<string, string>> | void;
  /** The one line, of which `DATA` is the folder. */
  line: RegExp;
};

async function takenPort(t: TestContext): Promise<string> {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  t.after(() => other.close());
  return String((other.address() as AddressInfo).port);
}

const failures: Failure[] = [
  {
    name: "an empty secrets.key",
    breaks: (dataDir) => writeFileSync(join(dataDir, "secrets.key"), ""),
    line: /^petstore: DATA\/secrets\.key is empty\. Restore it from a backup, or set SECRETS_KEY /,
  },
  {
    name: "a damaged secrets.key",
    breaks: (dataDir) => writeFileSync(join(dataDir, "secrets.key"), "c2hvcnQ=\n"),
    line: /^petstore: DATA\/secrets\.key is damaged: .* Restore it from a backup, or set SECRETS_KEY /,
  },
  {
    name: "a secrets.key that cannot be read",
    breaks: (dataDir) => mkdirSync(join(dataDir, "secrets.key")),
    line: /^petstore: DATA\/secrets\.key /,
  },
  {
    name: "a taken port",
    breaks: async (_dataDir, t) => ({ PORT: await takenPort(t) }),
    line: /^petstore: PORT=\d+ is taken on 127\.0\.0\.1/,
  },
  {
    name: "a damaged database",
    breaks: (dataDir) => writeFileSync(join(dataDir, "petstore.db"), "no database".repeat(1_000)),
    line: /^petstore: DATA\/petstore\.db is damaged \(.*\): restore it from a backup/,
  },
  {
    name: "a folder of published files that is a file",
    breaks: (dataDir) => writeFileSync(join(dataDir, "content"), ""),
    line: /^petstore: .*DATA\/content/,
  },
  {
    name: "a data folder that is a file",
    breaks: (dataDir) => {
      writeFileSync(join(dataDir, "file"), "");
      return { DATA_DIR: join(dataDir, "file") };
    },
    line: /^petstore: DATA_DIR=DATA\/file is not a folder/,
  },
  {
    name: "a wildcard certificate that cannot be parsed",
    breaks: (dataDir) => {
      const file = join(dataDir, "edge.pem");
      writeFileSync(file, "-----BEGIN CERTIFICATE-----\n");
      return { EDGE_CERT_FILE: file, EDGE_KEY_FILE: file };
    },
    line: /^petstore: EDGE_CERT_FILE=.*edge\.pem.* is not allowed: it must be /,
  },
  {
    name: "a REDIS_URL with a bad escape",
    breaks: () => ({ REDIS_URL: "redis://:50%off@127.0.0.1:6379" }),
    line: /^petstore: REDIS_URL="\(secret\)" is not allowed: it must be a URL in which each % begins the code of a character/,
  },
  {
    name: "a DATABASE_URL with a bad escape",
    breaks: () => ({ DATABASE_URL: "postgres://u:100%ab@127.0.0.1/x" }),
    line: /^petstore: DATABASE_URL="\(secret\)" is not allowed: it must be a URL in which each % begins the code of a character/,
  },
];

suite("a start that fails", { concurrency: 2 }, () => {
  test("says why in one line", async (t) => {
    const folders = failures.map(() => temporaryFolder(t));
    const broken = failures.map(async ({ breaks }, index) => ({ DATA_DIR: folders[index]!, ...(await breaks(folders[index]!, t)) }));
    const said = await refusedStarts(await Promise.all(broken));
    for (const [index, { name, line }] of failures.entries())
      await t.test(name, () => assert.match(said[index]!.replaceAll(folders[index]!, "DATA"), line));
  });

  test("says why in one line: a log that has lost acknowledged writes, and `petstore repair` goes on without them", async (t) => {
    const dataDir = temporaryFolder(t);
    const first = spawnServer(t, dataDir);
    await addressOf(first);
    first.kill("SIGKILL");
    await first.ended;
    const log = join(dataDir, "petstore.db-wal");
    const bytes = readFileSync(log);
    const middle = Math.floor(bytes.length / 2);
    bytes[middle] = bytes[middle]! ^ 1;
    writeFileSync(log, bytes);
    const server = spawnServer(t, dataDir);
    assert.equal(await server.ended, 1);
    assert.match(server.err(), /^petstore: [^\n]*petstore\.db-wal is damaged at byte \d+: [^\n]*`npm run petstore -- repair --yes`\n$/);
    assert.deepEqual(readFileSync(log), bytes, "nothing is changed");

    assert.match((await runCommand(["repair"], { DATA_DIR: dataDir })).error, /Add --yes to confirm/);
    const { lost, kept } = await done<{ lost: number; kept: string }>({ DATA_DIR: dataDir }, "repair", "--yes");
    assert.ok(lost > 0);
    assert.deepEqual(readFileSync(kept), bytes);
    await addressOf(spawnServer(t, dataDir));
  });

  test("says why in one line: a database that is damaged within, for the commands too", async (t) => {
    const dataDir = temporaryFolder(t);
    await createAccount(dataDir);
    const file = join(dataDir, "petstore.db");
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.fill(0xa5, 4096));
    const said = /^petstore: [^\n]*petstore\.db is damaged \([^\n]*malformed[^\n]*\): restore it from a backup\n$/;
    assert.match((await refusedStarts([{ DATA_DIR: dataDir }]))[0]!, said);
    assert.match((await runCommand(["accounts", "list"], { DATA_DIR: dataDir })).error, said);
  });
});

test("a damaged page fails the requests that need it, with a line in the log, and the service goes on", async (t) => {
  const dataDir = temporaryFolder(t);
  const key = await createAccount(dataDir);
  const file = join(dataDir, "petstore.db");
  const db = new DatabaseSync(file);
  const pages = db.prepare("SELECT rootpage FROM sqlite_schema WHERE tbl_name = 'categories'").all();
  db.close();
  const bytes = readFileSync(file);
  for (const { rootpage } of pages) bytes.fill(0xa5, (Number(rootpage) - 1) * 4096, Number(rootpage) * 4096);
  writeFileSync(file, bytes);

  const server = spawnServer(t, dataDir);
  const address = await addressOf(server);
  const { status, headers } = await ask(`${address}/v1/categories`, "GET", { key });
  assert.equal(status, 500);
  const line = await server.logged(({ level, requestId }) => level === 50 && requestId === headers.get("x-request-id"));
  assert.match(JSON.stringify(line), /malformed/);
  assert.equal((await ask(`${address}/v1/store/orders`, "GET", { key })).status, 200);
});
