import assert from "node:assert/strict";
import { test } from "node:test";
import { stage } from "./support/browser.ts";
import { newMember } from "./support/dashboard.ts";
import { goWithin } from "./support/pages.ts";
import { openPlatform } from "./support/platform.ts";
import { visitSignedIn } from "./support/signed-in.ts";

const secret = "Zebulon";
const [browser, { service, ...platform }] = await stage(openPlatform);
const made = async (path: string, body: object) => (await service.ask<{ id: number }>("POST", path, { body })).body.id;

const category = await made("/categories", { name: `${secret}s` });
const animal = await made("/pets", { name: secret, categoryId: category });
await service.ask("PUT", `/store/inventory/${animal}`, { body: { quantity: 2 } });
await made("/store/orders", { petId: animal });
const project = await platform.project("zebulon", { "index.html": secret });
await platform.addDomain(project, "www.zebulon.test");
await newMember(service, { account: service.accountId, email: "zebulon@shop.example", role: "owner" });

test("a member of another account finds nothing of a shop on any page or at any address", async (t) => {
  const { id: account, key } = await service.newAccount("pro");
  const { page } = await visitSignedIn(t, browser, service, "/dashboard", {
    account,
    role: "member",
    email: "me@x.example",
  });
  const pages: [path: string, shown: string][] = [
    ["/animals", "No animals yet"],
    ["/categories", "No categories yet"],
    ["/animals?q=zeb", "Nothing matches these filters"],
    ["/orders", "No orders yet"],
    [`/animals?categoryId=${category}`, "Nothing matches these filters"],
    [`/categories?category=${category}`, "This does not exist."],
    [`/animals/${animal}`, `Animal ${animal} does not exist. It may have been deleted.`],
    [`/orders?petId=${animal}`, "Nothing matches these filters"],
    ["/inventory", "No stock is counted yet"],
    [`/projects/${project}`, "There is no such project."],
    ["/projects", "No projects yet"],
    [`/projects/${project}/shop`, "There is no such project."],
    [`/projects/${project}/versions`, "There is no such project."],
    [`/projects/${project}/settings`, "There is no such project."],
    ["/domains", "No projects yet"],
    [`/projects/${project}/domains`, "There is no such project."],
    ["/keys", `${key.slice(0, 8)}…`],
    ["/usage", "No requests yet"],
    ["/account", "This one"],
  ];
  for (const [path, shown] of pages) {
    await goWithin(page, `/dashboard${path}`);
    await page.getByText(shown).first().waitFor();
    const loaded = await page.request.get(page.url());
    const theirs = new RegExp(`${secret}|${service.key.slice(0, 8)}`, "i");
    for (const text of [await page.content(), await loaded.text()]) assert.doesNotMatch(text, theirs, path);
  }
});
