import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { commands } from "../src/commands/commands.ts";
import { runCommand, type Ended } from "./support/commands.ts";
import { temporaryFolder } from "./support/folder.ts";
import { root } from "./support/packages.ts";
import { newDatabase } from "./support/postgres.ts";
import { startService } from "./support/service.ts";
import { startReceiver } from "./support/webhooks.ts";

type Json = Record<string, unknown>;
/** What `--json` prints: one object, or with `lines` one on each line; `code` is the exit code. Default: 0. */
type Line = { words: string[]; code?: number; lines?: true; input?: string; env?: Record<string, string> };

/** The only command that ends by a signal alone. Its log is one JSON object a line, which logs.test.ts checks. */
const endless = "serve";

/** A running service with what the commands need, and the environment of an operator with a key. */
async function openScene(t: TestContext) {
  const [service, receiver, folder] = [await startService(), await startReceiver(), temporaryFolder(t)];
  t.after(() => Promise.all([service.close(), receiver.close()]));
  await service.administration["members.invite"]({ account: service.accountId, email: "owner@paws.example" });
  const home = join(folder, "home");
  mkdirSync(join(folder, "site"), { recursive: true });
  for (const [name, text] of [
    ["petstore.json", "{}"],
    ["index.html", "<h1>Rex</h1>"],
  ] as const)
    writeFileSync(join(folder, "site", name), text);
  const env = { HOME: home, DATA_DIR: service.dataDir, PETSTORE_URL: service.address, PETSTORE_KEY: service.key };
  const run = ({ words, input = "", env: more }: Line) => runCommand([...words, "--json"], { ...env, ...more }, input);
  return { service, receiver, folder, run };
}

type Scene = Awaited<ReturnType<typeof openScene>>;

/** A value from an object that an earlier command printed. */
type Printed = (command: string) => Json;

const idFrom = (command: string) => (printed: Printed) => String(printed(command)["id"]);

/** A line for each command on one resource of the store: each names what an earlier one has made. */
const storeLines = (() => {
  const [category, pet, order, made] = ["categories create", "pets create", "orders create", "imports create"].map((command) =>
    idFrom(command),
  );
  const named = ["--name", "New", "--category-id"];
  const line = (name: string, words: (printed: Printed) => string[], code = 0): [string, (printed: Printed) => Line] => [
    name,
    (printed) => ({ words: words(printed), code }),
  ];
  return [
    line("api", () => ["GET", "/account"]),
    line("categories create", () => ["--name", "Birds"]),
    line("categories list", () => []),
    line("categories get", (printed) => [category!(printed)]),
    line("categories replace", (printed) => [category!(printed), "--name", "Fish"]),
    line("categories update", (printed) => [category!(printed), "--name", "Frogs"]),
    line("pets create", (printed) => [...named, category!(printed)]),
    line("pets list", () => ["--sort", "-id", "--limit", "1"]),
    line("pets get", (printed) => [pet!(printed)]),
    line("pets replace", (printed) => [pet!(printed), ...named, category!(printed)]),
    line("pets update", (printed) => [pet!(printed), "--name", "Renamed"]),
    line("inventory replace", (printed) => [pet!(printed), "--quantity", "3"]),
    line("inventory list", () => []),
    line("inventory get", (printed) => [pet!(printed)]),
    line("inventory adjust", (printed) => [pet!(printed), "--delta", "-1"]),
    line("orders create", (printed) => ["--pet-id", pet!(printed)]),
    line("orders list", () => []),
    line("orders get", (printed) => [order!(printed)]),
    line("orders replace", (printed) => [order!(printed), "--pet-id", pet!(printed)]),
    line("orders update", (printed) => [order!(printed), "--quantity", "2"]),
    line("orders delete", (printed) => [order!(printed)]),
    line("imports create", () => ["--source", "Register", "--file-name", "animals.csv"]),
    line("imports list", () => []),
    line("imports get", (printed) => [made!(printed)]),
    line("imports undo", (printed) => [made!(printed)]),
    line("inventory delete", (printed) => [pet!(printed)]),
    line("pets delete", (printed) => [pet!(printed)]),
    line("categories delete", (printed) => [category!(printed)]),
  ];
})();

/** Commands of operators that have nothing to do in this scene. */
const refusedLines: ReturnType<typeof linesFor> = [
  ["certificates replace", () => ({ words: [], code: 2 })],
  ["accept-state", () => ({ words: ["--yes"], code: 2 })],
];

