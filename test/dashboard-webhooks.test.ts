import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Page } from "playwright-core";
import { stage } from "./support/browser.ts";
import { assertAccessible, assertAccessibleOnPhone, goWithin } from "./support/pages.ts";
import { startService } from "./support/service.ts";
import { made } from "./support/shop.ts";
import { visitSignedIn } from "./support/signed-in.ts";
import { until } from "./support/until.ts";
import { newWebhook, startReceiver, webhookOf } from "./support/webhooks.ts";

const [browser, service] = await stage(() => startService({ env: { WEBHOOK_PRIVATE_ADDRESSES: "on" } }));

const dialogOf = (page: Page) => page.getByRole("dialog");
const notices = (page: Page) => page.getByRole("region", { name: "Notices" });

/** An account, and a program that receives webhooks. The account has no endpoint yet. */
async function openScene(t: TestContext) {
  const receiver = await startReceiver();
  const { key, id: account } = await service.newAccount();
  t.after(() => receiver.close());
  const newCategory = (name: string) => made<{ id: number }>(service, "POST", "/categories", { name }, key);
  const names = () => receiver.got.map(({ body }) => body.data["name"]);
  return { receiver, key, account, newCategory, names };
}

async function choose(page: Page, url: string, action: string): Promise<void> {
  await page.getByRole("button", { name: `Actions for ${url}` }).click();
  await page.getByRole("menuitem", { name: action }).click();
}

test("an endpoint is added with its choice of events, its secret is shown once, and a test shows its request and response", async (t) => {
  const { receiver, account } = await openScene(t);
  receiver.answer = (_, response) => response.writeHead(200, { "content-type": "application/json" }).end('{"thanks":true}');
  const { page } = await visitSignedIn(t, browser, service, "/dashboard/webhooks", { account });
  await page.getByRole("button", { name: "Add a receiver" }).click();
  await dialogOf(page).getByLabel("Address").fill(receiver.url);
  await dialogOf(page).getByLabel("What it is for").fill("Our warehouse");
  await dialogOf(page).getByLabel("What it gets").fill("category.cr");
  await page.getByRole("option", { name: "category.created" }).click();
  await page.keyboard.press("Tab"); // closes the list
  await dialogOf(page).getByRole("button", { name: "Add the receiver" }).click();
  const secret = await dialogOf(page).getByRole("textbox", { name: "Secret" }).inputValue();
  assert.match(secret, /^whsec_/);
  await page.keyboard.press("Escape");
  await page.getByRole("dialog", { name: "Close without copying the secret?" }).getByRole("button", { name: "Close anyway" }).click();
  await page.getByText("Our warehouse").waitFor();
  await page.getByRole("cell", { name: "category.created" }).waitFor();
  assert.ok(!(await page.content()).includes(secret));

  await choose(page, receiver.url, "Send a test");
  await notices(page).getByText("The test is sent").waitFor();
  await until(() => receiver.got.length === 1);
  await page.getByRole("link", { name: receiver.url }).click();
  await page.getByRole("link", { name: "webhook.test" }).click();
  await dialogOf(page).getByRole("group", { name: "What was sent" }).getByText("webhook.test").waitFor();
  await dialogOf(page).getByRole("group", { name: "What came back" }).getByText("thanks").waitFor();
  assert.match(await dialogOf(page).innerText(), /Answer\s+200[^]*Time\s+[\d,]+ ms/);
});

test("a failed message says why it failed, and can be sent again from the list of failed ones", async (t) => {
  const { receiver, account, key, newCategory, names } = await openScene(t);
  const { id } = await newWebhook(service, { url: receiver.url, types: ["category.*"] }, key);
  receiver.answer = (_, response) => response.writeHead(500).end("Out of paper");
  await newCategory("Dogs");
  await until(() => receiver.got.length === 1);
  const { page } = await visitSignedIn(t, browser, service, `/dashboard/webhooks/${id}`, { account });
  await page.getByText("Every message has failed since").waitFor();
  await page.locator("label", { hasText: "Waiting" }).click();
  await page.getByRole("link", { name: "category.created" }).click();
  await dialogOf(page).getByText("Out of paper").waitFor();
  receiver.answer = (_, response) => response.writeHead(204).end();
  await dialogOf(page).getByRole("button", { name: "Send this one again" }).click();
  await dialogOf(page).getByText("Delivered").waitFor();
  const sent = names(); // the service may have tried again too
  assert.ok(sent.length > 1);
  assert.deepEqual(new Set(sent), new Set(["Dogs"]));
  await page.keyboard.press("Escape");
  await page.getByText("No message has this state").waitFor();
});

