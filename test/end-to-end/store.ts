import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { pick } from "../support/dashboard-shop.ts";
import type { Scene } from "./scene.ts";

const sample = fileURLToPath(new URL("../../examples/longbeach-sample.csv", import.meta.url));

export async function choosePassword({ page }: Scene): Promise<void> {
  await page.getByRole("button", { name: "Sign in with this link" }).click();
  await page.getByRole("heading", { name: "Choose a password" }).waitFor();
  await page.getByLabel("Email").fill("owner@shop.example");
  await page.getByRole("textbox", { name: "New password" }).fill("a good long password");
  await page.getByRole("button", { name: "Save and continue" }).click();
  await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
  await page.getByRole("list", { name: "Set up your shop" }).getByRole("link", { name: "Add your first animal, with a photo" }).waitFor();
}

export async function importPets({ page, go }: Scene): Promise<void> {
  await go("Import");
  await page.locator("input[type=file]").setInputFiles(sample);
  await page.getByText("1 value needs a status").waitFor();
  await pick(page, "Status for (empty)", "Available");
  const start = page.getByRole("button", { name: "Import 785 animals" });
  await start.waitFor();
  assert.equal(await page.getByRole("combobox", { name: "Category", exact: true }).inputValue(), "animal_type");
  const preview = page.getByRole("table", { name: "The first animals" });
  assert.ok((await preview.getByRole("row").count()) > 1);
  await start.click();
  await page.getByText("785 created, 0 changed, 0 unchanged, 0 rejected.").waitFor();
  await page.getByRole("link", { name: "Show the animals" }).click();
  await page.getByRole("searchbox", { name: "Search by name" }).fill("lala");
  await page.getByRole("link", { name: "lala", exact: true }).waitFor();
}

export async function orderTheOnlyOne({ page, dialog }: Scene): Promise<void> {
  await page.getByRole("link", { name: "lala", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "lala" }).waitFor();
  await page.getByRole("main").getByRole("link", { name: "New order", exact: true }).click();
  await dialog.getByRole("button", { name: "Place order" }).click();
  await page.getByRole("table", { name: "Orders" }).getByRole("link", { name: "lala" }).waitFor();
}

export async function orderOneTooMany({ page, dialog }: Scene): Promise<void> {
  const lala = page.getByRole("table", { name: "Orders" }).getByRole("link", { name: "lala" });
  const id = /\d+$/.exec((await lala.getAttribute("href")) ?? "")?.[0];
  // a form that was opened before the animal was sold out: the picker no longer offers it
  await page.goto(new URL(`/dashboard/orders?order=${id}`, page.url()).href);
  await dialog.getByRole("button", { name: "Place order" }).click();
  await dialog.getByText("There are too few free units.").waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await page.reload();
  await lala.first().waitFor();
  assert.equal(await lala.count(), 1);
}
