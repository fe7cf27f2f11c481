import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { petstore, type Ended } from "./support/commands.ts";
import { openCustomer } from "./support/customer.ts";
import { temporaryFolder } from "./support/folder.ts";
import { openPlatform } from "./support/platform.ts";
import { rawZip } from "./support/zip-bytes.ts";

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

test("deploy publishes a folder and prints its address; domains add, check, list and remove work on it, and the exit code of check tells the result", async (t) => {
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
  assert.match(String(removed.json["warning"]), /still points to sites\.test/);
});

test("deploy publishes a zip file as it is, and lists what the service leaves out of it", async (t) => {
  const { platform, json } = await openOwner(t);
  const file = join(temporaryFolder(t), "My shop.zip");
  const contents = { "petstore.json": "{}", "index.html": "<h1>Luna</h1>", ".env": "SECRET=1" };
  await writeFile(file, rawZip(Object.entries(contents).map(([name, content]) => ({ name: `My shop/${name}`, content }))));
  const { code, json: answer } = await json("deploy", file);
  assert.deepEqual([code, answer["warnings"]], [0, ["Left out: .env."]]);
  assert.equal((await platform.http("luna.sites.test", "/")).body, "<h1>Luna</h1>");
});

test("domains add prints the records as a registrar expects them, with what an apex and a name of another account also need, and list names redirects", async (t) => {
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
    /ALIAS +@ +sites\.test +3600\nSome DNS providers call ALIAS ANAME, and some do not support it/,
  );
  const taken = await petstore({ dataDir, address, key: luna.key }, "domains", "add", "www.luna.test", "--project", "luna");
  assert.equal(taken.code, 4);
  assert.match(taken.error, /create a TXT record with the name _petstore-challenge\.www\.luna\.test and the value [0-9a-f]{40}, then add/);
  const proved = await domains("add", "shop.luna.test");
  assert.match(proved, /Create these records [^]*CNAME +shop +sites\.test +3600\nTXT +_petstore-challenge\.shop +\w{40} +3600\n/);
  assert.match(proved, /Another account has used a name of this domain: create the TXT record/);
  await luna.change("rex.test", { redirect: { to: "www.rex.test", status: 308 } });
  assert.match(await domains("list"), /^rex\.test .* 308 www\.rex\.test/m);
});

test("without certificates, check says so, and a verified name is fine; each required change is printed once", async (t) => {
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
  assert.match(
    verified.out,
    /^www\.luna\.test: verified, certificate none\nVisitors get the site\. www\.luna\.test is verified\.\n\nThis service orders no certificates/,
  );
});

test("check and list print what visitors of each name get and why, and a redirect that waits is a problem with an exit code of 1", async (t) => {
  const { platform, owner, json } = await openOwner(t);
  await owner("deploy", await newSite(t, { "index.html": "<h1>Luna</h1>" }));
  for (const hostname of ["www.luna.test", "old.luna.test"]) {
    platform.dns.set(hostname, "CNAME", ["sites.test"]);
    await owner("domains", "add", hostname);
  }
  await owner("domains", "add", "new.luna.test");
  await platform.service.publishing.idle();
  const redirect = (to: string) =>
    platform.service.ask("PATCH", "/projects/1/domains/old.luna.test", { body: { redirect: { to, status: 301 } } });

  assert.equal((await redirect("new.luna.test")).status, 200);
  const waiting = await owner("domains", "check", "old.luna.test");
  assert.equal(waiting.code, 1);
  assert.match(
    waiting.out,
    /^old\.luna\.test: verified, certificate issued\nVisitors get the site\. old\.luna\.test redirects to new\.luna\.test as soon as/,
  );
  assert.match(waiting.out, /because new\.luna\.test has not been verified\. [^]*\n {2}Verify new\.luna\.test\./);
  const shown = await json("domains", "check", "old.luna.test");
  assert.equal((shown.json["serving"] as { what: string }).what, "site");
  assert.deepEqual(
    (shown.json["problems"] as { code: string }[]).map(({ code }) => code),
    ["redirect_target_not_ready"],
  );

  assert.equal((await redirect("www.luna.test")).status, 200);
  const redirecting = await owner("domains", "check", "old.luna.test");
  assert.equal(redirecting.code, 0);
  assert.match(redirecting.out, /\nVisitors are redirected to www\.luna\.test\. old\.luna\.test redirects to www\.luna\.test\.\n$/);

  const { out } = await owner("domains", "list");
  assert.match(out, /^HOSTNAME .* VISITORS GET$/m);
  assert.match(out, /^www\.luna\.test .* site$/m);
  assert.match(out, /^old\.luna\.test .* 301 www\.luna\.test +redirect to www\.luna\.test$/m);
  assert.match(out, /^new\.luna\.test .* nothing$/m);
  assert.match(out, /\n\n[^\n]*new\.luna\.test[^\n]*\n {2}Create a CNAME record/);

  await platform.service.administration["accounts.setPlan"]({ id: platform.service.accountId, plan: "free" });
  const stopped = await owner("domains", "list");
  assert.match(stopped.out, /^www\.luna\.test .* nothing$/m);
  assert.match(stopped.out, /www\.luna\.test is not served[^\n]*\n {2}Have the plan changed to Pro or above/);
});