/** A command line for each command, in an order in which each finds the data that it needs. */
function linesFor({ service, receiver, folder }: Scene, database: string): [name: string, line: (printed: Printed) => Line][] {
  const [own, stopped] = [String(service.accountId), { DATA_DIR: join(folder, "stopped") }];
  const example = (name: string) => join(root, "examples", name);
  const records = ["--state", join(folder, "state"), "--rejects", join(folder, "rejects")];
  const site = ["--project", "paws"];
  const member = ["--account", own, "--email", "ann@paws.example"];
  const accountId = (printed: Printed) => String((printed("accounts create")["account"] as Json)["id"]);
  const whileStopped = (...names: string[]) => names.map((name): [string, () => Line] => [name, () => ({ words: [], env: stopped })]);
  return [
    ["accounts create", () => ({ words: ["--name", "New", "--plan", "pro"] })],
    ["accounts list", () => ({ words: [] })],
    ["accounts set-plan", (printed) => ({ words: [accountId(printed), "--plan", "free"] })],
    ["accounts delete", (printed) => ({ words: [accountId(printed), "--yes"] })],
    ["keys create", () => ({ words: ["--account", own] })],
    ["keys list", () => ({ words: ["--account", own] })],
    ["keys unban", (printed) => ({ words: [idFrom("keys create")(printed)] })],
    ["keys rotate", (printed) => ({ words: [idFrom("keys create")(printed)] })],
    ["keys revoke", (printed) => ({ words: [idFrom("keys create")(printed)] })],
    ["members invite", () => ({ words: member })],
    ["members reset", () => ({ words: member })],
    ["members remove", () => ({ words: member })],
    ...["members list", "audit"].map((name): [string, () => Line] => [name, () => ({ words: ["--account", own] })]),
    ["privacy", () => ({ words: ["--account", own, "--name", "Ann Smith"] })],
    ["init", () => ({ words: [join(folder, "page"), "--key", `psp_${"0".repeat(36)}`] })],
    ["login", () => ({ words: ["--url", service.address], input: service.key })],
    ["profiles list", () => ({ words: [] })],
    ["profiles use", () => ({ words: ["default"] })],
    ["logout", () => ({ words: [] })],
    ["status", () => ({ words: [] })],
    ["import", () => ({ words: [example("longbeach-sample.csv"), "--mapping", example("longbeach.mapping.json"), ...records] })],
    ["export", () => ({ words: ["pets"] })],
    ["projects create", () => ({ words: ["paws"] })],
    ["projects list", () => ({ words: [] })],
    ["deploy", () => ({ words: [join(folder, "site"), ...site] })],
    ["deployments list", () => ({ words: site })],
    ["deployments promote", (printed) => ({ words: [String((printed("deployments list")["deployments"] as Json[])[0]?.["id"]), ...site] })],
    ["domains add", () => ({ words: ["www.paws-of-rex.com", ...site] })],
    ["domains list", () => ({ words: site })],
    ["domains check", () => ({ words: ["www.paws-of-rex.com", ...site], code: 1 })],
    ["domains primary", () => ({ words: ["www.paws-of-rex.com", ...site], code: 4 })],
    ["domains redirect", () => ({ words: ["www.paws-of-rex.com", ...site, "--to", "absent.paws-of-rex.com"], code: 2 })],
    ["domains remove", () => ({ words: ["www.paws-of-rex.com", ...site] })],
    ["events tail", () => ({ words: ["--after", "0", "--no-follow"], lines: true })],
    ["listen", () => ({ words: ["--after", "0", "--no-follow", "--forward-to", receiver.url, "--types", "pet.*"], lines: true })],
    ["events trigger", () => ({ words: ["pet.created", "--forward-to", receiver.url] })],
    ...storeLines,
    ["projects delete", () => ({ words: ["paws", "--yes"] })],
    ["backup", () => ({ words: [join(folder, "shop.tar.gz")] })],
    ["verify", () => ({ words: [join(folder, "shop.tar.gz"), "--events"] })],
    ["restore", () => ({ words: [join(folder, "shop.tar.gz")], env: stopped })],
    ...whileStopped("upgrade", "migrate", "compact", "secrets rotate"),
    ["repair", () => ({ words: ["--yes"], env: stopped })],
    ...refusedLines,
    ["move", () => ({ words: ["--to", database], env: stopped })],
    ["description", () => ({ words: ["--check"] })],
    ["settings", () => ({ words: [] })],
    ["doctor", () => ({ words: [], env: { ...stopped, PORT: "0", EDGE_HTTP_PORT: "0", EDGE_HTTPS_PORT: "0" } })],
    ["completion", () => ({ words: ["bash"] })],
  ];
}

