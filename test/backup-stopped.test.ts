import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { cpSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { before, test, type TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { loadSettings } from "../src/app/settings.ts";
import { writeBackup } from "../src/backup/backup-file.ts";
import { makeHeldFolder } from "../src/backup/held-folder.ts";
import { lastBackupAt } from "../src/backup/manifest.ts";
import { openSource } from "../src/backup/source.ts";
import { contentsOf, done, refused } from "./support/backups.ts";
import { runCommand } from "./support/commands.ts";
import { temporaryFolder } from "./support/folder.ts";
import { createAccount, inherited } from "./support/process.ts";
import { mountSmallDisk } from "./support/small-disk.ts";

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));
let folder: string;
let dataDir: string;
let file: string;
/** The same without the counters, for what nothing stops. */
let small: { dataDir: string; file: string };
before(async (t) => {
  folder = temporaryFolder(t as TestContext);
  dataDir = join(folder, "data");
  file = join(folder, "backup");
  await createAccount(dataDir);
  small = { dataDir: join(folder, "small"), file: join(folder, "small-backup") };
  cpSync(dataDir, small.dataDir, { recursive: true });
  await done({ DATA_DIR: small.dataDir }, "backup", small.file);
  // counters that do not compress make each command take a while
  const line = (): string => JSON.stringify([randomBytes(300_000).toString("base64"), 1, 1, 1]);
  writeFileSync(join(dataDir, "limits.state"), `${Array.from({ length: 25 }, line).join("\n")}\n`);
  await done({ DATA_DIR: dataDir }, "backup", file);
});

type Running = { env: Record<string, string>; words: [string, ...string[]]; begun: () => boolean };

/** Runs a command in a process, and sends it a signal when it has begun. Returns its exit code, or the signal that ended it. */
async function stop({ env, words, begun }: Running, signal: NodeJS.Signals): Promise<{ ending: number | string | null; error: string }> {
  const child = spawn(process.execPath, [main, ...words], { env: { ...inherited(), ...env }, stdio: ["ignore", "ignore", "pipe"] });
  let error = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (error += text));
  const ended = once(child, "close") as Promise<[number | null, string | null]>;
  while (!begun() && child.exitCode === null) await pause(1);
  child.kill(signal);
  const [code, by] = await ended;
  return { ending: code ?? by, error };
}

/** Each command, where its temporary files are, and whether some are there. */
function commandsIn(place: string): (Running & { left: () => unknown })[] {
  const [out, temporary, restored] = [join(place, "out"), join(place, "tmp"), join(place, "restored")];
  for (const one of [out, temporary]) mkdirSync(one);
  const holding = (path: string, prefix: string) => () => existsSync(path) && readdirSync(path).some((name) => name.startsWith(prefix));
  return [
    {
      env: { DATA_DIR: dataDir, TMPDIR: temporary },
      words: ["backup", join(out, "new")],
      begun: holding(out, ".petstore-backup-"),
      left: () => [readdirSync(out), readdirSync(dataDir).filter((name) => name.startsWith("petstore.backup-"))].flat(),
    },
    {
      env: { TMPDIR: temporary },
      words: ["verify", file],
      begun: holding(temporary, "petstore-verify-"),
      left: () => readdirSync(temporary),
    },
    {
      env: { DATA_DIR: restored, TMPDIR: temporary },
      words: ["restore", file],
      begun: () => existsSync(join(restored, "petstore.restoring", "petstore.db")),
      left: () => (existsSync(restored) ? readdirSync(restored).filter((name) => !name.startsWith("petstore.lock")) : []),
    },
  ];
}

test("a signal removes the temporary files of backup, verify and restore, and the exit code is that of the signal", async (t) => {
  for (const [signal, code] of [
    ["SIGTERM", 143],
    ["SIGINT", 130],
  ] as const) {
    for (const command of commandsIn(temporaryFolder(t))) {
      const { ending, error } = await stop(command, signal);
      assert.equal(ending, code, `${command.words[0]}: ${error}`);
      assert.match(error, new RegExp(`^petstore: stopped by ${signal}: [^\\n]+\\n$`));
      assert.deepEqual(command.left(), [], command.words[0]);
    }
  }
});

test("the next command removes the temporary files of one that was killed", async (t) => {
  for (const command of commandsIn(temporaryFolder(t)).slice(0, 2)) {
    assert.equal((await stop(command, "SIGKILL")).ending, "SIGKILL");
    assert.notDeepEqual(command.left(), [], command.words[0]);
    const again = spawn(process.execPath, [main, ...command.words], { env: { ...inherited(), ...command.env }, stdio: "ignore" });
    assert.deepEqual(await once(again, "close"), [0, null]);
    assert.deepEqual(command.left(), command.words[0] === "backup" ? ["new"] : [], command.words[0]);
  }
});

test("a temporary folder that a process uses stays, and so does what only looks like one", (t) => {
  const place = temporaryFolder(t);
  const held = makeHeldFolder(place, "temporary-");
  const others = ["temporary-notes", `temporary-${"0".repeat(36)}`, "temporary-01234567-89ab-cdef-0123-456789abcdef"];
  for (const name of others) mkdirSync(join(place, name));
  writeFileSync(join(place, others[2]!, "mine"), "of the user");
  writeFileSync(join(held.path, "copy"), "in use");
  const child = execFileSync(
    process.execPath,
    [
      "-e",
      `import("${new URL("../src/backup/held-folder.ts", import.meta.url).href}").then((m) => m.makeHeldFolder(${JSON.stringify(place)}, "temporary-"))`,
    ],
    { env: inherited(), encoding: "utf8" },
  );
  assert.equal(child, "");
  assert.equal(readFileSync(join(held.path, "copy"), "utf8"), "in use");
  assert.equal(readdirSync(place).length, 5, "the folder of the process that has ended is a leftover");
  makeHeldFolder(place, "temporary-").remove();
  held.remove();
  assert.deepEqual(readdirSync(place).toSorted(), others.toSorted());
});

