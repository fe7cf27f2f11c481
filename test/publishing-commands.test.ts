import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { openCustomer } from "./support/customer.ts";
import { openPlatform } from "./support/platform.ts";

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));

test("deploy publishes a folder and prints its address; domains add, check, list and remove work on it, and check tells by its exit code", async (t) => {
  const platform = await openPlatform();
  const folder = await mkdtemp(join(tmpdir(), "petstore-site-"));
  t.after(async () => {
    await platform.close();
    await rm(folder, { recursive: true, force: true });
  });
  await mkdir(join(folder, "css"));
  await writeFile(join(folder, "petstore.json"), "{}");
  await writeFile(join(folder, "index.html"), "<h1>Luna</h1>");
  await writeFile(join(folder, "css", "a.css"), "h1{}");
  await platform.service.ask("POST", "/projects", { body: { name: "Luna", slug: "luna" } });
  const env = { PATH: process.env["PATH"], PETSTORE_URL: platform.service.address, PETSTORE_KEY: platform.service.key };
  const petstore = (...words: string[]) =>
    new Promise<{ code: number; json: Record<string, unknown> }>((done) => {
      execFile(process.execPath, [main, ...words, "--project", "luna", "--json"], { env }, (error, out) => {
        done({ code: error ? Number(error.code) : 0, json: JSON.parse(out || "{}") as Record<string, unknown> });
      });
    });

  const deployed = await petstore("deploy", folder);
  assert.equal(deployed.code, 0);
  assert.match(String(deployed.json["url"]), /^http:\/\/luna\.sites\.test:\d+$/);
  assert.equal((await platform.http("luna.sites.test", "/")).body, "<h1>Luna</h1>");
  assert.equal((await platform.http("luna.sites.test", "/css/a.css")).body, "h1{}");

  assert.equal((await petstore("domains", "add", "www.luna.test")).code, 0);
  const missing = await petstore("domains", "check", "www.luna.test");
  assert.equal(missing.code, 1);
  assert.deepEqual((missing.json["problems"] as { code: string }[])[0]?.code, "record_missing");
  platform.dns.set("www.luna.test", "CNAME", ["sites.test"]);
  await petstore("domains", "check", "www.luna.test");
  await platform.service.publishing.idle();
  assert.equal((await petstore("domains", "check", "www.luna.test")).code, 0);
  assert.equal((await petstore("domains", "list")).code, 0);
  const removed = await petstore("domains", "remove", "www.luna.test");
  assert.match(String(removed.json["warning"]), /still leads to sites\.test/);
});

test("domains add prints the records as a registrar takes them, with what an apex and a name of another account need besides, and list names redirects", async (t) => {
  const platform = await openPlatform();
  t.after(() => platform.close());
  const before = await openCustomer(platform, "before");
  await before.attach("www.luna.test");
  const luna = await openCustomer(platform, "luna");
  const env = { PATH: process.env["PATH"], PETSTORE_URL: platform.service.address, PETSTORE_KEY: luna.key };
  const domains = async (...words: string[]): Promise<string> =>
    (await promisify(execFile)(process.execPath, [main, "domains", ...words, "--project", "luna"], { env })).stdout;

  assert.match(
    await domains("add", "www.rex.test"),
    /Create this record at your registrar:\nTYPE +NAME +VALUE +TTL *\nCNAME +www +sites\.test +3600\n$/,
  );
  assert.match(
    await domains("add", "rex.test"),
    /ALIAS +@ +sites\.test +3600\nSome DNS providers call ALIAS ANAME, and not every one has it/,
  );
  const proved = await domains("add", "shop.luna.test");
  assert.match(proved, /Create these records [^]*CNAME +shop +sites\.test +3600\nTXT +_petstore-challenge\.shop +\w{40} +3600\n/);
  assert.match(proved, /another account: the TXT record shows that it is yours/);
  await luna.change("rex.test", { redirect: { to: "www.rex.test", status: 308 } });
  assert.match(await domains("list"), /^rex\.test .* 308 www\.rex\.test/m);
});
