import { test } from "node:test";
import type { Page } from "playwright-core";
import { stage } from "./support/browser.ts";
import { choose, openDashboardShop, type DashboardShop } from "./support/dashboard-shop.ts";
import { assertAccessibleOnPhone, goWithin } from "./support/pages.ts";
import { startService } from "./support/service.ts";

const longName = "Sir Reginald Bartholomew-Featherstonehaugh-Cholmondeley of Donaudampfschifffahrtsgesellschaftskapitän";

const [browser, service] = await stage(startService);

const binned = `${longName} the Elder`;

type Scene = { name: string; path: string; ready: (page: Page) => Promise<unknown> };

/** One page shows them in this order, each at another path than the one before. */
const scenes: Scene[] = [
  { name: "animals", path: "/animals", ready: (page) => page.getByRole("link", { name: "Rex" }).waitFor() },
  { name: "categories", path: "/categories", ready: (page) => page.getByRole("link", { name: "Dogs" }).waitFor() },
  {
    name: "an animal with stock",
    path: "/animals/3",
    ready: (page) => page.getByRole("button", { name: "Stop counting" }).waitFor(),
  },
  { name: "a category", path: "/categories?category=1", ready: (page) => page.getByRole("button", { name: "Save changes" }).waitFor() },
  {
    name: "a new animal that was refused",
    path: "/animals/new",
    ready: async (page) => {
      await page.getByRole("button", { name: "Create animal" }).click();
      await page.locator("[aria-invalid=true]").first().waitFor();
    },
  },
  { name: "orders", path: "/orders", ready: (page) => page.getByRole("link", { name: longName }).first().waitFor() },
  {
    name: "an animal that cannot be deleted",
    path: "/animals",
    ready: async (page) => {
      await choose(page, longName, "Delete");
      await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
      await page.getByRole("alert").waitFor();
    },
  },
  { name: "an order", path: "/orders/1", ready: (page) => page.getByRole("list", { name: "History" }).getByText("Placed").waitFor() },
  { name: "an export", path: "/animals?export=true", ready: (page) => page.getByRole("radio").first().waitFor() },
  { name: "a new order", path: "/orders?order=1", ready: (page) => page.getByRole("button", { name: "Place order" }).waitFor() },
  {
    name: "the price of chosen animals",
    path: "/animals?sort=name",
    ready: async (page) => {
      await page.getByRole("checkbox", { name: "Choose Rex", exact: true }).check();
      await page.getByRole("region", { name: "Chosen animals" }).getByRole("button", { name: "Price" }).click();
      await page.getByRole("dialog").getByText("Lower by").click();
      await page.getByRole("dialog").getByRole("textbox", { name: "Percent" }).fill("101");
      await page.locator("[aria-invalid=true]").first().waitFor();
    },
  },
  { name: "the bin", path: "/animals/bin", ready: (page) => page.getByRole("button", { name: `Restore ${binned}` }).waitFor() },
  {
    name: "what is deleted for good",
    path: "/animals?sort=-name",
    ready: async (page) => {
      await page.getByRole("link", { name: "Bin" }).click();
      await page.getByRole("checkbox", { name: `Choose ${binned}` }).check();
      await page.getByRole("region", { name: "Chosen animals" }).getByRole("button", { name: "Delete for good" }).click();
      await page.getByRole("dialog").waitFor();
    },
  },
  { name: "inventory", path: "/inventory", ready: (page) => page.getByRole("link", { name: "Rex" }).waitFor() },
  { name: "a file to be chosen", path: "/import", ready: (page) => page.getByRole("button", { name: "Choose a file" }).waitFor() },
];

test("the pages of a store: axe finds nothing, and they fit a phone", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const page = await shop.open("/animals");
  await page.getByText("No animals yet").waitFor();
  await assertAccessibleOnPhone(page, "no animals");
  await fill(shop);
  await goWithin(page, "/dashboard/usage");
  for (const { name, path, ready } of scenes)
    await t.test(name, async () => {
      await page.setViewportSize({ width: 1280, height: 900 });
      await goWithin(page, `/dashboard${path}`);
      await ready(page);
      await assertAccessibleOnPhone(page);
    });
});

async function fill(shop: DashboardShop): Promise<void> {
  await shop.ask("POST", "/categories", { name: "Dogs", description: "Loyal. ".repeat(40) });
  for (const name of ["Rex", "Luna", longName]) await shop.pet(name, 1);
  for (const [petId, quantity] of [
    [1, 0],
    [2, 2],
    [3, 1_000],
  ]) {
    await shop.ask("PUT", `/store/inventory/${petId}`, { quantity });
  }
  await shop.ask("POST", "/store/orders", { petId: 3, shipDate: "2027-01-01T10:00:00Z" });
  await shop.ask("POST", "/store/orders", { petId: 3, complete: true });
  await shop.bin(await shop.pet(binned, 1));
}
