import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Page } from "playwright-core";
import { stage } from "./support/browser.ts";
import { openDomainsPage } from "./support/domains-page.ts";
import { goWithin, phone } from "./support/pages.ts";
import { openPlatform } from "./support/platform.ts";
import { visitSignedIn } from "./support/signed-in.ts";

const [browser, platform] = await stage(openPlatform);
const project = await platform.project("rex", { "index.html": "<h1>Rex</h1>" });

const open = (t: TestContext, id: number) => visitSignedIn(t, browser, platform.service, `/dashboard/projects/${id}`);
const currentIn = (page: Page, name: string) =>
  page.getByRole("navigation", { name, exact: true }).locator("[aria-current]").allInnerTexts();

test("a project has one row of tabs, in the order of what an owner does, and belongs to Projects in the navigation", async (t) => {
  const { page } = await openDomainsPage(t, browser, platform, project);
  const tabs = page.getByRole("main").getByRole("navigation");
  await tabs.waitFor();
  assert.deepEqual(
    (await tabs.allInnerTexts()).map((text) => text.split(/\s+/)),
    [["Shop", "Versions", "Domains", "Settings"]],
  );
  const shown = { Settings: "Name and address", Versions: "Versions", Shop: "Your shop", Domains: "Domains" };
  for (const [tab, heading] of Object.entries(shown)) {
    await tabs.getByRole("link", { name: tab }).click();
    await page.getByRole("heading", { level: 2, name: heading }).waitFor();
    assert.deepEqual([await currentIn(page, "Dashboard"), await currentIn(page, "Project")], [["Projects"], [tab]]);
  }
  await page.setViewportSize(phone);
  const boxes = await Promise.all((await tabs.getByRole("link").all()).map((link) => link.boundingBox()));
  assert.equal(new Set(boxes.map((box) => box!.y)).size, 1, "one row on a phone too");
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.getByRole("navigation", { name: "Dashboard" }).getByRole("link", { name: "Usage" }).click();
  await page.waitForURL("**/dashboard/usage");
  assert.deepEqual(await currentIn(page, "Dashboard"), ["Usage"]);
});

test("the address of a project opens with its shop, or with the versions of an uploaded site; Back leaves the project", async (t) => {
  const { body } = await platform.service.ask<{ id: number }>("POST", "/projects", { body: { name: "New", slug: "new" } });
  const { page } = await open(t, body.id);
  await page.waitForURL(`**/projects/${body.id}/shop`);
  await page.getByRole("button", { name: "Publish the shop" }).click();
  await page.getByLabel("Name of the shop").waitFor();
  await goWithin(page, "/dashboard/projects");
  await page.getByRole("link", { name: "New", exact: true }).click();
  await page.waitForURL(`**/projects/${body.id}/shop`);
  await page.getByLabel("Name of the shop").waitFor();
  await page.goBack();
  await page.waitForURL("**/dashboard/projects");
  await page.getByRole("link", { name: "rex", exact: true }).click();
  await page.waitForURL(`**/projects/${project}/versions`);
  await page.getByRole("list", { name: "Versions, newest first" }).waitFor();
});