/** The object that a command printed, alone on its output: the answer, or after a failure the error on standard error. */
function objectIn({ code, out, error }: Ended, lines = false): Json {
  const [printed, silent] = out === "" ? [error, out] : [out, error];
  assert.equal(silent, "");
  assert.ok(printed.endsWith("\n"), `nothing is printed, or no end of the line: ${printed}`);
  const objects = printed
    .trimEnd()
    .split("\n")
    .map((text) => JSON.parse(text) as Json);
  if (!lines) assert.equal(objects.length, 1);
  for (const one of objects) assert.equal(one !== null && typeof one === "object" && !Array.isArray(one), true);
  if (out === "") assert.deepEqual([code > 0, Object.keys(objects[0] ?? {})], [true, ["code", "message"]]);
  return objects[0] ?? assert.fail();
}

test("every command prints one JSON object with --json, on standard error alone if it fails", async (t) => {
  const database = await newDatabase();
  t.after(() => database.drop());
  const scene = await openScene(t);
  const lines = linesFor(scene, database.url);
  assert.deepEqual(
    lines.map(([name]) => name).toSorted(),
    commands
      .map(({ name }) => name)
      .filter((name) => name !== endless)
      .toSorted(),
  );
  const printed = new Map<string, Json>();
  for (const [name, lineOf] of lines) {
    const line = lineOf((before) => printed.get(before) ?? assert.fail(`${before} has printed nothing`));
    const ended = await scene.run({ ...line, words: [...name.split(" "), ...line.words] });
    assert.equal(ended.code, line.code ?? 0, `${name}: ${ended.out}${ended.error}`);
    printed.set(name, objectIn(ended, line.lines));
  }
});

test("every command explains itself as one JSON object, and refuses an unknown option with one", async () => {
  for (const { name } of commands) {
    const words = name.split(" ");
    assert.equal(objectIn(await runCommand([...words, "--help", "--json"], {}))["name"], name);
    const refused = await runCommand([...words, "--nonsense", "--json"], {});
    assert.deepEqual([refused.code, objectIn(refused)["code"]], [2, "usage"], name);
  }
});

test("no command that reads creates a folder or a file, where there is no data and no profile", async (t) => {
  const { service, receiver } = await openScene(t);
  const readers: [name: string, ...words: string[]][] = [
    ["accounts list"],
    ["accounts delete", "1"],
    ["accounts set-plan", "1", "--plan", "pro", "--dry-run"],
    ["keys list", "--account", "1"],
    ["members list", "--account", "1"],
    ["audit", "--account", "1"],
    ["audit", "--account", "1", "--csv", "/absent/audit.csv"],
    ["profiles list"],
    ["profiles use", "default"],
    ["logout"],
    ["status"],
    ["export", "pets"],
    ["projects list"],
    ["deployments list", "--project", "none"],
    ["domains list", "--project", "none"],
    ["domains check", "www.none.example", "--project", "none"],
    ["events tail", "--after", "0", "--no-follow"],
    ["listen", "--after", "0", "--no-follow", "--forward-to", receiver.url],
    ["events trigger", "pet.created", "--forward-to", receiver.url],
    ["verify"],
    ["verify", "absent.tar.gz"],
    ["restore", "absent.tar.gz"],
    ["backup", "/absent/shop.tar.gz"],
    ["repair"],
    ["description", "--check"],
    ["settings"],
    ["doctor"],
    ["completion", "bash"],
  ];
  for (const key of [service.key, ""]) {
    for (const [name, ...words] of readers) {
      const folder = temporaryFolder(t);
      const env = { HOME: folder, DATA_DIR: join(folder, "data", "deep"), PETSTORE_URL: service.address, PETSTORE_KEY: key, PORT: "0" };
      const { code } = await runCommand([...name.split(" "), ...words], {
        ...env,
        EDGE_HTTP_PORT: "0",
        EDGE_HTTPS_PORT: "0",
        INIT_CWD: folder,
      });
      assert.deepEqual(readdirSync(folder), [], `${name} ended with ${code}`);
    }
  }
  assert.equal(existsSync("/absent"), false);
});