test("while an endpoint is off, every page says so, and links to the dialog that sends what it has missed since its last success", async (t) => {
  const { receiver, account, key, newCategory, names } = await openScene(t);
  const { id } = await newWebhook(service, { url: receiver.url, types: ["category.*"] }, key);
  await newCategory("Dogs");
  await until(() => receiver.got.length === 1);
  receiver.answer = (_, response) => response.writeHead(410).end();
  await newCategory("Cats");
  await until(async () => !(await webhookOf(service, id, key)).enabled);
  await newCategory("Birds");
  receiver.answer = (_, response) => response.writeHead(204).end();
  const { page } = await visitSignedIn(t, browser, service, "/dashboard/animals", { account });
  const notice = page.getByRole("complementary", { name: "Webhooks" });
  for (const path of ["", "/usage", "/orders"]) {
    await goWithin(page, `/dashboard${path}`);
    await notice.getByText(receiver.url).waitFor();
  }
  await assertAccessibleOnPhone(page);
  await page.setViewportSize({ width: 1280, height: 900 });
  await notice.getByRole("link").click();
  await dialogOf(page).getByLabel("Everything since the last success").waitFor();
  await assertAccessible(page);
  await dialogOf(page).getByRole("button", { name: "Turn it on" }).click();
  await notice.waitFor({ state: "hidden" });
  await until(() => receiver.got.length === 4);
  assert.deepEqual(names(), ["Dogs", "Cats", "Cats", "Birds"]);
});

test("an endpoint is turned off and on, edited, sent old changes, given a new secret and deleted", async (t) => {
  const { receiver, account, key, newCategory, names } = await openScene(t);
  await newCategory("Dogs");
  await newWebhook(service, { url: receiver.url, types: ["order.*"] }, key);
  const { page } = await visitSignedIn(t, browser, service, "/dashboard/webhooks", { account });
  await choose(page, receiver.url, "Turn off");
  await page.getByRole("cell", { name: "Turned off" }).waitFor();
  await choose(page, receiver.url, "Turn on …");
  await dialogOf(page).getByRole("button", { name: "Turn it on" }).click();
  await page.getByRole("cell", { name: "On", exact: true }).waitFor();

  await choose(page, receiver.url, "Edit …");
  await dialogOf(page).getByLabel("What it gets").press("Backspace");
  await page.keyboard.press("Tab");
  await dialogOf(page).getByRole("button", { name: "Save changes" }).click();
  await page.getByRole("cell", { name: "Everything" }).waitFor();

  await choose(page, receiver.url, "Send again from …");
  await dialogOf(page).getByLabel("After change number").fill("1000");
  await dialogOf(page).getByRole("button", { name: "Send again" }).click();
  await dialogOf(page).getByText("beyond the newest").waitFor();
  await dialogOf(page).getByLabel("After change number").fill("0");
  await dialogOf(page).getByRole("button", { name: "Send again" }).click();
  await until(() => names().includes("Dogs"));

  await choose(page, receiver.url, "New secret …");
  await dialogOf(page).getByRole("button", { name: "Make a new secret" }).click();
  assert.match(await dialogOf(page).getByRole("textbox", { name: "Secret" }).inputValue(), /^whsec_/);
  await dialogOf(page).getByRole("button", { name: "Copy" }).click();
  await dialogOf(page).getByRole("button", { name: "Done" }).click();

  await choose(page, receiver.url, "Delete …");
  await dialogOf(page).getByRole("button", { name: "Delete the receiver" }).click();
  await page.getByText("No receivers yet").waitFor();
  assert.deepEqual((await service.ask("GET", "/webhooks", { key })).body, []);
});

test("a refused address shows its error at the field", async (t) => {
  const { account } = await openScene(t);
  const { page } = await visitSignedIn(t, browser, service, "/dashboard/webhooks?new=true", { account });
  await dialogOf(page).getByLabel("Address").fill("warehouse");
  await dialogOf(page).getByRole("button", { name: "Add the receiver" }).click();
  await dialogOf(page).locator("input[name=url][aria-invalid=true]").waitFor();
  await dialogOf(page).getByLabel("Address").fill("https://hooks.example.com:25/");
  await dialogOf(page).getByRole("button", { name: "Add the receiver" }).click();
  await dialogOf(page).getByText("must have port 80, 443, or one from 1024 to 65535").waitFor();
  await assertAccessible(page);
});

test("webhooks: axe finds nothing, and they fit a phone", async (t) => {
  const { receiver, account, key, newCategory } = await openScene(t);
  await newWebhook(service, { url: receiver.url, types: ["category.*"], description: "Our warehouse" }, key);
  await newCategory("Dogs");
  await until(() => receiver.got.length === 1);
  const { page } = await visitSignedIn(t, browser, service, "/dashboard/webhooks", { account });
  await page.getByText("Our warehouse").waitFor();
  await assertAccessibleOnPhone(page, "the endpoints");
  await page.getByRole("link", { name: receiver.url }).click();
  await page.getByRole("link", { name: "category.created" }).waitFor();
  await assertAccessibleOnPhone(page, "an endpoint");
  await page.getByRole("link", { name: "category.created" }).click();
  await dialogOf(page).getByRole("group", { name: "What was sent" }).waitFor();
  await assertAccessibleOnPhone(page, "a message");
});
