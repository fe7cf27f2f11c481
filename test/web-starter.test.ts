import assert from "node:assert/strict";
import { join } from "node:path";
import { before, test, type TestContext } from "node:test";
import { stage } from "./support/browser.ts";
import { petstore } from "./support/commands.ts";
import { temporaryFolder } from "./support/folder.ts";
import { assertAccessible, findings, overflow, phone, visit } from "./support/pages.ts";
import { startService } from "./support/service.ts";
import { newCategory, newPet } from "./support/shop.ts";

const minuteMs = 60_000;
const hostile = `<img src=x onerror="document.title='owned'">`;
const time = { now: Math.ceil(Date.now() / minuteMs) * minuteMs };
const [browser, service] = await stage(() => startService({ clock: () => time.now }));

before(async () => {
  const dogs = await newCategory(service, "Dogs");
  const cats = await newCategory(service, hostile);
  for (let i = 1; i <= 30; i++) await newPet(service, dogs.id, { name: `Rex ${i}` });
  await newPet(service, cats.id, { name: hostile });
  await newPet(service, cats.id, { name: "Luna" });
  await newPet(service, cats.id, { name: "Lupo", status: "sold" });
});

let sites = 0;

/** What `init` and `deploy` make of a new folder, opened in the browser in a new minute; `shop` is the account that it sells for. */
async function published(t: TestContext, { shop = { accountId: service.accountId, key: service.key }, path = "/", options = {} } = {}) {
  const slug = `shop-${++sites}`;
  const folder = join(temporaryFolder(t), slug);
  const by = { ...service, ...shop };
  const asked = ["--account", String(shop.accountId), "--name", "Rex & Co.", "--url", by.address];
  const started = await petstore(by, "init", folder, ...asked, "--json");
  assert.equal(started.code, 0, started.error);
  assert.equal((await petstore(by, "projects", "create", slug)).code, 0);
  const deployed = await petstore(by, "deploy", folder, "--project", slug, "--json");
  assert.equal(deployed.code, 0, deployed.error);
  const { url } = JSON.parse(deployed.out) as { url: string };
  const { key } = JSON.parse(started.out) as { key: string };
  time.now += minuteMs;
  const visited = await visit(t, browser, url + path, options, [new URL(service.address).host]);
  const { page } = visited;
  const list = page.getByRole("list", { name: "Animals" });
  return { ...visited, url, key, list, names: list.getByRole("heading"), status: page.getByRole("status") };
}

test("the page lists the available animals with their categories, a page at a time", async (t) => {
  const { page, names, list, status } = await published(t);
  await status.getByText("The first 24 animals").waitFor();
  assert.equal(await page.title(), "Rex & Co.");
  assert.deepEqual(await names.first().innerText(), "Rex 1");
  await list.getByText("Dogs").nth(23).waitFor();
  await page.getByRole("button", { name: "Show more" }).click();
  await status.getByText("32 animals", { exact: true }).waitFor();
  assert.equal(await names.count(), 32, "nothing twice, and nothing that is sold");
  assert.equal(await page.getByRole("button", { name: "Show more" }).isVisible(), false);
  const focused = await page.evaluate<string>("document.activeElement.textContent");
  assert.equal(focused, "Rex 25", "reading goes on where the new ones begin");
});

test("a search by the start of a name finds animals and is kept in the address", async (t) => {
  const { page, names, status } = await published(t);
  await page.getByRole("searchbox").fill("lu");
  await status.getByText("One animal").waitFor();
  assert.deepEqual(await names.allInnerTexts(), ["Luna"]);
  assert.equal(new URL(page.url()).search, "?q=lu");
  await page.reload();
  await status.getByText("One animal").waitFor();
  assert.equal(await page.getByRole("searchbox").inputValue(), "lu");
  await page.getByRole("searchbox").fill("nobody & co");
  await status.getByText("No animal that is for sale has a name beginning with “nobody & co”.").waitFor();
});

