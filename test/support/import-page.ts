import { readFile } from "node:fs/promises";
import type { Download, Page } from "playwright-core";
import type { DashboardShop } from "./dashboard-shop.ts";
import type { Pet } from "./models.ts";

export async function give(page: Page, file: string): Promise<void> {
  await page.goto(new URL("/dashboard/import", page.url()).href);
  await page.locator("input[type=file]").setInputFiles(file);
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
