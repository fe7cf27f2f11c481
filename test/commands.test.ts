import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, openSync, readFileSync, statSync, chmodSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { commands } from "../src/commands/commands.ts";
import { exitClasses, exitCodeOf } from "../src/commands/program.ts";
import { problemCodes } from "../src/platform/error-table.ts";
import { runCommand, type Ended } from "./support/commands.ts";
import { temporaryFolder } from "./support/folder.ts";
import { root } from "./support/packages.ts";
import { inherited } from "./support/process.ts";
import { startService, type TestService } from "./support/service.ts";
import { packSite } from "./support/sites.ts";

let service: TestService;
before(async () => {
  service = await startService();
});
after(() => service.close());

const main = join(root, "src/main.ts");

/** A user's home folder, and commands run in it, with a key in the environment unless `env` says otherwise. */
function openHome(folder: string) {
  const file = join(folder, ".config/petstore/profiles.json");
  const bare = (words: string[], input = "", env: Record<string, string> = {}): Promise<Ended> =>
    runCommand(words, { HOME: folder, DATA_DIR: join(folder, "data"), ...env }, input);
  const withKey = (...words: string[]) => bare(words, "", { PETSTORE_URL: service.address, PETSTORE_KEY: service.key });
  const json = async (...words: string[]) => JSON.parse((await withKey(...words, "--json")).out || "{}") as Record<string, unknown>;
  return { file, bare, withKey, json };
}

test("the version is that of package.json", async (t) => {
  const { bare } = openHome(temporaryFolder(t));
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  assert.deepEqual(await bare(["--version"]), { code: 0, out: `petstore ${version}\n`, error: "" });
  assert.deepEqual(JSON.parse((await bare(["--version", "--json"])).out), { version });
});

test("every error code has one exit code, and the help and the documentation list the same ones", async (t) => {
  const others = problemCodes.filter((code) => exitCodeOf(code) === 1);
  assert.deepEqual(others, ["method_not_allowed", "internal"]);
  const { out } = await openHome(temporaryFolder(t)).bare(["--help"]);
  const documented = readFileSync(join(root, "docs/commands.md"), "utf8");
  for (const { code, name, meaning } of exitClasses) {
    assert.ok(out.includes(`    ${code}  ${name}: ${meaning}\n`) || out.endsWith(`    ${code}  ${name}: ${meaning}\n`), name);
    assert.ok(documented.includes(`| ${code} | ${name} | ${meaning} |`), name);
  }
});

test("the documentation has every command, and no other", () => {
  const documented = readFileSync(join(root, "docs/commands.md"), "utf8");
  const listed = Array.from(documented.matchAll(/^\| `([a-z-]+(?: [a-z-]+)?)` \|/gm), ([, name = ""]) => name);
  assert.deepEqual(listed.toSorted(), commands.map(({ name }) => name).toSorted());
});

test("a wrong value, a missing resource, a refusal, a wrong key and a missing service have different exit codes, each with one line", async (t) => {
  const { bare, withKey } = openHome(temporaryFolder(t));
  await withKey("projects", "create", "taken");
  const absent = createServer().listen(0, "127.0.0.1");
  await once(absent, "listening");
  const { port } = absent.address() as AddressInfo;
  absent.close();
  const wrong = { PETSTORE_URL: service.address, PETSTORE_KEY: `psk_${"0".repeat(36)}` };
  const cases: [code: number, Promise<Ended>][] = [
    [2, withKey("projects", "create", "Not A Slug")],
    [2, withKey("domains", "redirect", "www.rex.test", "--project", "taken", "--to", "rex.test", "--status", "300")],
    [2, withKey("deployments", "promote", "one", "--project", "taken")],
    [3, withKey("domains", "list", "--project", "nowhere")],
    [3, withKey("deployments", "promote", "999", "--project", "taken")],
    [4, withKey("projects", "create", "taken")],
    [5, bare(["projects", "list"], "", wrong)],
    [6, bare(["status"], "", { PETSTORE_URL: `http://127.0.0.1:${port}` })],
  ];
  for (const [expected, ending] of cases) {
    const { code, out, error } = await ending;
    assert.deepEqual([code, out], [expected, ""], error);
    if (!error.includes("Usage:")) assert.match(error, /^petstore: [^\n]+\n$/);
  }
});

