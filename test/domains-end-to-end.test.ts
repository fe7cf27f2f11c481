import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Domain } from "../src/publishing/domains/domains.ts";
import type { Project } from "../src/publishing/projects/projects.ts";
import { petstore } from "./support/commands.ts";
import { codesOf } from "./support/customer.ts";
import { temporaryFolder } from "./support/folder.ts";
import { openPlatform } from "./support/platform.ts";
import { made } from "./support/shop.ts";

const site = "http://happy-paws.sites.test";
const www = "www.happy-paws.test";
const apex = "happy-paws.test";

test("a shop sets up its names: a mistyped redirect, its correction, a primary name, its removal, a plan that drops and comes back; the site is never lost", async (t) => {
  const platform = await openPlatform();
  t.after(() => platform.close());
  const { service, dns } = platform;
  const { id: account, key } = await service.newAccount("pro");
  const folder = temporaryFolder(t);
  const operator = (...words: string[]) => petstore(service, ...words);
  const owner = (...words: string[]) => petstore({ ...service, key }, ...words, "--project", "happy-paws");
  const deploy = async (heading: string, domains?: object) => {
    writeFileSync(join(folder, "index.html"), `<h1>${heading}</h1>`);
    writeFileSync(join(folder, "petstore.json"), JSON.stringify(domains ? { domains } : {}));
    return owner("deploy", folder);
  };
  const idle = () => service.publishing.idle();
  const { id } = await made<Project>(service, "POST", "/projects", { name: "Happy Paws", slug: "happy-paws" }, key);
  const project = () => made<Project>(service, "GET", `/projects/${id}`, undefined, key);
  const url = async () => (await project()).url.replace(/:\d+$/, "");
  const domain = (name: string) => platform.domain(id, name, key);
  const ask = (method: string, name: string, body?: object) =>
    service.ask<Domain>(method, `/projects/${id}/domains/${name}`, { key, ...(body && { body }) });
  /** What a visitor gets in the end, and how many redirects lead there. */
  const visit = async (host: string, hops = 0): Promise<string> => {
    const { status, headers, body } = await platform.http(host, "/").then((plain) => (plain.status === 308 ? follow(host, plain) : plain));
    if (status === 200 || status === 404) return `${status} ${body} after ${hops}`;
    return visit(new URL(headers.location!).hostname, hops + 1);
  };
  const follow = (host: string, plain: Awaited<ReturnType<typeof platform.http>>) =>
    new URL(plain.headers.location!).hostname === host ? platform.https(host, "/") : plain;

  // Two names are attached, and serve the site.
  assert.equal((await deploy("One")).code, 0);
  dns.set(www, "CNAME", ["sites.test"]);
  dns.set(apex, "A", ["127.0.0.1"]);
  for (const name of [www, apex]) assert.equal((await owner("domains", "add", name)).code, 0);
  await idle();
  for (const host of [www, apex, "happy-paws.sites.test"]) assert.equal(await visit(host), "200 <h1>One</h1> after 0");

  // A redirect to a name that is misspelled is refused with the name that was meant, and nothing has changed.
  const mistyped = await deploy("Two", { redirects: [{ from: apex, to: "wwww.happy-paws.test" }] });
  assert.equal(mistyped.code, 2);
  assert.match(mistyped.error, /domains\.redirects\[0\]\.to: No name "wwww\.happy-paws\.test".*typing error for www\.happy-paws\.test/);
  for (const host of [www, apex]) assert.equal(await visit(host), "200 <h1>One</h1> after 0");
  assert.equal((await ask("GET", "wwww.happy-paws.test")).status, 404);

  // Corrected, it is applied, and can be read back.
  assert.equal((await deploy("Two", { redirects: [{ from: apex, to: www }] })).code, 0);
  assert.equal(await visit(apex), "200 <h1>Two</h1> after 1");
  assert.deepEqual((await project()).domains, { primary: null, redirects: [{ from: apex, to: www, status: 301 }] });

  // A primary name is the address of the project, and everything else leads to it.
  assert.equal((await ask("PATCH", www, { primary: true })).status, 200);
  await made(service, "PATCH", `/projects/${id}`, { redirectToPrimary: true }, key);
  assert.equal(await url(), `https://${www}`);
  for (const host of [apex, "happy-paws.sites.test"]) assert.equal(await visit(host), "200 <h1>Two</h1> after 1");

  // Removing it leaves the site at every other name.
  const removed = await owner("domains", "remove", www);
  assert.match(removed.out, /delete its CNAME record.*serve the site now: happy-paws\.test/);
  for (const host of [apex, "happy-paws.sites.test"]) assert.equal(await visit(host), "200 <h1>Two</h1> after 0");
  assert.equal(await url(), site);
  assert.deepEqual(codesOf(await domain(apex)), ["redirect_target_not_ready"]);

  // It comes back with a deployment that names it, as it was.
  assert.equal((await deploy("Three", { primary: www, redirects: [{ from: apex, to: www }] })).code, 0);
  await idle();
  assert.equal(await url(), `https://${www}`);
  assert.equal(await visit(apex), "200 <h1>Three</h1> after 1");

  // A plan below Pro stops the names, which are listed before, and leaves the site at its address on the platform.
  const plan = (name: string, ...more: string[]) => operator("accounts", "set-plan", String(account), "--plan", name, ...more);
  const named = new RegExp(`2 domains [^\\n]*\\n {2}${apex}\\n {2}${www}`);
  assert.match((await plan("free", "--dry-run")).out, named);
  assert.equal(await visit(apex), "200 <h1>Three</h1> after 1");
  assert.match((await plan("free")).out, named);
  assert.equal(await visit("happy-paws.sites.test"), "200 <h1>Three</h1> after 0");
  assert.match(await visit(www), /^404/);
  assert.deepEqual(codesOf(await domain(www)), ["plan_required"]);
  assert.equal(await url(), site);

  // With the plan everything is back.
  assert.equal((await plan("pro")).code, 0);
  assert.equal(await url(), `https://${www}`);
  for (const host of [apex, "happy-paws.sites.test"]) assert.equal(await visit(host), "200 <h1>Three</h1> after 1");
  assert.deepEqual([codesOf(await domain(www)), codesOf(await domain(apex))], [[], []]);
});
