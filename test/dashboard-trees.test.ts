import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { before, test } from "node:test";
import type { Page } from "playwright-core";
import { stage } from "./support/browser.ts";
import { goWithin, visit } from "./support/pages.ts";
import { startService } from "./support/service.ts";
import { visitSignedIn } from "./support/signed-in.ts";

/** With this setting the test writes the trees anew. */
const isRecording = process.env["PETSTORE_RECORD_TREES"] === "on";
const [browser, service] = await stage(startService);

before(async () => {
  await service.ask("POST", "/categories", { body: { name: "Dogs", description: "Loyal." } });
  for (const name of ["Rex", "Luna"]) await service.ask("POST", "/pets", { body: { name, categoryId: 1 } });
  for (const quantity of [4, 2]) await service.ask("PUT", "/store/inventory/1", { body: { quantity } });
  await service.ask("POST", "/store/orders", { body: { petId: 1, shipDate: "2027-01-01T10:00:00Z" } });
  await service.ask("POST", "/projects", { body: { name: "Rex’s shop", slug: "rex" } });
});

type Scene = { path: string; ready: (page: Page) => Promise<unknown> };
const button = (name: string) => (page: Page) => page.getByRole("button", { name, exact: true }).first().waitFor();
const text = (words: string) => (page: Page) => page.getByText(words).first().waitFor();

/** One page shows them in this order, each at another path than the one before. */
const scenes: Record<string, Scene> = {
  home: {
    path: "",
    ready: async (page) => {
      const animals = page.getByRole("link", { name: "Rex" });
      await Promise.all(["Open orders", "Low stock"].map((name) => page.getByRole("list", { name }).filter({ has: animals }).waitFor()));
    },
  },
  animals: { path: "/animals", ready: (page) => page.getByRole("textbox", { name: "Free units of Rex" }).waitFor() },
  orders: {
    path: "/orders",
    ready: async (page) => Promise.all([page.getByRole("link", { name: "Rex" }).waitFor(), page.locator("main td time").first().waitFor()]),
  },
  animal: {
    path: "/animals/1",
    ready: async (page) => Promise.all([button("Stop counting")(page), page.getByRole("list", { name: "History" }).waitFor()]),
  },
  order: {
    path: "/orders/1",
    ready: async (page) => Promise.all([text("Placed")(page), page.getByRole("link", { name: "Rex" }).waitFor()]),
  },
  keys: { path: "/keys", ready: text("Key 1") },
  usage: { path: "/usage", ready: (page) => page.getByRole("table", { name: "By key" }).waitFor() },
  domains: { path: "/domains", ready: text("Publish something first") },
  projects: { path: "/projects", ready: (page) => page.getByRole("table", { name: "Projects" }).waitFor() },
};

/** What a screen reader is told, apart from what differs between runs: times, keys, addresses, people and counts of requests. */
function masked(tree: string): string {
  const month = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)[a-z]*";
  return `${tree
    .replaceAll(new RegExp(`\\d{1,2} ${month} \\d{4}(?:,| at)? ?\\d\\d:\\d\\d`, "g"), "MOMENT")
    .replaceAll(/(?<=[ "])(?:now|\d+ (?:minute|hour)s? ago)(?=[ "]|$)/gm, "MOMENT")
    .replaceAll(/\d\d:\d\d(?::\d\d)?/g, "TIME")
    .replaceAll(/Resets in [^,]+|Resets now/g, "Resets in DURATION")
    .replaceAll(/(MOMENT Never )(?:Never|MOMENT)/g, "$1LAST USED") // a key's use is written a while after it
    .replaceAll(/(- cell "Never"\n\s+)- cell "(?:Never"|MOMENT":\n\s+- time: MOMENT)/g, '$1- cell "LAST USED"')
    .replaceAll(/p[sk]k_\w+/g, "KEY")
    .replaceAll(/[\w.+-]+@[\w.-]+/g, "EMAIL")
    .replaceAll(/(?:localhost|127\.0\.0\.1):\d+/g, "HOST")
    .replaceAll(/\b\d[\d,]*(?= (?:used|of (?:the )?\d|requests left))/g, "COUNT")
    .trimEnd()}\n`;
}

function compare(name: string, tree: string): void {
  const file = new URL(`fixtures/trees/${name}.yml`, import.meta.url);
  if (isRecording) writeFileSync(file, masked(tree));
  else assert.equal(masked(tree), readFileSync(file, "utf8"), "after a wanted change: npm run trees");
}

test("a screen reader finds the pages of the dashboard as recorded", async (t) => {
  const { page } = await visitSignedIn(t, browser, service, "/dashboard/account");
  for (const [name, { path, ready }] of Object.entries(scenes))
    await t.test(name, async () => {
      await goWithin(page, `/dashboard${path}`);
      await ready(page);
      await page.getByRole("status", { name: "Loading" }).first().waitFor({ state: "detached" });
      const part = page.getByRole("main");
      const region = name === "usage" ? part.getByRole("region", { name: "Blocked keys" }) : part;
      compare(name, await region.ariaSnapshot());
      if (name === "home") compare("navigation", await page.getByRole("navigation", { name: "Dashboard" }).ariaSnapshot());
    });
});

test("a screen reader finds sign-in as recorded", async (t) => {
  const { page } = await visit(t, browser, `${service.address}/sign-in`);
  await button("Sign in")(page);
  compare("sign-in", await page.getByRole("main").ariaSnapshot());
});