test("login checks the key, stores it for its user alone and never shows it; profiles choose the service, and logout forgets", async (t) => {
  const folder = temporaryFolder(t);
  const { file, bare } = openHome(folder);
  const refused = await bare(["login", "--url", service.address], `psk_${"0".repeat(36)}\n`);
  assert.deepEqual([refused.code, existsSync(join(folder, ".config"))], [5, false], "nothing is stored");
  const done = await bare(["login", "--url", `${service.address}/v1`, "--json"], `${service.key}\nmore`);
  assert.deepEqual([done.code, done.error], [0, ""]);
  assert.equal((JSON.parse(done.out) as { url: string }).url, service.address);
  assert.deepEqual([statSync(file).mode & 0o777, statSync(join(file, "..")).mode & 0o777], [0o600, 0o700]);
  assert.equal((await bare(["projects", "list"])).code, 0);

  const second = await service.newAccount();
  assert.equal((await bare(["login", "--url", service.address, "--profile", "second", "--key", "-"], second.key)).code, 0);
  const listed = await bare(["profiles", "list"]);
  assert.match(listed.out, /^default +http\S+$/m);
  assert.match(listed.out, /^second +http\S+ +yes$/m);
  const accountOf = async (words: string[], env = {}) =>
    (JSON.parse((await bare(["status", ...words, "--json"], "", env)).out) as { account: { id: number } | null }).account?.id;
  assert.deepEqual([await accountOf([]), await accountOf(["--profile", "default"])], [second.id, service.accountId]);
  assert.equal(await accountOf([], { PETSTORE_PROFILE: "default" }), service.accountId);
  assert.equal(await accountOf([], { PETSTORE_URL: service.address, PETSTORE_KEY: service.key }), service.accountId, "a key counts more");
  assert.equal((await bare(["profiles", "use", "default"])).code, 0);
  assert.equal(await accountOf([]), service.accountId);

  const elsewhere = await bare(["projects", "list", "--url", "https://elsewhere.example"]);
  assert.deepEqual([elsewhere.code, elsewhere.error.includes("the profile's key is for")], [2, true], "a key goes to its service alone");
  assert.equal((await bare(["projects", "list", "--profile", "third"])).code, 3, "there is no such profile");
  assert.equal((await bare(["login", "--profile", "../x"], service.key)).code, 2);
  for (const { out, error } of [done, listed, refused, elsewhere]) assert.ok(!`${out}${error}`.includes("psk_"), "no key is shown");
  assert.equal((await bare(["logout"])).code, 0);
  assert.deepEqual([(await bare(["projects", "list"])).code, readFileSync(file, "utf8").includes(service.key)], [2, false]);
});

test("a file of profiles that others can read, or that is damaged, is refused in one line and stays as it is", async (t) => {
  const { file, bare } = openHome(temporaryFolder(t));
  await bare(["login", "--url", service.address], service.key);
  chmodSync(file, 0o644);
  const open = await bare(["projects", "list"]);
  assert.deepEqual([open.code, open.error], [2, `petstore: ${file} holds keys, and other users can read it: run \`chmod 600 ${file}\`\n`]);
  writeFileSync(file, "{}");
  chmodSync(file, 0o600);
  const damaged = await bare(["login", "--url", service.address], service.key);
  assert.deepEqual([damaged.code, readFileSync(file, "utf8")], [2, "{}"]);
  assert.match(damaged.error, /^petstore: \S+ is not a file of profiles: [^\n]+\n$/);
});

