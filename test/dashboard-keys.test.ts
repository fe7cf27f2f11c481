import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import sql from "sql-template-tag";
import { stage } from "./support/browser.ts";
import { newMember } from "./support/dashboard.ts";
import { loggedEvents } from "./support/event-log.ts";
import { assertAccessible, assertAccessibleOnPhone, findings, overflow } from "./support/pages.ts";
import { startService } from "./support/service.ts";
import { password, visitSignedIn } from "./support/signed-in.ts";

const [browser, service] = await stage(startService);

/** Returns the status of a request with a key. */
const statusWith = async (key: string, method = "GET", path = "/pets") =>
  (await service.ask(method, path, { key, ...(method === "POST" && { body: { name: `Made by ${key}` } }) })).status;

/** Returns the error code of a request with a key, if it is refused. */
const refusalWith = async (key: string) => (await service.ask<{ code?: string }>("GET", "/pets", { key })).body.code;

const dialogOf = (page: Page) => page.getByRole("dialog");
const rowOf = (page: Page, key: string) => page.getByRole("row").filter({ has: page.locator("code", { hasText: key.slice(0, 8) }) });

async function choose(page: Page, key: string, action: string): Promise<void> {
  await rowOf(page, key).getByRole("button").click();
  await page.getByRole("menuitem", { name: action }).click();
  await dialogOf(page).waitFor();
}

