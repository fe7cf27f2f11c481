import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { petstore, type Ended } from "./support/commands.ts";
import { openCustomer } from "./support/customer.ts";
import { temporaryFolder } from "./support/folder.ts";
import { openPlatform } from "./support/platform.ts";

/** A platform with a project, and the commands as its owner gives them. */
async function openOwner(t: TestContext, env: Record<string, string> = {}) {
  const platform = await openPlatform({ env });
  t.after(() => platform.close());
  await platform.service.ask("POST", "/projects", { body: { name: "Luna", slug: "luna" } });
  const owner = (...words: string[]): Promise<Ended> => petstore(platform.service, ...words, "--project", "luna");
  const json = async (...words: string[]) => {
    const { code, out } = await owner(...words, "--json");
    return { code, json: JSON.parse(out || "{}") as Record<string, unknown> };
  };
  return { platform, owner, json };
}

async function newSite(t: TestContext, files: Record<string, string>): Promise<string> {
  const folder = temporaryFolder(t);
  for (const [name, text] of Object.entries({ "petstore.json": "{}", ...files })) {
    await mkdir(join(folder, name, ".."), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  return folder;
}

test("deploy publishes a folder and prints its address; domains add, check, list and remove work on it, and check tells by its exit code", async (t) => {
  const { platform, json } = await openOwner(t);
  const deployed = await json("deploy", await newSite(t, { "index.html": "<h1>Luna</h1>", "css/a.css": "h1{}" }));
  assert.equal(deployed.code, 0);
  assert.match(String(deployed.json["url"]), /^http:\/\/luna\.sites\.test:\d+$/);
  assert.equal((await platform.http("luna.sites.test", "/")).body, "<h1>Luna</h1>");
  assert.equal((await platform.http("luna.sites.test", "/css/a.css")).body, "h1{}");

  assert.equal((await json("domains", "add", "www.luna.test")).code, 0);
  const missing = await json("domains", "check", "www.luna.test");
  assert.equal(missing.code, 1);
  assert.deepEqual((missing.json["problems"] as { code: string }[])[0]?.code, "record_missing");
  platform.dns.set("www.luna.test", "CNAME", ["sites.test"]);
  const verified = await json("domains", "check", "www.luna.test");
  assert.equal(verified.code, 1, "its certificate is still to come");
  assert.equal((verified.json["certificate"] as { status: string }).status, "issuing");
  await platform.service.publishing.idle();
  assert.equal((await json("domains", "check", "www.luna.test")).code, 0);
  assert.equal((await json("domains", "list")).code, 0);
  const removed = await json("domains", "remove", "www.luna.test");
  assert.match(String(removed.json["warning"]), /still leads to sites\.test/);
});

test("domains add prints the records as a registrar takes them, with what an apex and a name of another account need besides, and list names redirects", async (t) => {
  const platform = await openPlatform();
  t.after(() => platform.close());
  const before = await openCustomer(platform, "before");
  await before.attach("www.luna.test");
  const luna = await openCustomer(platform, "luna");
  const { dataDir, address } = platform.service;
  const domains = async (...words: string[]): Promise<string> =>
    (await petstore({ dataDir, address, key: luna.key }, "domains", ...words, "--project", "luna")).out;

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

test("where certificates are off, check says so, and a name that verifies is all right; what is to change is said once", async (t) => {
  const { platform, owner } = await openOwner(t, { ACME_DIRECTORY_URL: "", ACME_CAA_IDENTITIES: "" });
  await owner("deploy", await newSite(t, { "index.html": "<h1>Luna</h1>" }));
  await owner("domains", "add", "www.luna.test");
  const missing = await owner("domains", "check", "www.luna.test");
  assert.equal(missing.code, 1);
  assert.equal(missing.out.split("CNAME").length, 2, missing.out);
  assert.match(missing.out, /Create a CNAME record: name "www", value "sites\.test", TTL 3600\./);
  platform.dns.set("www.luna.test", "CNAME", ["sites.test"]);
  const verified = await owner("domains", "check", "www.luna.test");
  assert.equal(verified.code, 0);
  assert.match(verified.out, /^www\.luna\.test: verified, certificate none\n\nCertificates are off/);
});

test("a folder without index.html is deployed with a warning", async (t) => {
  const { platform, owner } = await openOwner(t);
  const { code, error } = await owner("deploy", await newSite(t, { "about/index.html": "<h1>Luna</h1>" }));
  assert.equal(code, 0);
  assert.equal(error.split("\n").filter((line) => line.includes("has no index.html")).length, 1, error);
  assert.equal((await platform.http("luna.sites.test", "/about/")).body, "<h1>Luna</h1>");
});
