import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import { join } from "node:path";
import { before, test, type TestContext } from "node:test";
import { openS3 } from "../src/backup/s3.ts";
import { parsePause, repeatBackups } from "../src/commands/backup.ts";
import { done, refused } from "./support/backups.ts";
import { runCommand } from "./support/commands.ts";
import { temporaryFolder } from "./support/folder.ts";
import { createAccount } from "./support/process.ts";
import { startS3 } from "./support/s3-process.ts";

let dataDir: string;
before(async (t) => {
  dataDir = join(temporaryFolder(t as TestContext), "data");
  await createAccount(dataDir);
});

type Report = { file: string; removed: string[] };

test("backups are stored in S3, --keep removes older ones of this command and no others, and one restores from there", async (t) => {
  const store = await startS3(t, "backups");
  const env = { DATA_DIR: dataDir, ...store.env };
  const { file } = await done<Report>(env, "backup", "--to", "s3://backups/shop");
  assert.match(file, /^s3:\/\/backups\/shop\/petstore-\d{8}T\d{6}Z\.tar\.gz$/);
  assert.deepEqual(store.objects(), [`backups/${file.slice("s3://backups/".length)}`]);
  const local = temporaryFolder(t);
  writeFileSync(join(local, "notes"), "not a backup");
  const upload = await openS3({ bucket: "backups", prefix: "shop/" }, s3SettingsOf(store.env));
  for (const name of ["notes", "petstore-20200101T000000Z.tar.gz", "petstore-20200102T000000Z.tar.gz.age"])
    await upload.upload(name, join(local, "notes"));
  const { removed } = await done<Report>(env, "backup", "--to", "s3://backups/shop/", "--keep", "1");
  assert.ok(removed.includes("petstore-20200101T000000Z.tar.gz") && removed.includes("petstore-20200102T000000Z.tar.gz.age"));
  const left = await upload.names();
  assert.equal(left.length, 2);
  assert.ok(left.includes("notes"));
  const kept = left.find((name) => name !== "notes")!;
  assert.equal((await done<{ whole: boolean }>(env, "verify", `s3://backups/shop/${kept}`)).whole, true);
  const place = { ...env, DATA_DIR: join(temporaryFolder(t), "data") };
  await done(place, "restore", `s3://backups/shop/${kept}`);
  assert.equal((await done<{ whole: boolean }>(place, "verify")).whole, true);
  await refused(place, /refuses: 404/, "restore", "s3://backups/shop/none");
});

test("an archive of many pieces arrives in the store as it was sent", async (t) => {
  const store = await startS3(t, "backups");
  const s3 = await openS3({ bucket: "backups", prefix: "" }, s3SettingsOf(store.env));
  const folder = temporaryFolder(t);
  const bytes = Buffer.alloc((20 << 20) + 123, "pet store ");
  writeFileSync(join(folder, "large"), bytes);
  await s3.upload("large", join(folder, "large"));
  await s3.download("large", join(folder, "again"));
  const { readFileSync } = await import("node:fs");
  assert.ok(readFileSync(join(folder, "again")).equals(bytes));
});

const s3SettingsOf = (env: Record<string, string>) => ({
  s3Endpoint: env["AWS_ENDPOINT_URL"]!,
  s3Region: env["AWS_REGION"]!,
  s3KeyId: env["AWS_ACCESS_KEY_ID"]!,
  s3Secret: env["AWS_SECRET_ACCESS_KEY"]!,
});

test("a store that cannot be used is refused in one line, and leaves no file behind", async (t) => {
  const store = await startS3(t, "backups");
  const env = { DATA_DIR: dataDir, ...store.env };
  await refused(env, /neither a folder nor s3:/, "backup", "--to", "ftp://user:secret@host/x").then(({ error }) =>
    assert.doesNotMatch(error, /secret/),
  );
  await refused(env, /neither a folder nor s3:/, "backup", "--to", "s3://");
  await refused(env, /has no bucket none/, "backup", "--to", "s3://none/x");
  await refused(env, /there is no folder/, "backup", "--to", join(temporaryFolder(t), "none"));
  await refused({ ...env, AWS_ACCESS_KEY_ID: "" }, /needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY/, "backup", "--to", "s3://backups");
  const wrong = await refused(
    { ...env, AWS_ACCESS_KEY_ID: "wrong", AWS_SECRET_ACCESS_KEY: "hidden" },
    /refuses: 403/,
    "backup",
    "--to",
    "s3://backups",
  );
  assert.doesNotMatch(wrong.error, /hidden/);
  assert.deepEqual(store.objects(), []);
  await store.stop();
  await refused(env, /does not answer \(ECONNREFUSED\)/, "backup", "--to", "s3://backups");
});

test("a backup to a store that never answers ends after the time-out", async (t) => {
  const silent = createServer(() => undefined).listen(0, "127.0.0.1");
  await once(silent, "listening");
  t.after(() => silent.close());
  const s3Endpoint = `http://127.0.0.1:${(silent.address() as { port: number }).port}`;
  const settings = { s3Endpoint, s3Region: "", s3KeyId: "a", s3Secret: "b" };
  const s3 = await openS3({ bucket: "backups", prefix: "" }, settings, { requestMs: 20, pieceMs: 20, tries: 2, pauseMs: 1 });
  await assert.rejects(s3.names(), /does not answer \(time-out\)/);
});

