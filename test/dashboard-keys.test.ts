import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { stage } from "./support/browser.ts";
import { findings, overflow, phone } from "./support/pages.ts";
import { startService } from "./support/service.ts";
import { visitSignedIn } from "./support/signed-in.ts";

const [browser, service] = await stage(startService);

/** The status that a key gets. */
const statusWith = async (key: string, method = "GET", path = "/pets") =>
  (await service.ask(method, path, { key, ...(method === "POST" && { body: { name: `Made by ${key}` } }) })).status;

const dialogOf = (page: Page) => page.getByRole("dialog");
const rowOf = (page: Page, key: string) => page.getByRole("row").filter({ hasText: key.slice(0, 8) });

async function choose(page: Page, key: string, action: string): Promise<void> {
  await rowOf(page, key).getByRole("button").click();
  await page.getByRole("menuitem", { name: action }).click();
  await dialogOf(page).waitFor();
}

test("an owner makes a key of chosen scopes that works, is copied, and is shown this once", async (t) => {
  const { id: account } = await service.newAccount();
  const { page } = await visitSignedIn(t, browser, service, "/dashboard/keys", {
    account,
    timezoneId: "Asia/Tokyo",
    permissions: ["clipboard-read", "clipboard-write"],
  });
  await page.getByRole("button", { name: "Create a key" }).click();
  const dialog = dialogOf(page);
  for (const area of await dialog.getByRole("checkbox").all()) await area.uncheck();
  await dialog.getByRole("group", { name: "Catalogue" }).getByLabel("Read").check();
  await dialog.getByLabel("Expires").fill("2032-05-01T09:30");
  await dialog.getByRole("button", { name: "Create a key" }).click();

  const key = await dialog.getByRole("textbox", { name: "Key" }).inputValue();
  await dialog.getByRole("button", { name: "Copy" }).first().click();
  assert.equal(await page.evaluate("navigator.clipboard.readText()"), key);
  assert.deepEqual([await statusWith(key), await statusWith(key, "POST", "/categories")], [200, 403]);
  await dialog.getByRole("button", { name: "Done" }).click();
  await dialog.waitFor({ state: "hidden" });
  const row = rowOf(page, key);
  assert.match(await row.innerText(), /catalogue:read/);
  assert.match(await row.innerText(), /1 May 2032, 09:30/, "in the reader's time zone");
  const expiry = row.locator("time").nth(1);
  assert.equal(await expiry.getAttribute("datetime"), "2032-05-01T00:30:00Z");
  assert.ok(!(await page.content()).includes(key));
  await page.reload();
  await row.waitFor();
  assert.ok(!(await page.content()).includes(key));
});

test("a publishable key only reads the catalogue and the stock", async (t) => {
  const { page } = await visitSignedIn(t, browser, service, "/dashboard/keys?create=true");
  const dialog = dialogOf(page);
  await dialog.getByLabel("Publishable key").check();
  assert.equal(await dialog.getByRole("checkbox").count(), 0);
  await dialog.getByRole("button", { name: "Create a key" }).click();
  const key = await dialog.getByRole("textbox", { name: "Key" }).inputValue();
  assert.match(key, /^psp_/);
  assert.deepEqual([await statusWith(key), await statusWith(key, "GET", "/store/orders")], [200, 403]);
});

test("a key is called as it was named, and one for web pages is bound to their websites", async (t) => {
  const { page } = await visitSignedIn(t, browser, service, "/dashboard/keys?create=true");
  const dialog = dialogOf(page);
  await dialog.getByLabel("Name").fill("Online shop");
  assert.equal(await dialog.getByLabel("Websites").count(), 0);
  await dialog.getByLabel("Publishable key").check();
  await dialog.getByLabel("Websites").fill("shop.example");
  await dialog.getByRole("button", { name: "Create a key" }).click();
  await dialog.getByText("is not an origin").waitFor();
  assert.equal(await dialog.locator("input[name=origins][aria-invalid=true]").inputValue(), "shop.example");
  await dialog.getByLabel("Websites").fill("https://shop.example, https://www.shop.example");
  await dialog.getByRole("button", { name: "Create a key" }).click();
  const key = await dialog.getByRole("textbox", { name: "Key" }).inputValue();
  const from = async (origin: string) => (await service.ask("GET", "/pets", { key, headers: { origin } })).status;
  assert.deepEqual([await from("https://www.shop.example"), await from("https://other.example")], [200, 403]);
  await dialog.getByRole("button", { name: "Done" }).click();
  await rowOf(page, key).getByText("Online shop").waitFor();
  await rowOf(page, key).getByText("Only from https://shop.example, https://www.shop.example").waitFor();
});

