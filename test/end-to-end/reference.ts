import assert from "node:assert/strict";
import type { Locator } from "playwright-core";
import type { Scene } from "./scene.ts";

const panelIn = ({ page }: Scene): Locator => page.getByRole("region", { name: "Try it" });

export async function tryAnOperation(scene: Scene, key: string): Promise<void> {
  const { page, service } = scene;
  await page.goto(`${service.address}/reference/listPets`);
  const panel = panelIn(scene);
  await panel.getByLabel("API key").fill(key);
  await panel.getByLabel("status").fill("pending");
  await panel.getByLabel("q", { exact: true }).fill("lala");
  await panel.getByRole("button", { name: "Send" }).click();
  await panel.getByText("200 OK").waitFor();
  assert.match(await panel.getByRole("tabpanel").innerText(), /"name": "lala"/);
  await panel.getByText(/ of 300 requests left, resets at /).waitFor();
  await panel.getByRole("tab", { name: /^Headers/ }).click();
  const headers = await panel.getByRole("table").innerText();
  for (const name of ["Limit", "Remaining", "Reset"]) assert.match(headers, new RegExp(`X-RateLimit-${name}\\s+\\d+`));
  const curl = await panel.getByRole("group", { name: "curl" }).innerText();
  assert.match(curl, /^curl /);
  assert.ok(curl.includes(`${service.address}/v1/pets?`) && curl.includes("q=lala") && !curl.includes(key));
}

export async function findNothingToTry(scene: Scene): Promise<void> {
  const { page, service } = scene;
  await page.goto(`${service.address}/reference/listOrders#try-it`);
  await page.getByRole("heading", { level: 1, name: "List orders" }).waitFor();
  await page.waitForLoadState("networkidle");
  assert.equal(await panelIn(scene).count(), 0);
  assert.equal(await page.getByText("Try it").count(), 0);
  assert.equal(await page.getByLabel("API key").count(), 0);
  assert.equal(await page.getByRole("button", { name: "Send" }).count(), 0);
}