test("backups in a folder are named by their time; --keep removes older ones, and no other file", async (t) => {
  const folder = temporaryFolder(t);
  const others = ["petstore-20991231T000000Z.tar.gz", "petstore-notes.tar.gz", "other"]; // the first by a clock that was ahead
  for (const name of ["petstore-20200101T000000Z.tar.gz", "petstore-20200102T000000Z.tar.gz", ...others])
    writeFileSync(join(folder, name), "");
  mkdirSync(join(folder, "petstore-20190101T000000Z.tar.gz"));
  const { file, removed } = await done<Report>({ DATA_DIR: dataDir }, "backup", "--to", folder, "--keep", "2");
  assert.ok(existsSync(file));
  assert.deepEqual(removed, ["petstore-20200101T000000Z.tar.gz"]);
  assert.equal(readdirSync(folder).length, 6);
});

test("a relative path starts from the folder that npm was called in", async (t) => {
  const called = temporaryFolder(t);
  const env = { DATA_DIR: dataDir, npm_lifecycle_event: "petstore", INIT_CWD: called };
  assert.equal((await done<Report>(env, "backup", "by-npm")).file, join(called, "by-npm"));
  assert.equal((await done<{ whole: boolean }>(env, "verify", "by-npm")).whole, true);
  const elsewhere = { ...env, DATA_DIR: join(called, "restored") };
  await done(elsewhere, "restore", "by-npm");
});

test("a failed backup removes no older one", async (t) => {
  const folder = temporaryFolder(t);
  const old = ["petstore-20200101T000000Z.tar.gz", "petstore-20200102T000000Z.tar.gz"];
  for (const name of old) writeFileSync(join(folder, name), "");
  await refused({ DATA_DIR: folder }, /has no data/, "backup", "--to", folder, "--keep", "1");
  assert.deepEqual(readdirSync(folder).toSorted(), old);
});

test("--every makes a backup at each interval, continues after a failed one, and ends on a signal", async () => {
  let now = 1_000;
  const stop = new AbortController();
  const made: number[] = [];
  const failed: unknown[] = [];
  const waits: number[] = [];
  const make = async (): Promise<void> => {
    made.push(now);
    now += made.length === 3 ? 250 : 10; // the third takes longer than two intervals
    if (made.length === 2) throw new Error("the store is away");
    if (made.length === 5) stop.abort();
  };
  const wait = async (ms: number): Promise<void> => {
    waits.push(ms);
    now += ms;
  };
  await repeatBackups(make, { everyMs: 100, now: () => now, wait, signal: stop.signal, onFailed: (error) => failed.push(error) });
  assert.deepEqual(made, [1_000, 1_100, 1_200, 1_500, 1_600]);
  assert.equal(failed.length, 1);
  assert.deepEqual(waits, [90, 90, 50, 90]);
});

test("--every and --keep refuse values out of their range", async () => {
  assert.deepEqual(["30s", "15m", "6h", "1d", "20d", "21d", "0h", "6", "6 h", "-1h", "1w"].map(parsePause), [
    30_000,
    900_000,
    21_600_000,
    86_400_000,
    20 * 86_400_000,
    ...Array.from({ length: 6 }, () => undefined),
  ]);
  for (const words of [
    ["--every", "6x"],
    ["--keep", "0"],
    ["--keep", "many"],
  ]) {
    const { code, error } = await runCommand(["backup", "--to", "somewhere", ...words], { DATA_DIR: dataDir });
    assert.deepEqual([code, /^petstore: --(every|keep) must be/.test(error)], [2, true]);
  }
  for (const words of [["FILE", "--to", "x"], [], ["FILE", "--every", "6h"], ["FILE", "--keep", "2"]])
    assert.equal((await runCommand(["backup", ...words], { DATA_DIR: dataDir })).code, 2, words.join(" "));
});

test("a prefix that leads out of its bucket is refused", async () => {
  for (const to of ["s3://backups/..", "s3://backups/a/../b", "s3://backups/./a", "s3://backups/a//b", "s3://backups/%2e%2e/a"])
    await refused(
      { DATA_DIR: dataDir, AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "b" },
      /neither a folder nor s3:/,
      "backup",
      "--to",
      to,
    );
});

test("an answer that is not S3's, and an endless list, are refused in one line within bounded memory", async (t) => {
  const list = "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken></ListBucketResult>";
  const answers: [string, RegExp][] = [
    ["<!doctype html><html><br></html>", /answers, but not as an S3 store does \(a page of HTML\)/],
    ["hello", /\(no XML of S3\)/],
    ["<ListBucketResult>".repeat(10_000), /\(no XML of S3\)/],
    [" ".repeat(5 << 20), /\(an answer of more than 4 MiB\)/],
    [list, /\(a list of more than 100 pages\)/],
  ];
  let answer = "";
  const server = createHttpServer((_request, response) => void response.end(answer)).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => (server.closeAllConnections(), server.close()));
  const s3Endpoint = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  const settings = { s3Endpoint, s3Region: "", s3KeyId: "a", s3Secret: "b" };
  for (const [text, reason] of answers) {
    answer = text;
    const s3 = await openS3({ bucket: "backups", prefix: "" }, settings, { requestMs: 5_000, pieceMs: 5_000, tries: 1, pauseMs: 1 });
    await assert.rejects(s3.names(), reason);
  }
});