test("an expiry in the past is refused at its field, and what was filled in stays", async (t) => {
  const { page } = await visitSignedIn(t, browser, service, "/dashboard/keys?create=true");
  const dialog = dialogOf(page);
  await dialog.getByLabel("Expires").fill("2020-01-01T00:00");
  await dialog.getByRole("button", { name: "Create a key" }).click();
  await dialog.getByText("Must be in the future.").waitFor();
  const expires = dialog.locator("input[name=expires][aria-invalid=true]");
  assert.equal(await expires.inputValue(), "2020-01-01T00:00");
  assert.equal(await page.evaluate("document.activeElement.getAttribute('name')"), "expires");
  assert.deepEqual(await findings(page), []);
});

test("a rotated key works until its overlap ends, beside the one that follows it", async (t) => {
  const { id: account, key } = await service.newAccount();
  const { page } = await visitSignedIn(t, browser, service, "/dashboard/keys", { account });
  await choose(page, key, "Rotate …");
  await dialogOf(page).getByLabel("Overlap in hours").fill("48");
  await dialogOf(page).getByRole("button", { name: "Rotate the key" }).click();
  const next = await dialogOf(page).getByRole("textbox", { name: "Key" }).inputValue();
  await dialogOf(page).getByText("The old key works until").waitFor();
  assert.deepEqual([await statusWith(key), await statusWith(next)], [200, 200]);
  await page.keyboard.press("Escape");
  await rowOf(page, next).waitFor();

  await choose(page, next, "Rotate …");
  await dialogOf(page).getByLabel("Overlap in hours").fill("");
  await dialogOf(page).getByRole("button", { name: "Rotate the key" }).click();
  await dialogOf(page).locator("input[name=overlapHours][aria-invalid=true]").waitFor();
  assert.equal(await statusWith(next), 200, "an overlap that is left empty ends nothing");
  await dialogOf(page).getByLabel("Overlap in hours").fill("0");
  await dialogOf(page).getByRole("button", { name: "Rotate the key" }).click();
  const last = await dialogOf(page).getByRole("textbox", { name: "Key" }).inputValue();
  assert.deepEqual([await statusWith(next), await statusWith(last)], [401, 200]);
  await page.keyboard.press("Escape");
  await rowOf(page, next).getByText("Expired").waitFor();
});

test("a key is revoked after a confirmation, and works no more", async (t) => {
  const { id: account, key } = await service.newAccount();
  const { page } = await visitSignedIn(t, browser, service, "/dashboard/keys", { account });
  await choose(page, key, "Revoke …");
  await dialogOf(page).getByRole("button", { name: "Cancel" }).click();
  await dialogOf(page).waitFor({ state: "hidden" });
  assert.equal(await statusWith(key), 200);

  await choose(page, key, "Revoke …");
  await dialogOf(page).getByRole("button", { name: "Revoke the key" }).click();
  await page.getByRole("region", { name: "Notices" }).getByText("is revoked").waitFor();
  await page.getByText("There is no key yet").waitFor();
  assert.equal(await statusWith(key), 401);
});

test("a member sees the keys and nothing to change them with", async (t) => {
  const { page } = await visitSignedIn(t, browser, service, "/dashboard/keys?create=true", { role: "member" });
  await page.getByRole("table", { name: "Keys" }).waitFor();
  assert.equal(await page.getByRole("main").getByRole("button").count(), 0);
  assert.equal(await dialogOf(page).count(), 0);
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog").getByRole("textbox").fill("keys");
  await page.getByRole("dialog").getByText("Keys", { exact: true }).waitFor();
  assert.equal(await page.getByRole("dialog").getByText("Create a key").count(), 0);
});

test("the palette begins to make a key from any page, by keyboard alone", async (t) => {
  const { page } = await visitSignedIn(t, browser, service, "/dashboard/account");
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog").getByRole("textbox").fill("create a key");
  await page.getByRole("dialog").getByText("Create a key").waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Create a key" }).waitFor();
});

for (const colorScheme of ["light", "dark"] as const) {
  test(`keys, ${colorScheme}: axe finds nothing, and they fit a phone`, async (t) => {
    const { page } = await visitSignedIn(t, browser, service, "/dashboard/keys", { colorScheme });
    await page.getByRole("table").waitFor();
    for (const viewport of [{ width: 1280, height: 900 }, phone]) {
      await page.setViewportSize(viewport);
      assert.equal(await overflow(page), 0);
      assert.deepEqual(await findings(page), []);
    }
    await page.getByRole("button", { name: "Create a key" }).click();
    await dialogOf(page).waitFor();
    assert.equal(await overflow(page), 0);
    assert.deepEqual(await findings(page), []);
    await dialogOf(page).getByRole("button", { name: "Create a key" }).click();
    await dialogOf(page).getByRole("textbox", { name: "Key" }).waitFor();
    assert.deepEqual(await findings(page), []);
  });
}
