import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Locator } from "playwright-core";
import { choose } from "../support/dashboard-shop.ts";
import { drop } from "../support/drop.ts";
import { temporaryFolder } from "../support/folder.ts";
import type { Scene } from "./scene.ts";

const name = "Happy Paws";
const slug = "happy-paws";
const site = "www.happy-paws.test";
const apex = "happy-paws.test";

export async function dropSite({ t, page, dialog, go, service }: Scene): Promise<void> {
  await go("Projects");
  await page.getByRole("button", { name: "Create a project" }).click();
  await dialog.getByLabel("Name").fill(name);
  await page.getByRole("button", { name: "Create the project" }).click();
  await page.getByRole("link", { name: "Upload your own website instead" }).click();
  await page.getByText("Nothing published yet").waitFor();
  await drop(newSite(t, "By drag and drop"), page.getByText("Drop a folder or a .zip here"));
  await page.getByText("Version 1 is live.").waitFor();
  assert.equal((await service.visitor.http(`${slug}.petstore.localhost`, "/")).body, "<h1>By drag and drop</h1>");
}

export async function deployByCommand({ t, page, service, petstore }: Scene, key: string): Promise<void> {
  await petstore(key, "deploy", newSite(t, "By command"), "--project", slug);
  const newest = page.getByRole("list", { name: "Versions, newest first" }).getByRole("listitem").first();
  await newest.getByText("Version 2", { exact: true }).waitFor();
  await newest.getByText("Live").waitFor();
  assert.equal((await service.visitor.http(`${slug}.petstore.localhost`, "/")).body, "<h1>By command</h1>");
}

export async function addDomain(scene: Scene): Promise<void> {
  await scene.page.getByRole("navigation", { name: "Project" }).getByRole("link", { name: "Domains" }).click();
  await enter(scene, site);
  const record = cardOf(scene, site).getByRole("region", { name: `CNAME record for ${site}` });
  assert.match(await record.innerText(), /Type\s+CNAME\s+Name\s+www\s+Value\s+petstore\.localhost\s+TTL \(seconds\)\s+3600/);
}

export async function setWrongRecord(scene: Scene): Promise<void> {
  scene.service.dns.set(site, "CNAME", ["petstore.localhost.happy-paws.test"]);
  await cardOf(scene, site)
    .getByRole("button", { name: `Verify ${site}` })
    .click();
  const problem = cardOf(scene, site).getByRole("list", { name: "What is wrong" }).getByRole("listitem");
  await problem.getByText("CNAME petstore.localhost.happy-paws.test").waitFor();
  assert.match(
    await problem.innerText(),
    /Expected\s+CNAME petstore\.localhost\s+Found\s+CNAME petstore\.localhost\.happy-paws\.test\s+What to do\s+\S/,
  );
}

export async function setRightRecord(scene: Scene): Promise<void> {
  scene.service.dns.set(site, "CNAME", ["petstore.localhost"]);
  await cardOf(scene, site)
    .getByRole("button", { name: `Verify ${site}` })
    .click();
  await cardOf(scene, site).getByText("Active").waitFor();
  await cardOf(scene, site).getByText("Certificate valid until").waitFor();
  const { status, body } = await scene.service.visitor.https(site, "/");
  assert.deepEqual([status, body], [200, "<h1>By command</h1>"]);
}

export async function redirectApex(scene: Scene): Promise<void> {
  const { page, dialog, service } = scene;
  service.dns.set(apex, "A", ["127.0.0.1"]);
  await enter(scene, apex);
  await cardOf(scene, apex).getByText("Active").waitFor();
  await choose(page, apex, "Redirect to another domain");
  await dialog.getByLabel("How long").selectOption("308");
  await dialog.getByRole("button", { name: "Save the redirect" }).click();
  await cardOf(scene, apex).getByText(`Redirects to ${site} (308)`).waitFor();
  const { status, headers } = await service.visitor.https(apex, "/cats?age=2");
  assert.equal(status, 308);
  assert.match(headers.location ?? "", /^https:\/\/www\.happy-paws\.test(:\d+)?\/cats\?age=2$/);
}

export async function removeDomain(scene: Scene): Promise<void> {
  const { page, dialog, service } = scene;
  await choose(page, site, "Remove");
  await dialog.getByRole("listitem").getByText(apex, { exact: true }).waitFor();
  assert.equal((await service.visitor.https(site, "/")).status, 200, "served until the answer");
  await dialog.getByRole("button", { name: "Remove" }).click();
  await page.getByRole("alert").getByText("delete its CNAME record at your registrar").waitFor();
  await assert.rejects(service.visitor.https(site, "/"));
  assert.equal((await service.visitor.http(site, "/")).status, 404);
  await cardOf(scene, site).waitFor({ state: "detached" });
}

const cardOf = ({ page }: Scene, hostname: string): Locator => page.getByRole("article", { name: new RegExp(`^${hostname}`) });

async function enter({ page, dialog }: Scene, hostname: string): Promise<void> {
  await page.getByRole("button", { name: "Add domain" }).first().click();
  await dialog.getByLabel("Domain name").fill(hostname);
  await dialog.getByRole("button", { name: "Add domain" }).click();
  await dialog.waitFor({ state: "detached" });
}

/** A folder with a page of one heading. */
function newSite(t: Scene["t"], heading: string): string {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, "petstore.json"), "{}");
  writeFileSync(join(folder, "index.html"), `<h1>${heading}</h1>`);
  return folder;
}
