import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { openShell, main } from "../test/support/shell.ts";
import { openAdministration } from "./administration/administration.ts";
import { openStorage, socketPath } from "./app/storage.ts";
import { wellFormed } from "./callers/keys/keys.ts";
import { openKeyVerifier } from "./callers/keys/verify.ts";
import { openMemoryLimiter } from "./callers/limits/memory.ts";
import { openStateFile } from "./callers/limits/state-file.ts";
import { systemClock } from "./platform/clock.ts";
import { noOtherNodes } from "./platform/nodes/nodes.ts";
import { openSocket } from "./platform/socket.ts";

type Created = { account: { id: number; name: string; plan: string }; key: string };
type CreatedKey = { id: number; key: string; scopes: string[] };

test("without a server the commands work on the folder, which they make for its owner alone", async (t) => {
  const { dataDir, json, petstore } = openShell(t);
  const created = await json<Created>("accounts", "create", "--name", "Paws", "--plan", "pro");
  assert.deepEqual(created, { account: { id: 1, name: "Paws", plan: "pro" }, key: created.key });
  assert.ok(wellFormed(created.key));
  assert.equal(statSync(dataDir).mode & 0o777, 0o700);
  assert.equal(statSync(join(dataDir, "petstore.db")).mode & 0o777, 0o600);

  const key = await json<CreatedKey>("keys", "create", "--account", "1", "--scope", "orders:read", "--scope", "account:read");
  assert.deepEqual(key, { id: 2, key: key.key, scopes: ["orders:read", "account:read"] });
  const rotated = await json<CreatedKey>("keys", "rotate", "2", "--overlap", "0.5");
  assert.equal(rotated.id, 3);
  const web = ["--publishable", "--name", "Shop", "--origin", "https://shop.example", "--origin", "https://www.shop.example"];
  await json<CreatedKey>("keys", "create", "--account", "1", ...web);
  const listed = await petstore(["keys", "list", "--account", "1"]);
  assert.match(listed.out, /^4 +Shop +psp_.*https:\/\/shop\.example https:\/\/www\.shop\.example$/m);
  await json("keys", "revoke", "2");
  const { keys } = await json<{ keys: { id: number }[] }>("keys", "list", "--account", "1");
  assert.deepEqual(
    keys.map(({ id }) => id),
    [1, 3, 4],
  );

  await json(
    "accounts",
    "set-plan",
    "1",
    "--plan",
    "enterprise",
    "--per-minute",
    "7",
    "--per-day",
    "70",
    "--records",
    "700",
    "--published-bytes",
    "7000000000",
    "--event-bytes",
    "70000",
  );
  const { accounts } = await json<{ accounts: object[] }>("accounts", "list");
  const publishedBytes = { limit: 7_000_000_000, used: 0, remaining: 7_000_000_000 };
  assert.partialDeepStrictEqual(accounts, [{ perMinute: 7, records: { limit: 700, used: 0, remaining: 700 }, publishedBytes }]);
  assert.partialDeepStrictEqual(accounts, [{ eventBytes: { limit: 70_000 } }]);
  await json("accounts", "delete", "1", "--yes");
  assert.deepEqual(await json("accounts", "list"), { accounts: [] });
});

test("while a process serves the folder it runs the commands, and knows of each at once", async (t) => {
  const { dataDir, spawned, json } = openShell(t);
  const { db, close } = await openStorage({ dataDir, databaseUrl: "" }, "petstore serve", 0);
  const verifier = openKeyVerifier(db, systemClock);
  const administration = openAdministration({
    db,
    clock: systemClock,
    verifier,
    limiter: { unban: () => false },
    announcer: noOtherNodes,
    publicUrl: "https://pets.example",
    directoryUrl: "",
    ports: { edgeHttpPort: 0, edgeHttpsPort: 0, edgePublicHttpPort: 0, edgePublicHttpsPort: 0 },
    secrets: () => assert.fail("no operation here needs the keys"),
  });
  const socket = await openSocket(socketPath({ dataDir }), administration, assert.ifError);
  t.after(async () => {
    await socket.close();
    await close();
  });

  const { account, key } = await json<Created>("accounts", "create", "--name", "Paws", "--plan", "free");
  assert.equal((await verifier.verify(key))?.accountId, account.id);
  await json("accounts", "set-plan", String(account.id), "--plan", "business");
  assert.equal((await verifier.verify(key))?.plan, "business");
  await json("keys", "revoke", "1");
  assert.equal(await verifier.verify(key), undefined);

  const refused = await spawned("migrate");
  assert.equal(refused.code, 1);
  assert.match(refused.error, /^petstore: .* is in use by petstore serve \(process \d+\)\n$/);
});

