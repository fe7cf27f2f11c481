import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { startBrowser } from "./support/browser.ts";
import { newMember } from "./support/dashboard.ts";
import { openPlatform, type Platform } from "./support/platform.ts";
import { visitSignedIn } from "./support/signed-in.ts";

const secret = "Zebulon";
let browser: Browser;
let platform: Platform;
let ids: Record<"category" | "animal" | "order" | "project", number>;

before(async () => {
  [browser, platform] = await Promise.all([startBrowser(), openPlatform()]);
  const { service } = platform;
  const made = async (path: string, body: object) => (await service.ask<{ id: number }>("POST", path, { body })).body.id;
  const category = await made("/categories", { name: `${secret}s` });
  const animal = await made("/pets", { name: secret, categoryId: category });
  await service.ask("PUT", `/store/inventory/${animal}`, { body: { quantity: 2 } });
  const order = await made("/store/orders", { petId: animal });
  const project = await platform.project("zebulon", { "index.html": secret });
  await platform.addDomain(project, "www.zebulon.test");
  await newMember(service, { account: service.accountId, email: "zebulon@shop.example", role: "owner" });
  ids = { category, animal, order, project };
});

after(async () => {
  await browser.close();
  await platform.close();
});

test("who belongs to another account finds nothing of a shop on any page, and by no address", async (t) => {
  const { id: account, key } = await platform.service.newAccount("pro");
  const { page } = await visitSignedIn(t, browser, platform.service, "/dashboard/animals", {
    account,
    role: "member",
    email: "me@x.example",
  });
  const pages: [path: string, shown: string][] = [
    ["/animals", "No animals yet"],
    ["/animals?q=zeb", "Nothing matches these filters"],
    [`/animals?categoryId=${ids.category}`, "Nothing matches these filters"],
    [`/animals?animal=${ids.animal}`, `Animal ${ids.animal} is not there (any more).`],
    ["/categories", "No categories yet"],
    [`/categories?category=${ids.category}`, "There is no category"],
    ["/orders", "No orders yet"],
    [`/orders?petId=${ids.animal}`, "Nothing matches these filters"],
    ["/inventory", "Nothing is tracked yet"],
    ["/projects", "No projects yet"],
    [`/projects/${ids.project}`, "There is no such project."],
    [`/projects/${ids.project}/settings`, "There is no such project."],
    [`/projects/${ids.project}/domains`, "There is no such project."],
    ["/domains", "No projects yet"],
    ["/keys", `${key.slice(0, 8)}…`],
    ["/usage", "No requests yet"],
    ["/account", "This one"],
  ];
  for (const [path, shown] of pages) {
    await page.goto(`${platform.service.address}/dashboard${path}`);
    await page.getByText(shown).first().waitFor();
    assert.doesNotMatch(await page.content(), new RegExp(`${secret}|${platform.service.key.slice(0, 8)}`, "i"), path);
  }
});
