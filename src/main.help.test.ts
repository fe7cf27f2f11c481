import assert from "node:assert/strict";
import { test } from "node:test";
import { openShell } from "../test/support/shell.ts";

test("with --json, an unreadable command line is reported as JSON", async (t) => {
  const { code, out, error } = await openShell(t).petstore(["keys", "revoke", "--json"]);
  assert.deepEqual([code, out, JSON.parse(error)], [2, "", { code: "usage", message: "KEYID is required" }]);
});

test("help lists every command, and each tells its usage", async (t) => {
  const { petstore } = openShell(t);
  const { code, out } = await petstore(["--help"]);
  assert.equal(code, 0);
  const names = out.split("\n").flatMap((line) => /^ {2}(\S+(?: \S+)?) {2}/.exec(line)?.[1] ?? []);
  assert.ok(names.includes("accounts create") && names.includes("serve"));
  for (const name of names) {
    const help = await petstore([...name.split(" "), "--help"]);
    assert.equal(help.code, 0);
    assert.ok(help.out.startsWith(`Usage: petstore ${name}`));
  }
});

test("the help of a command has a line for every option that its usage shows, and is also asked for in front", async (t) => {
  const { petstore } = openShell(t);
  const { code, out } = await petstore(["help", "keys", "create"]);
  assert.deepEqual([code, out], [0, (await petstore(["keys", "create", "--help"])).out]);
  const [usage = "", ...lines] = out.split("\n");
  assert.equal(
    usage,
    "Usage: petstore keys create --account ID [--scope SCOPE]… [--expires DATE] [--publishable] [--name NAME] [--origin URL]… [--if-not-exists]",
  );
  const explained = lines.flatMap((line) => /^ {2}(--\S+) .*\w/.exec(line)?.[1] ?? []);
  assert.deepEqual(explained, [
    "--account",
    "--scope",
    "--expires",
    "--publishable",
    "--name",
    "--origin",
    "--if-not-exists",
    "--json",
    "--help",
  ]);
  assert.equal((await petstore(["help"])).out, (await petstore(["--help"])).out);
  assert.equal((await petstore(["help", "acounts"])).code, 2);
});

test("the settings are listed with values, defaults and meanings", async (t) => {
  const { dataDir, json } = openShell(t);
  const { settings } = await json<{ settings: { name: string; value: string; default: string }[] }>("settings");
  const line = settings.find(({ name }) => name === "DATA_DIR");
  assert.deepEqual([line?.value, line?.default], [dataDir, "./data"]);
});