test("two backups to one file at once leave one whole file, and no file of the user is touched", async (t) => {
  const place = temporaryFolder(t);
  const target = join(place, "backup");
  writeFileSync(`${target}.partial`, "of the user");
  const both = await Promise.all([1, 2].map(() => runCommand(["backup", target], { DATA_DIR: dataDir })));
  assert.deepEqual(
    both.map(({ code }) => code).toSorted((a, b) => a - b),
    [0, 1],
    JSON.stringify(both),
  );
  assert.match(both.map(({ error }) => error).join(""), /^petstore: [^\n]+backup exists already: choose another name, or remove it\n$/);
  assert.equal((await done<{ whole: boolean }>({}, "verify", target)).whole, true);
  assert.equal(readFileSync(`${target}.partial`, "utf8"), "of the user");
  assert.deepEqual(readdirSync(place).toSorted(), ["backup", "backup.partial"]);

  const link = join(place, "link");
  symlinkSync(join(place, "nowhere"), link);
  await refused({ DATA_DIR: dataDir }, /link exists already/, "backup", link);
  assert.ok(lstatSync(link).isSymbolicLink() && !existsSync(join(place, "nowhere")));
});

test("a backup that has begun before a restore --replace has all of the old state; one that begins meanwhile is refused in one line", async (t) => {
  const place = join(temporaryFolder(t), "data");
  const env = { DATA_DIR: place };
  await done(env, "restore", small.file);
  const source = await openSource(loadSettings(env), true);
  await done(env, "restore", small.file, "--replace");
  const target = join(place, "..", "old");
  const options = { now: 1, progress: () => undefined, passphrase: undefined };
  await writeBackup(target, source, options);
  await source.close();
  assert.equal((await done<{ whole: boolean }>({}, "verify", target)).whole, true);

  rmSync(join(place, "petstore.db")); // as between two moves of a restore
  const journal = join(place, "petstore.restored");
  writeFileSync(journal, JSON.stringify({ aside: null, isAside: false }));
  const { lockFolder } = await import("../src/platform/lock.ts");
  const lock = lockFolder(place, "petstore restore", 0);
  for (const words of [["backup", join(place, "..", "new")], ["verify"]])
    await refused(env, /is in use by petstore restore|a restore replaces/, ...words);
  const { checkFolder } = await import("../src/backup/check.ts");
  await assert.rejects(checkFolder(place, undefined), /a restore replaces what is in .* run the command again when it is done/);
  const { openFolderSource } = await import("../src/backup/source.ts");
  assert.throws(() => openFolderSource(place), /a restore replaces what is in .* run the command again when it is done/);
  lock.release();
});

test("a place that cannot be used is refused in one line", async (t) => {
  const disk = mountSmallDisk(t, 1 << 20);
  execFileSync("mount", ["-o", "remount,ro", disk.path]);
  const env = { DATA_DIR: small.dataDir };
  await refused(env, /cannot be used \(EROFS\): the file system is read-only: no backup was made/, "backup", join(disk.path, "backup"));
  await refused({ DATA_DIR: disk.path }, /read-only|EROFS/, "restore", small.file);
  await refused(env, /there is no folder|is not a folder/, "backup", join(small.file, "backup"));
  await refused(env, /the name is too long/, "backup", join(folder, "x".repeat(300)));
  const { withFaultsNamed } = await import("../src/backup/interruption.ts");
  const closed = Object.assign(new Error("EACCES: permission denied"), { code: "EACCES", syscall: "open", path: "/closed" });
  await assert.rejects(
    withFaultsNamed("nothing was changed", () => Promise.reject(closed)),
    {
      message: "/closed cannot be used (EACCES): this user has no permission: nothing was changed",
    },
  );
});

test("--every says how long each backup took, records its time, and ends with code 0 on a signal between two", async (t) => {
  const to = temporaryFolder(t);
  rmSync(join(small.dataDir, "petstore.last-backup"), { force: true });
  const child = spawn(process.execPath, [main, "backup", "--to", to, "--every", "1h"], {
    env: { ...inherited(), DATA_DIR: small.dataDir },
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => child.kill("SIGKILL"));
  // A backup yields the processor to other processes, so nothing bounds the time that it takes.
  const [out] = (await once(createInterface(child.stdout), "line")) as [string];
  assert.match(out, /^Backed up \d+ rows and 0 published files \([\d.]+ kB\) in \d+\.\d s, and checked the file\./);
  child.kill("SIGTERM");
  assert.deepEqual(await once(child, "close"), [0, null]);
  const [name = ""] = readdirSync(to);
  const [, ...time] = /(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z/.exec(name) ?? [];
  const [year, month, day, hour, minute, second] = time.map(Number) as [number, number, number, number, number, number];
  const sinceName = lastBackupAt(small.dataDir)! - Date.UTC(year, month - 1, day, hour, minute, second);
  assert.ok(sinceName >= 0 && sinceName < 60_000, `${sinceName} ms`);
  assert.deepEqual(Object.keys(contentsOf(to)), [join(to, name)]);
});
