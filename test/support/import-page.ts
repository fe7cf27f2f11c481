import { readFile } from "node:fs/promises";
import type { Download, Page } from "playwright-core";
import type { DashboardShop } from "./dashboard-shop.ts";
import type { Pet } from "./models.ts";

/** Chooses a file on the page of imports, also in place of the one that was chosen before. */
export async function give(page: Page, file: string): Promise<void> {
  const another = page.getByRole("button", { name: "Another file", exact: true });
  if (await another.isVisible()) await another.click();
  await page.locator("input[type=file][accept*=csv]").setInputFiles(file);
}

export const start = (page: Page, animals: string) => page.getByRole("button", { name: `Import ${animals} animals`, exact: true });

export async function summary(page: Page): Promise<string> {
  await page.getByRole("heading", { name: "Done" }).waitFor();
  return page.getByText(/created, .* unchanged/).innerText();
}

export async function petsOf(shop: DashboardShop): Promise<Pet[]> {
  const pets: Pet[] = [];
  let path: string | undefined = "/pets?limit=100";
  while (path !== undefined) {
    const page: { body: Pet[]; headers: Headers } = await shop.ask<Pet[]>("GET", path);
    pets.push(...page.body);
    path = /<\/v1([^>]+)>; rel="next"/.exec(page.headers.get("link") ?? "")?.[1];
  }
  return pets;
}

export async function textOf(download: Download): Promise<string> {
  return readFile(await download.path(), "utf8");
}
