import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { test, type TestContext } from "node:test";
import { promisify } from "node:util";
import { stage } from "./support/browser.ts";
import { operationsIn, type Document } from "./support/description.ts";
import { findings, visit } from "./support/pages.ts";
import { startService } from "./support/service.ts";

const [browser, service] = await stage(startService);

/** The reference at an operation, with its panel and what is in it. */
async function open(t: TestContext, operationId: string) {
  const visited = await visit(t, browser, `${service.address}/reference/${operationId}`);
  const panel = visited.page.getByRole("region", { name: "Try it" });
  return { ...visited, panel, key: panel.getByLabel("API key"), send: panel.getByRole("button", { name: "Send" }) };
}

test("the panel sends the example to the service and shows status, time, limits, headers and body", async (t) => {
  const category = await service.ask<{ id: number }>("POST", "/categories", { body: { name: "Dogs" } });
  const { panel, key, send } = await open(t, "createPet");
  await key.fill(service.key);
  const body = JSON.parse(await panel.getByLabel("Body").inputValue()) as { name: string; categoryId: number };
  assert.equal(typeof body.name, "string", "the body begins as the example");
  await panel.getByLabel("Body").fill(JSON.stringify({ ...body, name: "Biscuit", categoryId: category.body.id }));
  await send.click();

  await panel.getByText("201 Created").waitFor();
  await panel.getByText(/^\d+ ms$/).waitFor();
  await panel.getByText(/ of 1,000,000,000 requests left, resets at /).waitFor();
  const found = await service.ask<{ id: number; name: string }[]>("GET", "/pets?q=Biscuit");
  assert.match(await panel.getByRole("tabpanel").innerText(), new RegExp(`"id": ${found.body[0]?.id},`));
  await panel.getByRole("tab", { name: /^Headers/ }).click();
  const headers = await panel.getByRole("table").innerText();
  for (const name of ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-Request-Id", "Location", "ETag"]) {
    assert.ok(headers.includes(name), name);
  }
  assert.deepEqual(await findings(panel.page()), []);
});

test("the curl command under the panel does what the panel does", async (t) => {
  const category = await service.ask<{ id: number }>("POST", "/categories", { body: { name: "Cats" } });
  const { panel } = await open(t, "updateCategory");
  await panel.getByLabel("categoryId").fill(String(category.body.id));
  await panel.getByLabel("Body").fill(`{"description": "It's 5 o'clock: $HOME \\\\ \`id\`"}`);
  const command = await panel.getByRole("group", { name: "curl" }).innerText();
  assert.ok(command.includes(`${service.address}/v1/categories/${category.body.id}'`), "the path is filled in");
  assert.ok(command.includes("-H 'Content-Type: application/json'"));
  assert.ok(!command.includes(service.key));

  const { stdout } = await promisify(execFile)("bash", ["--norc", "-c", `${command} -sS`], {
    env: { ...process.env, API_KEY: service.key },
  });
  assert.deepEqual(JSON.parse(stdout), { id: category.body.id, name: "Cats", description: "It's 5 o'clock: $HOME \\ `id`" });
});

test("parameters go into path, query and headers: filled in, repeated, or left out", async (t) => {
  const { panel, key, send, requests } = await open(t, "listPets");
  await key.fill(service.key);
  await panel.getByLabel("status").fill("sold, pending");
  await panel.getByLabel("id", { exact: true }).fill("3, 4");
  await panel.getByLabel("limit").fill("");
  await panel.getByLabel("sort").selectOption("");
  await send.click();
  await panel.getByText("200 OK").waitFor();
  const sent = requests.find((request) => request.startsWith(`${service.address}/v1/`));
  assert.equal(sent, `${service.address}/v1/pets?status=sold&status=pending&id=3&id=4`);
});

test("an empty path parameter is asked for before any request", async (t) => {
  const { panel, key, send, requests } = await open(t, "deleteCategory");
  await key.fill(service.key);
  await panel.getByLabel("categoryId").fill("");
  await send.click();
  await panel.getByText("categoryId is part of the path").waitFor();
  assert.deepEqual(
    requests.filter((request) => request.startsWith(`${service.address}/v1/`)),
    [],
  );
});

test("over the limit the panel says how long to wait", async (t) => {
  const { key: limitedKey } = await service.newAccount("enterprise", { perMinute: 1, perDay: 1 });
  const { panel, key, send } = await open(t, "listCategories");
  await key.fill(limitedKey);
  await send.click();
  await panel.getByText("200 OK").waitFor();
  await send.click();
  await panel.getByText("429 Too Many Requests").waitFor();
  await panel.getByText(/^Wait \d+ s before the next request/).waitFor();
  await panel.getByText('"rate_limit_exceeded"').waitFor();
});