test("--json prints one object: of an export too, and of a file that it wrote", async (t) => {
  const folder = temporaryFolder(t);
  const { withKey, json } = openHome(folder);
  assert.deepEqual(await json("export", "categories"), { categories: [] });
  for (const name of ["Dogs", "Cats"]) await service.ask("POST", "/categories", { body: { name } });
  const { categories } = (await json("export", "categories")) as { categories: { name: string }[] };
  assert.deepEqual(
    categories.map(({ name }) => name),
    ["Dogs", "Cats"],
  );
  const file = join(folder, "categories.csv");
  assert.deepEqual(await json("export", "categories", "--out", file), { list: "categories", format: "csv", file, rows: 2 });
  assert.equal(readFileSync(file, "utf8"), "id,name,description\n1,Dogs,\n2,Cats,\n");
  assert.equal((await withKey("export", "categories", "--json", "--format", "csv")).code, 2);
  assert.equal((await withKey("export", "categories", "--out", "-")).out, readFileSync(file, "utf8"));
  for (const words of [["help"], ["keys", "create", "--help"], ["completion", "bash"], ["status"], ["profiles", "list"]]) {
    const { code, out, error } = await withKey(...words, "--json");
    assert.deepEqual([code, error, typeof JSON.parse(out)], [0, "", "object"], words.join(" "));
  }
});

test("--if-not-exists leaves what exists as it is, and refuses a name of another account", async (t) => {
  const { withKey, json, bare } = openHome(temporaryFolder(t));
  const first = await json("projects", "create", "paws", "--if-not-exists");
  const again = await json("projects", "create", "paws", "--name", "Other", "--if-not-exists");
  assert.deepEqual([first["created"], again["created"], again["id"], again["name"]], [true, false, first["id"], "paws"]);
  const stranger = await service.newAccount();
  const words = ["projects", "create", "paws", "--if-not-exists"];
  assert.equal((await bare(words, "", { PETSTORE_URL: service.address, PETSTORE_KEY: stranger.key })).code, 4);

  const operator = async (...line: string[]) =>
    JSON.parse((await bare([...line, "--if-not-exists", "--json"], "", { DATA_DIR: service.dataDir })).out) as Record<string, unknown>;
  for (const line of [
    ["accounts", "create", "--name", "Twice", "--plan", "pro"],
    ["keys", "create", "--account", String(service.accountId), "--name", "Nightly"],
    ["members", "invite", "--account", String(service.accountId), "--email", "ann@paws.example"],
  ]) {
    assert.deepEqual([(await operator(...line))["created"], (await operator(...line))["created"]], [true, false], line.join(" "));
  }
  assert.equal((await withKey("projects", "delete", "paws")).code, 2, "only with --yes");
  assert.equal((await json("projects", "delete", "paws", "--yes"))["slug"], "paws");
  assert.equal((await withKey("projects", "delete", "paws", "--yes")).code, 3);
});

test("of two commands with --if-not-exists at the same time one creates, and both succeed", async (t) => {
  const { bare, withKey } = openHome(temporaryFolder(t));
  const env = { PETSTORE_URL: service.address, PETSTORE_KEY: service.key };
  const both = async (...words: string[]) => {
    const ended = await Promise.all([1, 2].map(() => bare([...words, "--if-not-exists", "--json"], "", env)));
    for (const { code, error } of ended) assert.deepEqual([code, error], [0, ""], words.join(" "));
    const made = ended.map(({ out }) => JSON.parse(out) as { created: boolean; id?: number; hostname?: string });
    assert.equal(made.filter(({ created }) => created).length, 1, words.join(" "));
    return made.map(({ id, hostname }) => id ?? hostname);
  };
  for (let i = 0; i < 5; i++) {
    const [one, other] = await both("projects", "create", `race-${i}`);
    assert.equal(one, other);
  }
  const packed = (await packSite({ "petstore.json": "{}", "index.html": "hello" })) as Buffer;
  assert.equal((await runCommand(["deploy", "-", "--project", "race-0"], env, packed)).code, 0);
  for (let i = 0; i < 5; i++) {
    const [one, other] = await both("domains", "add", `www.race-${i}.com`, "--project", "race-0");
    assert.equal(one, other);
  }
  assert.equal((await withKey("projects", "delete", "race-0", "--yes")).code, 0);
});

