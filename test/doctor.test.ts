import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, test } from "node:test";
import { runCommand } from "./support/commands.ts";
import { temporaryFolder } from "./support/folder.ts";
import { secretsKey, startService, type TestService } from "./support/service.ts";

type Finding = { check: string; level: string; message: string; fix: string | null };

/** A service with the embedded database, whichever engine the run is on. */
let shop: TestService;
before(async () => {
  shop = await startService();
});
after(() => shop.close());

/** Free ports, and no service beyond this machine. */
const quiet = { PORT: "0", EDGE_HTTP_PORT: "0", EDGE_HTTPS_PORT: "0" };

async function examined(env: Record<string, string>): Promise<{ code: number; findings: Finding[]; out: string }> {
  const { code, out } = await runCommand(["doctor", "--json"], { ...quiet, ...env });
  const { findings, healthy } = JSON.parse(out) as { healthy: boolean; findings: Finding[] };
  assert.equal(healthy, code === 0);
  for (const { level, fix } of findings) assert.equal(fix === null, level === "ok");
  return { code, findings, out };
}
const levelOf = (findings: Finding[], check: string) => findings.find((finding) => finding.check === check)?.level;

test("a running service has no faults, and its own port counts as none; the lines say so", async () => {
  const { port } = new URL(shop.address);
  const { code, findings } = await examined({ DATA_DIR: shop.dataDir, PORT: port });
  assert.equal(code, 0, JSON.stringify(findings));
  for (const check of ["settings", "folder", "database", "redis", `port ${port}`, "dns", "acme", "clock"]) {
    assert.equal(levelOf(findings, check), "ok", check);
  }
  const { out } = await runCommand(["doctor"], { ...quiet, DATA_DIR: shop.dataDir, PORT: port });
  assert.match(out, /^ok +settings: /);
});

test("a problem of this machine is a fault with a fix, and exit code 1: setting, port, folder, data", async (t) => {
  for (const [name, value] of [
    ["PORT", "x"],
    ["REDIS_URL", "redis://:s3cret%off@127.0.0.1:6379"],
    ["DATABASE_URL", "postgres://shop:12/s3cret@127.0.0.1/shop"],
  ] as const) {
    const wrong = await examined({ [name]: value });
    assert.deepEqual([wrong.code, wrong.findings.map(({ check, level }) => [check, level])], [1, [["settings", "fault"]]]);
    assert.ok(wrong.findings[0]!.message.startsWith(`${name}="`) && !wrong.out.includes("s3cret"), wrong.out);
  }

  const holder = createServer().listen(0, "127.0.0.1");
  await once(holder, "listening");
  t.after(() => holder.close());
  const { port } = holder.address() as AddressInfo;
  const folder = join(temporaryFolder(t), "absent");
  const held = await examined({ DATA_DIR: folder, PORT: String(port) });
  assert.deepEqual([held.code, levelOf(held.findings, `port ${port}`)], [1, "fault"]);
  assert.equal(existsSync(folder), false, "the doctor makes no folder");

  const own = temporaryFolder(t);
  const file = new DatabaseSync(join(own, "petstore.db"));
  file.exec("CREATE TABLE migrations (number INTEGER, applied_at INTEGER); INSERT INTO migrations VALUES (9999, 4102444800000)");
  file.close();
  await chmod(own, 0o755);
  const newer = await examined({ DATA_DIR: own });
  assert.deepEqual([newer.code, levelOf(newer.findings, "database"), levelOf(newer.findings, "clock")], [1, "fault", "fault"]);
  assert.ok(newer.findings.some(({ check, level }) => check === "folder" && level === "warning"));
});

test("a service that does not answer is a fault with exit code 6, and no secret is printed", async (t) => {
  const { code, findings, out } = await examined({
    DATA_DIR: temporaryFolder(t),
    DATABASE_URL: "postgres://shop:s3cret@127.0.0.1:9/shop",
    SECRETS_KEY: secretsKey,
    REDIS_URL: "redis://:s3cret@127.0.0.1:9",
    ACME_DIRECTORY_URL: "https://127.0.0.1:9/directory",
    PLATFORM_DOMAIN: "shops.example",
    DNS_SERVERS: "127.0.0.1:9",
  });
  assert.equal(code, 6);
  for (const check of ["database", "redis", "acme", "dns"]) assert.equal(levelOf(findings, check), "fault", check);
  assert.doesNotMatch(out, /s3cret/);
});