test("an empty shop says so", async (t) => {
  const { id, key } = await service.newAccount();
  const { status } = await published(t, { shop: { accountId: id, key } });
  await status.getByText("No animal is for sale at the moment.").waitFor();
});

test("a stored name that looks like HTML is shown as text, as a category too", async (t) => {
  const { page, list, status } = await published(t, { path: `/?q=${encodeURIComponent("<img")}` });
  await status.getByText("One animal").waitFor();
  await list.getByText(hostile, { exact: true }).nth(1).waitFor();
  assert.equal(await page.locator("img").count(), 0);
  assert.equal(await page.title(), "Rex & Co.");
});

test("axe finds nothing and the page fits a phone", async (t) => {
  const { page, list, status, url } = await published(t, { options: { viewport: phone } });
  await status.getByText("The first 24 animals").waitFor();
  await list.getByText("Dogs").first().waitFor();
  await assertAccessible(page);
  assert.equal(await overflow(page), 0);
  await page.getByRole("searchbox").fill("x".repeat(200));
  await status.getByText("No animal that is for sale").waitFor();
  assert.equal(await overflow(page), 0, "whatever was typed");
  await assertAccessible(page);
  assert.equal((await page.goto(`${url}/nothing/here`))?.status(), 404);
  await assertAccessible(page);
  await page.getByRole("link", { name: "Back to the animals" }).click();
  await page.waitForURL(`${url}/`);
});

test("over the limit the page sends nothing until Retry-After has passed, and then continues", async (t) => {
  const { page, key, status, requests, list } = await published(t);
  await list.getByText("Dogs").first().waitFor();
  const calls = () => requests.filter((request) => request.includes("/v1/")).length;
  let answer = await service.ask("GET", "/pets", { key });
  for (let i = 0; answer.status !== 429 && i < 60; i++) answer = await service.ask("GET", "/pets", { key });
  assert.equal(answer.status, 429);
  await page.clock.install();
  const earlier = calls();
  await page.getByRole("searchbox").fill("luna");
  await page.getByRole("button", { name: "Search" }).click();
  await status.getByText(/^Many people are looking right now\. The list continues in \d+ seconds\.$/).waitFor();
  const refused = calls();
  assert.ok(refused > earlier);
  await page.getByRole("searchbox").fill("lunas");
  await page.clock.fastForward(30_000);
  await status.getByText("Many people are looking right now").waitFor();
  assert.equal(calls(), refused, "a new search waits as well");
  await page.getByRole("searchbox").fill("luna");
  await page.clock.fastForward(1_000);
  time.now += minuteMs;
  await page.clock.fastForward(minuteMs);
  await status.getByText("One animal").waitFor();
});

test("when the day's quota is used up, the page says when to come back", async (t) => {
  const { id, key: own } = await service.newAccount("enterprise", { perMinute: 1000, perDay: 12 });
  const { page, key, status } = await published(t, { shop: { accountId: id, key: own } });
  await status.getByText("No animal is for sale at the moment.").waitFor();
  for (let i = 0; i < 12; i++) await service.ask("GET", "/pets", { key });
  await page.reload();
  await status.getByText(/has reached its limit\. Come back after \d\d:\d\d/).waitFor();
  assert.ok(await page.getByRole("button", { name: "Try again" }).isVisible());
});

test("an expired key and an unreachable shop are explained in plain words, with a button to try again", async (t) => {
  const { page, key, status } = await published(t, { path: "/?q=luna" });
  await status.getByText("One animal").waitFor();
  await page.context().route("**/v1/**", (route) => route.abort());
  await page.reload();
  await status.getByText("The shop cannot be reached.").waitFor();
  assert.deepEqual(await findings(page), []);
  await page.context().unroute("**/v1/**");
  await page.getByRole("button", { name: "Try again" }).click();
  await status.getByText("One animal").waitFor();

  const { keys } = await service.administration["keys.list"]({ account: service.accountId });
  const { id } = keys.find(({ prefix }) => key.startsWith(prefix))!;
  await service.administration["keys.revoke"]({ id });
  await page.reload();
  await status.getByText("This page’s key is no longer accepted.").waitFor();
});