test("an owner creates a key with chosen scopes, which is shown once, can be copied and works", async (t) => {
  const { id: account } = await service.newAccount();
  const { page } = await visitSignedIn(t, browser, service, "/dashboard/keys", {
    account,
    timezoneId: "Asia/Tokyo",
    permissions: ["clipboard-read", "clipboard-write"],
  });
  await page.getByRole("button", { name: "Create a key" }).click();
  const dialog = dialogOf(page);
  const ticked = dialog.getByRole("checkbox", { checked: true });
  assert.deepEqual([await ticked.count(), await dialog.getByLabel("Read").and(ticked).count()], [7, 7], "at first a key only reads");
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

test("a publishable key reads only the catalogue and the inventory; another is bound to the chosen websites, and the list shows its name", async (t) => {
  const { page } = await visitSignedIn(t, browser, service, "/dashboard/keys?create=true");
  const dialog = dialogOf(page);
  await dialog.getByLabel("Publishable key").check();
  assert.equal(await dialog.getByRole("checkbox").count(), 0);
  await dialog.getByRole("button", { name: "Create a key" }).click();
  const free = await dialog.getByRole("textbox", { name: "Key" }).inputValue();
  assert.match(free, /^psp_/);
  assert.deepEqual([await statusWith(free), await statusWith(free, "GET", "/store/orders")], [200, 403]);
  await dialog.getByRole("button", { name: "Done" }).click();

  await page.getByRole("button", { name: "Create a key" }).click();
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

test("a rotated key works beside its successor until the overlap ends", async (t) => {
  const { id: account, key } = await service.newAccount();
  const { page } = await visitSignedIn(t, browser, service, "/dashboard/keys", { account });
  await rowOf(page, key).getByRole("button").click();
  await page.getByRole("menuitem", { name: "Replace …" }).waitFor();
  assert.deepEqual(await findings(page), [], "with the open menu of a row");
  await page.keyboard.press("Escape");
  await choose(page, key, "Replace …");
  await dialogOf(page).getByLabel("Hours in which both work").fill("48");
  await dialogOf(page).getByRole("button", { name: "Replace the key" }).click();
  const next = await dialogOf(page).getByRole("textbox", { name: "Key" }).inputValue();
  await dialogOf(page).getByText("The old key works until").waitFor();
  assert.deepEqual([await statusWith(key), await statusWith(next)], [200, 200]);
  await page.keyboard.press("Escape");
  const question = page.getByRole("dialog", { name: "Close without copying the key?" });
  await question.waitFor();
  assert.deepEqual(await findings(page), []);
  await question.getByRole("button", { name: "Go back" }).click();
  assert.equal(await dialogOf(page).getByRole("textbox", { name: "Key" }).inputValue(), next, "Esc does not lose the key");
  await dialogOf(page).getByRole("button", { name: "Done" }).click();
  await rowOf(page, next).waitFor();

  await choose(page, next, "Replace …");
  await dialogOf(page).getByLabel("Hours in which both work").fill("");
  await dialogOf(page).getByRole("button", { name: "Replace the key" }).click();
  await dialogOf(page).locator("input[name=overlapHours][aria-invalid=true]").waitFor();
  assert.equal(await statusWith(next), 200, "an overlap that is left empty ends nothing");
  await dialogOf(page).getByLabel("Hours in which both work").fill("0");
  await dialogOf(page).getByRole("button", { name: "Replace the key" }).click();
  const last = await dialogOf(page).getByRole("textbox", { name: "Key" }).inputValue();
  assert.deepEqual([await statusWith(next), await statusWith(last)], [401, 200]);
  await dialogOf(page).getByRole("button", { name: "Done" }).click();
  await rowOf(page, next).getByText("Expired").waitFor();
});

test("a key that expires while the page is open is shown as expired, without a reload", async (t) => {
  const { id: account, key } = await service.newAccount();
  const { page } = await visitSignedIn(t, browser, service, "/dashboard/keys", { account });
  await service.db.write((tx) => tx.query(sql`UPDATE keys SET expires_at = ${Date.now() + 4_000} WHERE account_id = ${account}`));
  await page.reload();
  await rowOf(page, key).getByText("Expired").waitFor();
});

test("a rotated key and its successor name each other, one below the other", async (t) => {
  const { id: account, key } = await service.newAccount();
  const { keys } = await service.administration["keys.list"]({ account });
  await service.administration["keys.create"]({ account, name: "Till" });
  const { key: next } = await service.administration["keys.rotate"]({ id: keys[0]?.id });
  const { page } = await visitSignedIn(t, browser, service, "/dashboard/keys", { account });
  await page
    .getByRole("row")
    .getByText(`Replaces Key ${keys[0]?.id} (${key.slice(0, 8)}…)`)
    .waitFor();
  const names = await page.getByRole("row").locator("code").allInnerTexts();
  assert.deepEqual(names.slice(1), [`${next.slice(0, 8)}…`, `${key.slice(0, 8)}…`], "below the key that was made before");
  assert.match((await page.getByRole("row").last().innerText()).replaceAll("\n", " "), /Replaced by Key \d+ \(/);
  await assertAccessible(page);
});

test("an owner ends the ban of a key, which works again at once", async (t) => {
  const { id: account, key } = await service.newAccount("enterprise", { perMinute: 5, perDay: 1_000 });
  for (let i = 0; i < 60 && (await refusalWith(key)) !== "key_banned"; i++);
  const { page } = await visitSignedIn(t, browser, service, "/dashboard/keys", { account });
  await rowOf(page, key).getByText("Blocked until").waitFor();
  await service.administration["accounts.setPlan"]({ id: account, plan: "enterprise" });
  assert.equal(await refusalWith(key), "key_banned");
  await rowOf(page, key).getByRole("button").click();
  await page.getByRole("menuitem", { name: "End the block" }).click();
  await page.getByRole("region", { name: "Notices" }).getByText("works again").waitFor();
  assert.equal(await statusWith(key), 200);
  await rowOf(page, key).getByText("Works", { exact: true }).waitFor();
  const ended = (await loggedEvents(service.db, account)).filter(({ type }) => type === "key.unbanned");
  assert.deepEqual(
    ended.map(({ actor }) => actor.type),
    ["member"],
  );
});

test("only an owner can end a ban, and only of the account's own keys", async () => {
  const { id: account } = await service.newAccount();
  const { keys } = await service.administration["keys.list"]({ account });
  const path = `/keys/${keys[0]?.id}/unban`;
  const owner = await newMember(service, { account, role: "owner", email: "owner@unban.example", password });
  const member = await newMember(service, { account, role: "member", email: "member@unban.example", password });
  const other = await newMember(service, { account: service.accountId, role: "owner", email: "other@unban.example", password });
  assert.deepEqual((await owner.ask("POST", path)).body, { unbanned: false });
  assert.deepEqual([(await member.ask("POST", path)).status, (await other.ask("POST", path)).status], [403, 404]);
});

test("a key stops working when it is revoked, after a confirmation", async (t) => {
  const { id: account, key } = await service.newAccount();
  const { page } = await visitSignedIn(t, browser, service, "/dashboard/keys", { account });
  await choose(page, key, "Revoke …");
  await dialogOf(page).getByRole("button", { name: "Cancel" }).click();
  await dialogOf(page).waitFor({ state: "hidden" });
  assert.equal(await statusWith(key), 200);

  await choose(page, key, "Revoke …");
  await dialogOf(page).getByRole("button", { name: "Revoke the key" }).click();
  await page.getByRole("region", { name: "Notices" }).getByText("is revoked").waitFor();
  await page.getByText("No keys yet").waitFor();
  assert.equal(await statusWith(key), 401);
});

test("a member sees the keys but cannot change them", async (t) => {
  const { page } = await visitSignedIn(t, browser, service, "/dashboard/keys?create=true", { role: "member" });
  await page.getByRole("table", { name: "Keys" }).waitFor();
  assert.equal(await page.getByRole("main").getByRole("button").count(), 0);
  assert.equal(await dialogOf(page).count(), 0);
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog").getByRole("textbox").fill("keys");
  await page.getByRole("dialog").getByText("Keys", { exact: true }).waitFor();
  assert.equal(await page.getByRole("dialog").getByRole("button", { name: "Create a key", exact: true }).count(), 0);
});

test("the palette opens the form of a new key from any page, by keyboard alone; an expiry in the past is refused at its field, and the other fields keep their values", async (t) => {
  const { page } = await visitSignedIn(t, browser, service, "/dashboard/account");
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog").getByRole("textbox").fill("create a key");
  await page.getByRole("dialog").getByRole("button", { name: "Create a key", exact: true }).waitFor();
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Create a key" });
  await dialog.getByLabel("Expires").fill("2020-01-01T00:00");
  await dialog.getByRole("button", { name: "Create a key" }).click();
  await dialog.getByText("Must be in the future.").waitFor();
  const expires = dialog.locator("input[name=expires][aria-invalid=true]");
  assert.equal(await expires.inputValue(), "2020-01-01T00:00");
  assert.equal(await page.evaluate("document.activeElement.getAttribute('name')"), "expires");
  assert.deepEqual(await findings(page), []);
});

test("keys: axe finds nothing, and they fit a phone", async (t) => {
  const { page } = await visitSignedIn(t, browser, service, "/dashboard/keys");
  await page.getByRole("table").waitFor();
  await assertAccessibleOnPhone(page);
  await page.getByRole("button", { name: "Create a key" }).click();
  await dialogOf(page).waitFor();
  assert.equal(await overflow(page), 0);
  await assertAccessible(page);
  await dialogOf(page).getByRole("button", { name: "Create a key" }).click();
  await dialogOf(page).getByRole("textbox", { name: "Key" }).waitFor();
  await assertAccessible(page);
});
