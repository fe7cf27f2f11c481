import assert from "node:assert/strict";
import { test } from "node:test";
import { stage } from "./support/browser.ts";
import { openDomainsPage } from "./support/domains-page.ts";
import { openPlatform } from "./support/platform.ts";

const [browser, platform] = await stage(openPlatform);
const project = await platform.project("rex", { "index.html": "<h1>Rex</h1>" });

test("a project's domains are a part of its settings, and belong to Projects in the navigation", async (t) => {
  const { page } = await openDomainsPage(t, browser, platform, project);
  const currentIn = (name: string) => page.getByRole("navigation", { name, exact: true }).locator("[aria-current]").allInnerTexts();
  assert.deepEqual(await currentIn("Dashboard"), ["Projects"]);
  assert.deepEqual([await currentIn("Project"), await currentIn("Settings")], [["Settings"], ["Domains"]]);
  await page.getByRole("link", { name: "General" }).click();
  await page.getByRole("heading", { name: "Name and address" }).waitFor();
  assert.deepEqual([await currentIn("Project"), await currentIn("Settings")], [["Settings"], ["General"]]);
  await page.getByRole("link", { name: "Versions" }).click();
  await page.getByRole("heading", { name: "Versions" }).waitFor();
  assert.deepEqual([await currentIn("Dashboard"), await currentIn("Project")], [["Projects"], ["Versions"]]);
  const tabs = await page.getByRole("navigation", { name: "Project" }).innerText();
  assert.deepEqual(tabs.split(/\s+/), ["Versions", "Settings"]);
  await page.getByRole("navigation", { name: "Dashboard" }).getByRole("link", { name: "Usage" }).click();
  await page.waitForURL("**/dashboard/usage");
  assert.deepEqual(await currentIn("Dashboard"), ["Usage"]);
});