test("a refusal is shown like any answer, and an invalid JSON body is marked but sent", async (t) => {
  const { panel, key, send } = await open(t, "createCategory");
  await key.fill(service.key);
  await panel.getByLabel("Body").fill("{");
  await panel.getByText("This is not JSON").waitFor();
  await send.click();
  await panel.getByText("400 Bad Request").waitFor();
  await panel.getByText('"invalid_request"').waitFor();
});

test("the panel says when no answer arrives", async (t) => {
  const { page, panel, send } = await open(t, "listCategories");
  await page.route("**/v1/**", (route) => route.abort());
  await send.click();
  await panel.getByText("No response").waitFor();
});

test("a stored name that looks like HTML is shown as text", async (t) => {
  const name = `<img src=x onerror="document.title='owned'">`;
  const category = await service.ask<{ id: number }>("POST", "/categories", { body: { name } });
  const { page, panel, key, send } = await open(t, "getCategory");
  await key.fill(service.key);
  await panel.getByLabel("categoryId").fill(String(category.body.id));
  await send.click();
  await panel.getByText(`<img src=x onerror=`).waitFor();
  assert.equal(await page.locator("img").count(), 0);
  assert.notEqual(await page.title(), "owned");
});

test("the key stays in memory, or until the tab is closed if the reader chooses so", async (t) => {
  const { page, panel, key, requests } = await open(t, "listPets");
  await key.fill(service.key);
  const stored = () => page.evaluate<string>("JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])");
  assert.ok(!(await stored()).includes(service.key));
  const navigation = page.getByRole("navigation", { name: "API reference" });
  await navigation.locator("summary", { hasText: "Categories" }).click();
  await navigation.getByRole("link", { name: "List categories" }).click();
  await page.getByRole("heading", { level: 1, name: "List categories" }).waitFor();
  assert.equal(await key.inputValue(), service.key, "all panels share it");

  await panel.getByLabel("Keep it until this tab is closed").check();
  await page.reload();
  assert.equal(await key.inputValue(), service.key);
  assert.ok(!(await page.evaluate<string>("JSON.stringify({ ...localStorage })")).includes(service.key));
  await panel.getByLabel("Keep it until this tab is closed").uncheck();
  assert.ok(!(await stored()).includes(service.key));
  await page.reload();
  assert.equal(await key.inputValue(), "");
  assert.ok(requests.every((request) => !request.includes(service.key)));
});

test("an operation with x-hideTryItPanel shows no panel and loads none of its code", async (t) => {
  const { page, panel, key, send, requests } = await open(t, "listOrders#try-it");
  await page.getByRole("heading", { level: 1, name: "List orders" }).waitFor();
  await page.waitForLoadState("networkidle");
  for (const part of [panel, key, send, page.locator("#try-it"), page.locator("form")]) assert.equal(await part.count(), 0);
  assert.equal(await page.getByText("Try it").count(), 0);
  assert.ok(
    requests.every((request) => !/\/panel-[\w-]+\.js$/.test(request)),
    "not even its code is loaded",
  );

  await page.keyboard.press("Control+k");
  await page.getByRole("dialog").getByRole("textbox").fill("list orders");
  await page.getByRole("dialog").getByText("List orders").waitFor();
  assert.equal(await page.getByText(/try it/i).count(), 0);
});

test("every other operation has its panel", async (t) => {
  const { page } = await open(t, "listPets");
  const operations = operationsIn(JSON.parse(readFileSync(new URL("../openapi.json", import.meta.url), "utf8")) as Document);
  const others = operations.map(({ operationId }) => operationId).filter((id) => id !== "listOrders" && id !== "listPets");
  const hasPanel = (id: string) =>
    page.evaluate<boolean>(`new Promise((resolve) => {
      const before = document.querySelector("#try-it");
      const look = () => {
        const panel = document.querySelector("#try-it");
        if (location.pathname !== "/reference/${id}" || panel === before || !panel?.querySelector("[type=submit]")) return;
        observer.disconnect();
        resolve(true);
      };
      const observer = new MutationObserver(look);
      observer.observe(document, { childList: true, subtree: true });
      document.querySelector("nav a[href='/reference/${id}']").click();
    })`);
  for (const id of others) assert.equal(await hasPanel(id), true, id);
});
