import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test, type TestContext } from "node:test";
import type { Page } from "playwright-core";
import { stage } from "./support/browser.ts";
import { installPackage, run } from "./support/packages.ts";
import { visit } from "./support/pages.ts";
import { startService, type TestService } from "./support/service.ts";

const [browser, service] = await stage(startService);

/** An empty project with the packed client. */
let project: string;
before(async () => {
  project = await installPackage("./client");
});
after(() => rmSync(project, { recursive: true }));

/** The overview of a service without records, whose ids begin with 1 as those of the examples do. */
async function openNew(t: TestContext): Promise<{ page: Page; shop: TestService }> {
  const shop = await startService();
  t.after(() => shop.close());
  const { page } = await visit(t, browser, `${shop.address}/reference`);
  return { page, shop };
}

/** The command that sets the variables, as the page shows it, with a key in the place of its placeholder. */
async function variables(page: Page, { key }: TestService): Promise<string> {
  const shown = await page.getByRole("group", { name: "Make a key" }).innerText();
  assert.ok(shown.endsWith(" API_KEY=psk_…"), shown);
  return shown.replace("psk_…", key);
}

async function assertSold(shop: TestService): Promise<void> {
  assert.deepEqual((await shop.ask<object[]>("GET", "/categories")).body.length, 1);
  const [pet] = (await shop.ask<{ id: number; name: string }[]>("GET", "/pets")).body;
  const [order] = (await shop.ask<{ petId: number; quantity: number }[]>("GET", "/store/orders")).body;
  assert.deepEqual([pet?.name, order?.petId, order?.quantity], ["Bella", pet?.id, 2]);
}

test("the requests of the quick start work one after another in a shell, and the first is answered as it shows", async (t) => {
  const { page, shop } = await openNew(t);
  const [first = "", sale = ""] = await page.getByRole("group", { name: "curl" }).allInnerTexts();
  const script = `set -e\ncurl() { command curl -sS --fail-with-body "$@"; echo; }\n${await variables(page, shop)}\n${first}\necho ---\n${sale}`;
  const { code, out, error } = await run(spawn("bash", ["--norc", "-c", script], { stdio: ["ignore", "pipe", "pipe"] }));
  assert.deepEqual([code, error], [0, ""], out);
  const [answer = ""] = out.split("---");
  const shown = await page.getByRole("group", { name: "Example response: 201" }).innerText();
  assert.deepEqual({ ...(JSON.parse(answer) as object), id: 0 }, { ...(JSON.parse(shown) as object), id: 0 });
  await assertSold(shop);
});

test("its programs work with the package of the TypeScript client, one after another", async (t) => {
  const { page, shop } = await openNew(t);
  await page.getByRole("tab", { name: "TypeScript" }).first().click();
  const programs = await page.getByRole("group", { name: "TypeScript" }).allInnerTexts();
  assert.equal(programs.length, 2, "the chosen language applies to both");
  const commands = programs.map((program, i) => {
    writeFileSync(join(project, `program-${i}.mjs`), program);
    return `'${process.execPath}' program-${i}.mjs`;
  });
  const script = ["set -e", await variables(page, shop), ...commands].join("\n");
  const { code, error } = await run(spawn("bash", ["--norc", "-c", script], { cwd: project, stdio: ["ignore", "pipe", "pipe"] }));
  assert.deepEqual([code, error], [0, ""]);
  await assertSold(shop);
});

test("each step says its part in the description's words, once, and leads to more", async (t) => {
  const { page } = await visit(t, browser, `${service.address}/reference`);
  const steps = page.getByRole("region", { name: "Quick start" });
  assert.deepEqual(await steps.getByRole("heading", { level: 3 }).allInnerTexts(), [
    "Make a key",
    "Send the first request",
    "Read the answer",
    "Sell an animal",
    "Lists",
    "Changes",
    "Limits",
    "Errors",
  ]);
  const links = await Promise.all((await steps.getByRole("link").all()).map((link) => link.getAttribute("href")));
  const guides = ["paging", "idempotency", "limits", "errors"].map((name) => `/reference/guides/${name}`);
  assert.deepEqual(links, ["/dashboard/keys", "/reference/createCategory", ...guides]);
  const { info } = (await (await fetch(`${service.address}/openapi.json`)).json()) as { info: { description: string } };
  const main = (await page.locator("main").innerText()).replaceAll(/\s+/g, " ");
  for (const paragraph of info.description.split("\n\n")) {
    const text = paragraph.replace(/^\*\*\w+\.\*\* /, "").replaceAll(/[`*]/g, "");
    assert.equal(main.split(text).length, 2, text);
  }
});
