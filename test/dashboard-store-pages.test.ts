import { before, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { stage } from "./support/browser.ts";
import { choose } from "./support/dashboard-shop.ts";
import { assertAccessibleOnPhone } from "./support/pages.ts";
import { startService } from "./support/service.ts";
import { visitSignedIn } from "./support/signed-in.ts";

const sample = fileURLToPath(new URL("../examples/longbeach-sample.csv", import.meta.url));
const longName = "Sir Reginald Bartholomew-Featherstonehaugh-Cholmondeley of Donaudampfschifffahrtsgesellschaftskapitän";

const [browser, service] = await stage(startService);
const empty = await service.newAccount();

before(async () => {
  await service.ask("POST", "/categories", { body: { name: "Dogs", description: "Loyal. ".repeat(40) } });
  for (const name of ["Rex", "Luna", longName]) await service.ask("POST", "/pets", { body: { name, categoryId: 1 } });
  for (const [petId, quantity] of [
    [1, 0],
    [2, 2],
    [3, 1_000],
  ]) {
    await service.ask("PUT", `/store/inventory/${petId}`, { body: { quantity } });
  }
  await service.ask("POST", "/store/orders", { body: { petId: 3, shipDate: "2027-01-01T10:00:00Z" } });
  await service.ask("POST", "/store/orders", { body: { petId: 3, complete: true } });
});

type Scene = { name: string; path: string; isEmpty?: boolean; ready: (page: Page) => Promise<unknown> };
const given = (page: Page) => page.locator("input[type=file]").setInputFiles(sample);

const scenes: Scene[] = [
  { name: "animals", path: "/animals", ready: (page) => page.getByRole("link", { name: "Rex" }).waitFor() },
  { name: "no animals", path: "/animals", isEmpty: true, ready: (page) => page.getByText("No animals yet").waitFor() },
  {
    name: "an animal with stock",
    path: "/animals?animal=3",
    ready: (page) => page.getByRole("button", { name: "Stop counting" }).waitFor(),
  },
  {
    name: "a new animal that was refused",
    path: "/animals?new=true",
    ready: async (page) => {
      await page.getByRole("button", { name: "Create animal" }).click();
      await page.locator("[aria-invalid=true]").first().waitFor();
    },
  },
  {
    name: "an animal that cannot be deleted",
    path: "/animals",
    ready: async (page) => {
      await choose(page, longName, "Delete");
      await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
      await page.getByRole("alert").waitFor();
    },
  },
  { name: "an export", path: "/animals?export=true", ready: (page) => page.getByRole("radio").first().waitFor() },
  { name: "categories", path: "/categories", ready: (page) => page.getByRole("link", { name: "Dogs" }).waitFor() },
  { name: "a category", path: "/categories?category=1", ready: (page) => page.getByRole("button", { name: "Save changes" }).waitFor() },
  { name: "orders", path: "/orders", ready: (page) => page.getByRole("link", { name: longName }).first().waitFor() },
  { name: "an order", path: "/orders/1", ready: (page) => page.getByText("Placed").waitFor() },
  { name: "a new order", path: "/orders?order=1", ready: (page) => page.getByRole("button", { name: "Place order" }).waitFor() },
  { name: "inventory", path: "/inventory", ready: (page) => page.getByRole("link", { name: "Rex" }).waitFor() },
  { name: "a file to be chosen", path: "/import", ready: (page) => page.getByRole("button", { name: "Choose a file" }).waitFor() },
  {
    name: "a file that is mapped",
    path: "/import",
    ready: async (page) => {
      await given(page);
      await page.getByRole("button", { name: "Import 785 animals" }).waitFor();
      await page.getByRole("button", { name: "Clear the name’s second column" }).click();
      await page.getByRole("button", { name: "Download the rejects as CSV" }).waitFor();
    },
  },
];

for (const { name, path, isEmpty, ready } of scenes) {
  test(`${name}: axe finds nothing, and it fits a phone`, async (t) => {
    const account = isEmpty ? empty.id : service.accountId;
    const { page } = await visitSignedIn(t, browser, service, `/dashboard${path}`, { account });
    await ready(page);
    await assertAccessibleOnPhone(page);
  });
}
