import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { Page } from "playwright-core";
import { stage } from "./support/browser.ts";
import { choose } from "./support/dashboard-shop.ts";
import { temporaryFolder } from "./support/folder.ts";
import { goWithin } from "./support/pages.ts";
import { openPlatform } from "./support/platform.ts";
import { visitSignedIn } from "./support/signed-in.ts";

const hostile = `<img src=x onerror="document.title='taken'">{{1}}`;
const [browser, { service, ...platform }] = await stage(openPlatform);
const { account, key } = await service.administration["accounts.create"]({ name: hostile, plan: "pro" });
const made = async (path: string, body: object) => (await service.ask<{ id: number }>("POST", path, { key, body })).body.id;

const categoryId = await made("/categories", { name: hostile, description: hostile });
const petId = await made("/pets", { name: hostile, categoryId });
await service.ask("PUT", `/store/inventory/${petId}`, { key, body: { quantity: 1 } });
await made("/store/orders", { petId });
const project = await platform.project("hostile", { "index.html": "x" }, { key });
await service.ask("PATCH", `/projects/${project}`, { key, body: { name: hostile } });
await made("/projects", { name: hostile, slug: "another" });
platform.dns.set("www.hostile.test", "CNAME", ["<img/src=x/onerror=alert()>.test"]);
await platform.addDomain(project, "www.hostile.test", key);
await service.publishing.idle();

type Scene = { name: string; path: string; shows?: string; open?: (page: Page, t: TestContext) => Promise<unknown> };

/** One page shows them in this order, each at another path than the one before. */
const scenes: Scene[] = [
  { name: "animals", path: "/animals" },
  { name: "categories", path: "/categories" },
  { name: "an animal", path: "/animals/1" },
  { name: "orders", path: "/orders" },
  { name: "an animal that is to be deleted", path: "/animals", open: (page) => choose(page, hostile, "Delete") },
  { name: "a category", path: "/categories?category=1" },
  { name: "orders of an animal", path: "/orders?petId=1" },
  { name: "inventory", path: "/inventory" },
  { name: "a new order", path: "/orders?order=1" },
  { name: "a file that is previewed", path: "/import", open: giveFile },
  { name: "projects", path: "/projects" },
  { name: "a project's shop", path: `/projects/${project}/shop` },
  { name: "a project's versions", path: `/projects/${project}/versions` },
  {
    name: "a project that is to be deleted",
    path: `/projects/${project}/settings`,
    open: (page) => page.getByRole("button", { name: "Delete the project" }).click(),
  },
  { name: "the projects that domains are of", path: "/domains" },
  { name: "what DNS answered", path: `/projects/${project}/domains`, shows: "CNAME <img/src=x/onerror=alert()>.test" },
  { name: "the activity", path: "/activity?kind=pet" },
  { name: "the account", path: "/account", shows: "What your plan includes" },
];

test("a name that looks like HTML is shown as text", async (t) => {
  const { page } = await visitSignedIn(t, browser, service, "/dashboard/usage", { account: account.id });
  for (const { name, path, shows = hostile, open } of scenes)
    await t.test(name, async (inner) => {
      await goWithin(page, `/dashboard${path}`);
      await open?.(page, inner);
      await page.getByRole("main").or(page.getByRole("dialog")).getByText(shows).first().waitFor({ state: "attached" });
      await page.getByRole("navigation", { name: "Dashboard" }).getByText(hostile).waitFor({ state: "attached" });
      assert.equal(await page.locator("img").count(), 0);
      assert.notEqual(await page.title(), "taken");
    });
});

async function giveFile(page: Page, t: TestContext): Promise<void> {
  const file = join(temporaryFolder(t), "animals.csv");
  const quoted = `"${hostile.replaceAll('"', '""')}"`;
  await writeFile(file, `id,name,species,${quoted}\n1,${quoted},${quoted},${quoted}\n`);
  await page.locator("input[type=file]").setInputFiles(file);
  await page.getByRole("table", { name: "The first animals" }).getByText(hostile).nth(1).waitFor();
}