test("a packed folder is deployed from standard input, deployments are listed, and an earlier one is promoted", async (t) => {
  const { bare, json, withKey } = openHome(temporaryFolder(t));
  await withKey("projects", "create", "stdin");
  const env = { PETSTORE_URL: service.address, PETSTORE_KEY: service.key };
  for (const page of ["one", "two"]) {
    const packed = (await packSite({ "petstore.json": "{}", "index.html": page })) as Buffer;
    const { code, error } = await runCommand(["deploy", "-", "--project", "stdin"], env, packed);
    assert.equal(code, 0, error);
  }
  const list = async () => (await json("deployments", "list", "--project", "stdin"))["deployments"] as { id: number; live: boolean }[];
  const live = async () => (await list()).map((one) => one.live);
  const [newer, older] = (await list()).toSorted((a, b) => b.id - a.id);
  assert.deepEqual([newer?.live, older?.live], [true, false]);
  assert.equal((await bare(["deployments", "promote", String(older?.id), "--project", "stdin"], "", env)).code, 0);
  assert.equal((await live()).filter(Boolean).length, 1);
  assert.equal((await list()).find(({ id }) => id === older?.id)?.live, true);
  assert.equal((await bare(["deploy", "-", "--project", "stdin"], "no tar", env)).code, 2);
});

test("an import reads its rows or its mapping from standard input", async (t) => {
  const folder = temporaryFolder(t);
  const { bare } = openHome(folder);
  const mapping = JSON.stringify({
    sourceId: "id",
    name: "name",
    category: "kind",
    status: { column: "state", values: { in: "available" } },
  });
  const rows = "id,name,kind,state\n1,Rex,Dogs,in\n";
  writeFileSync(join(folder, "m.json"), readFileSync(join(root, "examples/longbeach.mapping.json")));
  const refused = await bare(["import", "-", "--mapping", join(folder, "m.json"), "--dry-run"], rows);
  assert.deepEqual([refused.code, /--rejects FILE is required/.test(refused.error)], [2, true]);
  const sample = readFileSync(join(root, "examples/longbeach-sample.csv"), "utf8");
  const records = ["--state", join(folder, "state"), "--rejects", join(folder, "rejects"), "--dry-run", "--json"];
  const done = await bare(["import", "-", "--mapping", join(folder, "m.json"), ...records], sample);
  const file = await bare(
    ["import", join(root, "examples/longbeach-sample.csv"), "--mapping", "-", ...records],
    readFileSync(join(folder, "m.json"), "utf8"),
  );
  assert.equal(done.code, 0, done.error);
  assert.deepEqual(JSON.parse(file.out), JSON.parse(done.out));
  assert.equal((await bare(["import", "-", "--mapping", "-", ...records], mapping)).code, 2);
});

test("a full device is one line and exit code 1; a reader of either output that has gone is no failure", async () => {
  const full = spawn(process.execPath, [main, "settings", "--json"], {
    env: inherited(),
    stdio: ["ignore", openSync("/dev/full", "w"), "pipe"],
  });
  const error = new Promise<string>((resolve) => full.stderr!.setEncoding("utf8").once("data", resolve));
  const [code] = (await once(full, "close")) as [number];
  assert.deepEqual([code, await error], [1, "petstore: standard output cannot be written (ENOSPC)\n"]);
  for (const line of ["settings --json | head -c 1 > /dev/null", "acounts 2>&1 >/dev/null | head -c 0", "nothing 2> /dev/full"]) {
    const { stderr } = spawnSync("/bin/sh", ["-c", `"$0" "$1" ${line}`, process.execPath, main], { env: inherited(), encoding: "utf8" });
    assert.equal(stderr, "", line);
  }
});

test("status reports a ready service with the account's limits, and refuses a server that is not a pet store", async (t) => {
  const { withKey, bare } = openHome(temporaryFolder(t));
  const { code, out } = await withKey("status");
  assert.equal(code, 0);
  assert.match(out, /^http\S+ is ready\.\n[^]*Account \d+ \(.*\): \d+ of \d+ requests left this minute/);
  const other = createServer((_, response) => response.writeHead(413).end("<html>413</html>")).listen(0, "127.0.0.1");
  await once(other, "listening");
  t.after(() => other.close());
  const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  const refused = await bare(["status", "--url", url]);
  assert.deepEqual([refused.code, refused.error], [1, "petstore: The server answered 413. Is it a pet store's address?\n"]);
});