test("domains primary makes a verified name the address of its project and --off ends it; domains redirect sends visitors on, and --off serves the site", async (t) => {
  const { platform, owner, json } = await openOwner(t);
  await owner("deploy", await newSite(t, { "index.html": "<h1>Luna</h1>" }));
  for (const hostname of ["www.luna.test", "old.luna.test"]) {
    platform.dns.set(hostname, "CNAME", ["sites.test"]);
    await owner("domains", "add", hostname);
  }
  await platform.service.publishing.idle();
  const project = async () => (await platform.service.ask<{ url: string }>("GET", "/projects/1")).body.url;

  const primary = await owner("domains", "primary", "www.luna.test");
  assert.deepEqual([primary.code, primary.out], [0, "www.luna.test is the primary name of its project.\n"]);
  assert.match(await project(), /^https:\/\/www\.luna\.test:\d+$/);
  const off = await json("domains", "primary", "www.luna.test", "--off");
  assert.deepEqual([off.code, off.json["primary"]], [0, false]);
  assert.match(await project(), /luna\.sites\.test/);

  const redirect = ["domains", "redirect", "old.luna.test"];
  const redirected = await owner(...redirect, "--to", "www.luna.test", "--status", "308");
  assert.deepEqual([redirected.code, redirected.error], [0, ""]);
  assert.match(redirected.out, /^old\.luna\.test redirects to www\.luna\.test \(308\)\. Visitors are redirected to www\.luna\.test\./);
  const shown = await json(...redirect, "--to", "www.luna.test");
  assert.deepEqual([shown.code, shown.json["redirect"]], [0, { to: "www.luna.test", status: 301 }]);
  const ended = await owner(...redirect, "--off");
  assert.equal(ended.code, 0);
  assert.match(ended.out, /^old\.luna\.test no longer redirects\. Visitors get the site\./);
});

test("deploy reports a mistyped target, and prints the primary name's address if the deployment chose one", async (t) => {
  const { platform, owner, json } = await openOwner(t);
  await owner("deploy", await newSite(t, { "index.html": "one" }));
  platform.dns.set("www.luna.test", "CNAME", ["sites.test"]);
  await owner("domains", "add", "www.luna.test");
  await platform.service.publishing.idle();
  const site = (domains: object) => newSite(t, { "index.html": "two", "petstore.json": JSON.stringify({ domains }) });

  const failed = await owner("deploy", await site({ redirects: [{ from: "luna.test", to: "ww.luna.test" }] }));
  assert.equal(failed.code, 2);
  assert.match(failed.error, /No name "ww\.luna\.test" is attached to this project\. That looks like a typing error for www\.luna\.test\./);
  assert.equal((await platform.http("luna.sites.test", "/")).body, "one");

  const deployed = await json("deploy", await site({ primary: "www.luna.test" }));
  assert.match(String(deployed.json["url"]), /^https:\/\/www\.luna\.test:\d+$/);
});

test("a folder without index.html is deployed with a warning", async (t) => {
  const { platform, owner } = await openOwner(t);
  const { code, error } = await owner("deploy", await newSite(t, { "about/index.html": "<h1>Luna</h1>" }));
  assert.equal(code, 0);
  assert.equal(error.split("\n").filter((line) => line.includes("has no index.html")).length, 1, error);
  assert.equal((await platform.http("luna.sites.test", "/about/")).body, "<h1>Luna</h1>");
});

test("deploy says that a proxy's limit is too small", async (t) => {
  const { platform } = await openOwner(t);
  const { address } = platform.service;
  const proxy = createServer((request, response) => {
    if (request.method === "POST")
      return void request.resume().on("end", () => response.writeHead(413).end("<html>413 Request Entity Too Large</html>"));
    request.pipe(forward(`${address}${request.url ?? ""}`, request, response));
  });
  await once(proxy.listen(0, "127.0.0.1"), "listening");
  t.after(() => proxy.close());
  const host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const folder = await newSite(t, { "index.html": "hello" });
  const { code, error } = await petstore({ ...platform.service, address: `http://${host}` }, "deploy", folder, "--project", "luna");
  assert.equal(code, 2);
  const line = `petstore: A proxy in front of the service at ${host} refused the body as too large. Raise its limit to at least 50 MiB (nginx: client_max_body_size 51m).`;
  assert.equal(error.trim().split("\n").at(-1), line);
});

function forward(url: string, { method = "", headers }: IncomingMessage, response: ServerResponse) {
  return httpRequest(url, { method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
}
