import assert from "node:assert/strict";
import { readdirSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test, type TestContext } from "node:test";
import { stage } from "./support/browser.ts";
import { petstore } from "./support/commands.ts";
import { assertAccessibleOnPhone, visit } from "./support/pages.ts";
import { startService } from "./support/service.ts";
import { newCategory } from "./support/shop.ts";

const [browser, service] = await stage(startService);
const folder = await mkdtemp(join(tmpdir(), "petstore-reference-"));
after(() => rm(folder, { recursive: true, force: true }));
let url: string;

before(async () => {
  const site = join(folder, "shop");
  const asked = ["--account", String(service.accountId), "--url", service.address, "--reference"];
  const started = await petstore(service, "init", site, ...asked);
  assert.equal(started.code, 0, started.error);
  assert.equal((await petstore(service, "projects", "create", "shop")).code, 0);
  const deployed = await petstore(service, "deploy", site, "--project", "shop", "--json");
  assert.equal(deployed.code, 0, deployed.error);
  ({ url } = JSON.parse(deployed.out) as { url: string });
});

const open = (t: TestContext, path: string, options = {}) =>
  visit(t, browser, `${url}/reference${path}`, options, [new URL(service.address).host]);

test("a published operation opens by its address, and the overview says where the API is", async (t) => {
  const { page } = await open(t, "/listPets");
  await page.getByRole("heading", { level: 1, name: "List pets" }).waitFor();
  await page.reload();
  await page.getByRole("heading", { level: 1, name: "List pets" }).waitFor();
  assert.match(await page.title(), /^List pets/);
  await page.getByRole("navigation", { name: "API reference" }).getByRole("link", { name: "Overview" }).click();
  await page.getByText(`${service.address}/v1`, { exact: true }).waitFor();
  assert.equal(await page.getByRole("link", { name: "openapi.yaml" }).getAttribute("href"), `${service.address}/openapi.yaml`);
});

test("every operation, and the whole reference, has a static file at its address", async () => {
  const description = (await (await fetch(`${service.address}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { operationId: string }>>;
  };
  const ids = Object.values(description.paths).flatMap((path) => Object.values(path).map(({ operationId }) => operationId));
  assert.ok(ids.length > 40);
  for (const path of ["", ...ids, "all"].map((id) => join("shop", "reference", id, "index.html"))) {
    assert.ok(statSync(join(folder, path)).isFile(), path);
  }
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  assert.ok(files.length < 200, "far from the 2,000 files of a deployment");
});

test("a published panel sends requests to the API with the key typed into it", async (t) => {
  const category = await newCategory(service, "Dogs");
  const { page, requests } = await open(t, "/createPet");
  const panel = page.getByRole("region", { name: "Try it" });
  await panel.getByLabel("API key").fill(service.key);
  await panel.getByLabel("Body").fill(JSON.stringify({ name: "Biscuit", categoryId: category.id }));
  await panel.getByRole("button", { name: "Send" }).click();
  await panel.getByText("201 Created").waitFor();
  await panel.getByText(/ of 1,000,000,000 requests left, resets at /).waitFor();
  assert.ok(requests.includes(`${service.address}/v1/pets`));
  const found = await service.ask<unknown[]>("GET", "/pets?q=Biscuit");
  assert.equal(found.body.length, 1);
  assert.ok(requests.every((request) => !request.includes(service.key)));
  assert.ok(requests.every((request) => !request.includes("/dashboard/")));
  assert.equal(await page.getByRole("button", { name: /^Make a key/ }).count(), 0);
});

test("an operation without a panel at the service has none in the published reference", async (t) => {
  const { page } = await open(t, "/listOrders");
  await page.getByRole("heading", { level: 1, name: "List orders" }).waitFor();
  await page.waitForLoadState("networkidle");
  assert.equal(await page.getByText("Try it").count(), 0);
});

test("its name in the header leads to the shop's own page", async (t) => {
  const { page } = await open(t, "/");
  await page.getByRole("banner").getByRole("link", { name: "Pet Store" }).click();
  await page.getByRole("heading", { level: 1, name: "shop" }).waitFor();
  assert.equal(page.url(), `${url}/`);
});

test("axe finds nothing in the published reference, and it fits a phone", async (t) => {
  const { page } = await open(t, "/updatePet");
  await page.getByRole("region", { name: "Try it" }).waitFor();
  await assertAccessibleOnPhone(page);
});
