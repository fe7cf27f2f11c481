import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Page } from "playwright-core";
import { stage } from "./support/browser.ts";
import { assertAccessible, findings, goWithin, overflow, phone } from "./support/pages.ts";
import { openPlatform } from "./support/platform.ts";
import { visitSignedIn } from "./support/signed-in.ts";
import { rawZip } from "./support/zip-bytes.ts";

const [browser, platform] = await stage(openPlatform);

const open = (t: TestContext, path: string, options = {}) => visitSignedIn(t, browser, platform.service, path, options);
const navigation = (page: Page) => page.getByRole("navigation", { name: "Dashboard" });

async function choose(page: Page, command: string): Promise<void> {
  await page.keyboard.press("Control+k");
  await page.keyboard.type(command);
  await page.getByRole("dialog").locator("[data-selected=true]", { hasText: command }).waitFor();
  await page.keyboard.press("Enter");
}

async function newProject(slug: string, key: string): Promise<number> {
  const { body } = await platform.service.ask<{ id: number }>("POST", "/projects", { key, body: { name: slug, slug } });
  return body.id;
}

test("the navigation and the palette lead to projects and domains; Domains opens the only project's, or lets the owner choose", async (t) => {
  const { id: account, key } = await platform.service.newAccount("pro");
  const { page } = await open(t, "/dashboard/animals", { account });
  await choose(page, "Projects");
  await page.waitForURL("**/dashboard/projects");
  await navigation(page).getByRole("link", { name: "Domains" }).click();
  await page.getByText("Domains belong to a project.").waitFor();
  assert.deepEqual(await findings(page), []);
  const projectsRead = page.waitForResponse(/\/dashboard\/v1\/projects\?/);
  await page.getByRole("link", { name: "Create a project" }).click();
  await page.getByRole("dialog", { name: "Create a project" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await projectsRead; // the next page would take an answer that is under way for its own

  const only = await newProject("only", key);
  await choose(page, "Domains");
  await page.waitForURL(`**/dashboard/projects/${only}/domains`);
  await page.getByRole("heading", { level: 1, name: "only" }).waitFor();
  assert.match(await page.title(), /^Domains · only/);

  const second = await newProject("second", key);
  await navigation(page).getByRole("link", { name: "Domains" }).click();
  await page.getByRole("link", { name: "Domains of second" }).waitFor();
  await page.setViewportSize(phone);
  assert.equal(await overflow(page), 0);
  await assertAccessible(page);
  await page.getByRole("link", { name: "Domains of second" }).click();
  await page.waitForURL(`**/dashboard/projects/${second}/domains`);
});

test("without a project or a deployment, the page shows the deploy command with a copy button", async (t) => {
  const { id: account, key } = await platform.service.newAccount("pro");
  const { page, context } = await open(t, "/dashboard/projects", { account });
  const { address } = platform.service;
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: address });
  const copied = async (): Promise<string> => {
    const details = page.getByRole("group").filter({ hasText: "From a terminal instead" });
    await details.getByRole("button", { name: "Copy" }).click();
    return page.evaluate("navigator.clipboard.readText()");
  };
  const lines = ["projects create my-shop", "deploy ./site --project my-shop"];
  assert.equal(await copied(), lines.map((line) => `npm run petstore -- ${line} --url ${address}`).join("\n"));
  const id = await newProject("bare-one", key);
  await goWithin(page, `/dashboard/projects/${id}/versions`);
  assert.equal(await copied(), `npm run petstore -- deploy ./site --project bare-one --url ${address}`);
});

test("a member can publish like an owner: deploy, add and remove a domain, delete the project", async (t) => {
  const { id: account, key } = await platform.service.newAccount("pro");
  const id = await newProject("by-member", key);
  const { page } = await open(t, `/dashboard/projects/${id}/versions`, { account, role: "member" });
  const buffer = rawZip([
    { name: "petstore.json", content: "{}" },
    { name: "index.html", content: "by a member" },
  ]);
  const archive = { name: "site.zip", mimeType: "application/x-zip-compressed", buffer };
  await page.locator("input[type=file]:not([webkitdirectory])").setInputFiles(archive);
  await page.getByText(/^Version \d+ is live\./).waitFor();
  assert.equal((await platform.http("by-member.sites.test", "/")).body, "by a member");

  await page.getByRole("navigation", { name: "Project" }).getByRole("link", { name: "Domains" }).click();
  await page.getByRole("button", { name: "Add domain" }).first().click();
  await page.getByLabel("Domain name").fill("www.member.test");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Actions for www.member.test" }).click();
  await page.getByRole("menuitem", { name: "Remove" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await page.getByText("No domains yet").waitFor();

  await page.getByRole("navigation", { name: "Project" }).getByRole("link", { name: "Settings" }).click();
  await page.getByRole("button", { name: "Delete the project" }).click();
  await page.getByLabel("Type by-member to confirm").fill("by-member");
  await page.keyboard.press("Enter");
  await page.getByText("No projects yet").waitFor();
});

test("no page shows a project of another account, or anything about it", async (t) => {
  const id = await platform.project("theirs-alone", { "index.html": "theirs" });
  await platform.addDomain(id, "www.theirs-alone.test");
  const { id: account } = await platform.service.newAccount("pro");
  const { page } = await open(t, "/dashboard/projects", { account });
  for (const part of ["", "/shop", "/versions", "/settings", "/domains"]) {
    await goWithin(page, `/dashboard/projects/${id}${part}`);
    await page.getByText("There is no such project.").waitFor();
    assert.doesNotMatch(await page.content(), /theirs-alone/);
    await page.getByRole("main").getByRole("link", { name: "All projects" }).click();
    await page.getByText("No projects yet").waitFor();
    assert.doesNotMatch(await page.content(), /theirs-alone/);
  }
});