test("without a server keys unban ends a ban where the next server will look for it", async (t) => {
  const { dataDir, json } = openShell(t);
  await json<Created>("accounts", "create", "--name", "Paws", "--plan", "free");
  const free = { perMinute: 60, perDay: 1_000 };
  const limiter = openMemoryLimiter({ clock: systemClock, addressQuota: free });
  const counters = openStateFile(join(dataDir, "limits.state"), limiter);
  for (let i = 0; i < 100; i++) limiter.account(1, 1, { perMinute: 1, perDay: 1 });
  await counters.save();
  const unban = async () => (await json<{ unbanned: boolean }>("keys", "unban", "1")).unbanned;
  assert.deepEqual([await unban(), await unban()], [true, false]);
});

test("a refusal is one line on stderr, with the exit code of its class; with --json an object", async (t) => {
  const { petstore } = openShell(t);
  const plain = await petstore(["accounts", "create", "--name", "A", "--plan", "gold"]);
  assert.deepEqual(plain, { code: 2, out: "", error: "petstore: plan must be one of free, pro, business, enterprise.\n" });
  const object = await petstore(["keys", "list", "--account", "9", "--json"]);
  assert.deepEqual([object.code, object.out], [3, ""]);
  assert.deepEqual(JSON.parse(object.error), { code: "not_found", message: "There is no account 9." });
  const odd = await petstore(["keys", "revoke", "1e3"]);
  assert.equal(odd.error, "petstore: id must be integer.\n");
});

test("the process ends with the exit code of the command, whose output and refusals are on stdout and stderr", async (t) => {
  const { spawned, dataDir } = openShell(t);
  const created = await spawned("accounts", "create", "--name", "Paws", "--plan", "free", "--json");
  assert.deepEqual([created.code, created.error], [0, ""]);
  assert.equal((JSON.parse(created.out) as Created).account.id, 1);
  assert.equal(statSync(dataDir).mode & 0o777, 0o700);
  const refused = await spawned("accounts", "create", "--name", "A", "--plan", "gold");
  assert.deepEqual(refused, { code: 2, out: "", error: "petstore: plan must be one of free, pro, business, enterprise.\n" });
  const unread = await spawned("keys", "revoke", "--json");
  assert.deepEqual([unread.code, unread.out, JSON.parse(unread.error)], [2, "", { code: "usage", message: "KEYID is required" }]);
});

test("an account is deleted only when --yes is said", async (t) => {
  const { petstore, json } = openShell(t);
  await json("accounts", "create", "--name", "Paws", "--plan", "free");
  const refused = await petstore(["accounts", "delete", "1"]);
  assert.equal(refused.code, 2);
  assert.match(refused.error, /--yes/);
  const { accounts } = await json<{ accounts: object[] }>("accounts", "list");
  assert.equal(accounts.length, 1);
});

const unreadable: [line: string, reason: RegExp][] = [
  ["", /a command is needed/],
  ["acounts list", /no command "acounts"/],
  ["accounts make", /no command "accounts make"[^]*accounts create/],
  ["accounts create --name A", /--plan is required/],
  ["accounts list --colour red", /Unknown option '--colour'/],
  ["keys create --account", /--account/],
  ["keys revoke", /KEYID is required/],
  ["keys revoke 1 2", /unexpected argument "2"/],
];
for (const [line, reason] of unreadable) {
  test(`\`petstore ${line}\` is answered with how to say it, on stderr with exit code 2`, async (t) => {
    const { code, out, error } = await openShell(t).petstore(line.split(" ").filter(Boolean));
    assert.equal(code, 2);
    assert.equal(out, "");
    assert.match(error, reason);
    assert.match(error, /Usage: petstore /);
  });
}

test("a reader that goes away early is no failure", async (t) => {
  const { dataDir } = openShell(t);
  const child = spawn(process.execPath, [main, "settings"], { env: { DATA_DIR: dataDir }, stdio: ["ignore", "pipe", "pipe"] });
  child.stdout.destroy();
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  assert.deepEqual(await Promise.all([ended, text(child.stderr)]), [0, ""]);
});

test("a bad setting stops a command with one line that names it", async (t) => {
  const { code, error } = await openShell(t).petstore(["settings"], { PORT: "eighty" });
  assert.equal(code, 1);
  assert.match(error, /^petstore: PORT="eighty" is not allowed: [^\n]+\n$/);
});

type Invited = { member: { id: number; email: string; role: string }; link: string };

test("members are invited, reset and removed by command, each time with a new sign-in link of the public origin", async (t) => {
  const { petstore, json } = openShell(t);
  await json("accounts", "create", "--name", "Paws", "--plan", "pro");
  const ann = ["--account", "1", "--email", "ann@paws.example"];
  const { member, link } = await json<Invited>("members", "invite", ...ann);
  assert.deepEqual([member.email, member.role], ["ann@paws.example", "owner"]);
  const { error: warning } = await petstore(["members", "reset", ...ann]);
  assert.equal(
    warning,
    "petstore: PUBLIC_URL is not set, so the address begins with http://localhost:8080: set it as the service has it\n",
  );
  const { out, error } = await petstore(["members", "reset", ...ann], { PUBLIC_URL: "https://pets.example" });
  assert.equal(error, "");
  const again = /^https:\/\/pets\.example\/sign-in#token=([\w-]{43})$/m.exec(out)?.[1];
  assert.ok(again && !link.endsWith(again));
  assert.match(link, /^http:\/\/localhost:8080\/sign-in#token=[\w-]{43}$/);

  const ben = ["--account", "1", "--email", "ben@paws.example"];
  assert.equal((await json<Invited>("members", "invite", ...ben)).member.role, "member");
  assert.match((await petstore(["members", "remove", ...ann])).error, /needs an owner/);
  await json("members", "remove", ...ben);
  const { members } = await json<{ members: Invited["member"][] }>("members", "list", "--account", "1");
  assert.deepEqual(
    members.map(({ email }) => email),
    ["ann@paws.example"],
  );
  assert.match((await petstore(["members", "reset", ...ben])).error, /no member ben@paws\.example/);
});

test("commands that need a store make no folder, and say where they looked", async (t) => {
  const { dataDir, petstore } = openShell(t);
  const commands = [
    ["accounts", "list"],
    ["accounts", "set-plan", "1", "--plan", "pro"],
    ["keys", "create", "--account", "1"],
    ["keys", "unban", "1"],
    ["members", "list", "--account", "1"],
    ["repair", "--yes"],
  ];
  for (const words of commands) {
    const { code, out, error } = await petstore(words);
    assert.deepEqual([code, out], [3, ""], words.join(" "));
    assert.equal(
      error,
      `petstore: There is no pet store in ${dataDir}. Set DATA_DIR to the data folder of the service, such as DATA_DIR=/var/lib/petstore.\n`,
    );
    assert.equal(existsSync(dataDir), false);
  }
  mkdirSync(dataDir);
  assert.equal((await petstore(["accounts", "list"])).code, 3);
  assert.deepEqual(readdirSync(dataDir), [], "a folder without a store stays as it is");
  assert.equal((await petstore(["accounts", "create", "--name", "A", "--plan", "pro"])).code, 0, "the first account may begin one");
  assert.equal((await petstore(["accounts", "list"])).code, 0);
});
