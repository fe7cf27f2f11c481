import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Page } from "playwright-core";
import sql from "sql-template-tag";
import { stage } from "./support/browser.ts";
import { newMember, openBrowser, tokenIn } from "./support/dashboard.ts";
import { assertAccessible, assertAccessibleOnPhone, findings, visit } from "./support/pages.ts";
import { startService } from "./support/service.ts";
import { password, visitSignedIn } from "./support/signed-in.ts";

const [browser, service] = await stage(startService);

const region = (page: Page, name: string) => page.getByRole("region", { name });
const rowOf = (page: Page, text: string) => page.getByRole("row").filter({ hasText: text });

async function choose(page: Page, email: string, action: string): Promise<void> {
  await rowOf(page, email).getByRole("button").click();
  await page.getByRole("menuitem", { name: action }).click();
}

/** Opens the account's page as a new owner of this account, or of a new one. */
async function openAccount(t: TestContext, options: { account?: number } = {}) {
  const account = options.account ?? (await service.newAccount()).id;
  const visited = await visitSignedIn(t, browser, service, "/dashboard/account", { account });
  await region(visited.page, "Members").getByRole("table").waitFor();
  return { ...visited, account };
}

test("an owner renames the shop, which every page then shows, and a member cannot", async (t) => {
  const { page, account } = await openAccount(t);
  await page.getByRole("button", { name: "Rename the shop" }).click();
  const dialog = page.getByRole("dialog", { name: "Rename the shop" });
  await dialog.getByLabel("Name of the shop").fill(" ");
  await dialog.getByRole("button", { name: "Rename", exact: true }).click();
  await dialog.locator("input[name=name][aria-invalid=true]").waitFor();
  await assertAccessible(page);
  await dialog.getByLabel("Name of the shop").fill("Bella’s Pets");
  await dialog.getByRole("button", { name: "Rename", exact: true }).click();
  await page.getByRole("navigation", { name: "Dashboard" }).getByText("Bella’s Pets").waitFor();
  await page.reload();
  await page.getByRole("navigation", { name: "Dashboard" }).getByText("Bella’s Pets").waitFor();

  const member = await newMember(service, { account, role: "member", email: "member@rename.example", password });
  assert.equal((await member.ask("PATCH", "/account", { name: "Mine" })).status, 403);
  const { accounts } = await service.administration["accounts.list"]({ after: account - 1 });
  assert.equal(accounts[0]?.name, "Bella’s Pets");
});

test("an owner chooses the shop's currency, with which new prices then begin; other prices stay, and a member has no choice", async (t) => {
  const { page, account } = await openAccount(t);
  await page.getByRole("button", { name: "Currency: EUR" }).click();
  const dialog = page.getByRole("dialog", { name: "The shop’s currency" });
  const choice = dialog.getByRole("combobox", { name: "Currency" });
  await choice.fill("swiss");
  await page.getByRole("option", { name: "CHF – Swiss Franc", exact: true }).click();
  await assertAccessible(page);
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByText("New prices are in CHF.").waitFor();
  await page.getByRole("button", { name: "Currency: CHF" }).waitFor();
  await assertAccessibleOnPhone(page);

  await page.goto(`${service.address}/dashboard/animals/new`);
  assert.equal(await page.getByRole("textbox", { name: "Currency" }).inputValue(), "CHF");
  const member = await newMember(service, { account, role: "member", email: "bob@francs.example", password });
  const { body: category } = await member.ask<{ id: number }>("POST", "/categories", { name: "Dogs" });
  const pets: number[] = [];
  for (const name of ["Rex", "Tom"])
    pets.push((await member.ask<{ id: number }>("POST", "/pets", { name, categoryId: category.id })).body.id);
  await member.ask("PUT", `/pets/${pets[0]}/profile`, { price: { amount: 4_900, currency: "EUR" } });
  for (const [index, currency] of ["EUR", "CHF"].entries()) {
    await page.goto(`${service.address}/dashboard/animals/${pets[index]}`);
    assert.equal(await page.getByRole("textbox", { name: "Currency" }).inputValue(), currency);
    assert.equal(await page.getByText("There are changes that are not saved.").count(), 0);
  }
  await page.goto(`${service.address}/dashboard/animals`);
  await page.getByRole("checkbox", { name: "Choose Tom", exact: true }).check();
  await page.getByRole("region", { name: "Chosen animals" }).getByRole("button", { name: "Price" }).click();
  assert.equal(await page.getByRole("dialog").getByRole("textbox", { name: "Currency" }).inputValue(), "CHF");
  await page.getByRole("dialog").getByRole("textbox", { name: "Currency" }).fill("QQQ");
  await page.getByText("Write the three letters of a currency, such as EUR.").waitFor();

  const { page: other } = await visitSignedIn(t, browser, service, "/dashboard/account", { account, role: "member" });
  await region(other, "Members").getByRole("table").waitFor();
  assert.equal(await other.getByRole("button", { name: /^Currency/ }).count(), 0);
});

test("the page shows the plan and its limits, and a plan that an operator changed, without a reload", async (t) => {
  const { id: account } = await service.newAccount("pro");
  const { page } = await visitSignedIn(t, browser, service, "/dashboard/account", { account });
  const plan = region(page, "Plan");
  await plan.getByText("Pro", { exact: true }).waitFor();
  await plan.getByText("300", { exact: true }).waitFor();
  await plan.getByText("10,000", { exact: true }).waitFor();
  await plan.getByText("250,000", { exact: true }).waitFor();
  await plan.getByText("5 GiB", { exact: true }).waitFor();

  await page.clock.install();
  await page.goto(`${service.address}/dashboard/categories`);
  const current = (name: string) => page.getByRole("navigation", { name: "Dashboard" }).getByText(name, { exact: true }).waitFor();
  await current("Pro");
  await service.administration["accounts.setPlan"]({ id: account, plan: "business" });
  await page.clock.fastForward(60_000);
  await current("Business");
});

test("an owner invites a member with a link that is shown once and works once", async (t) => {
  const { page } = await openAccount(t);
  await page.getByRole("button", { name: "Invite somebody" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Email").fill("not an email");
  await dialog.getByRole("button", { name: "Make the link" }).click();
  await dialog.getByText("Must be an email address.").waitFor();
  await dialog.getByLabel("Email").fill("new@shop.example");
  await dialog.getByRole("button", { name: "Make the link" }).click();
  const link = await dialog.getByRole("textbox", { name: "Sign-in link" }).inputValue();
  await dialog.getByRole("button", { name: "Done" }).click();
  await rowOf(page, "new@shop.example").getByText("Invited").waitFor();
  assert.ok(!(await page.content()).includes(tokenIn(link)));

  const guest = await visit(t, browser, `${service.address}/sign-in#token=${tokenIn(link)}`);
  await guest.page.getByRole("button", { name: "Sign in with this link" }).click();
  await guest.page.getByRole("heading", { name: "Choose a password" }).waitFor();
  assert.equal((await openBrowser(service).ask("POST", "/sign-in/link", { token: tokenIn(link) })).status, 401);
});

test("an owner who gives up their own role confirms it first", async (t) => {
  const { page, account, email } = await openAccount(t);
  await newMember(service, { account, email: "second@owners.example", role: "owner", password });
  await choose(page, email, "Make a member");
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await rowOf(page, email).getByText("Owner").waitFor();

  await choose(page, email, "Make a member");
  await page.getByRole("dialog").getByRole("button", { name: "Become a member" }).click();
  await rowOf(page, email).getByText("Member", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Invite somebody" }).waitFor({ state: "detached" });
});

test("an owner changes roles, and resets and removes members, whose sessions end at once, and the table shows who reset a member", async (t) => {
  const { id: account } = await service.newAccount();
  const bea = await newMember(service, { account, email: "bea@family.example", role: "member", password });
  const { page, email } = await openAccount(t, { account });
  await choose(page, "bea@family.example", "Make an owner");
  await rowOf(page, "bea@family.example").getByText("Owner", { exact: true }).waitFor();
  assert.equal((await bea.ask("POST", "/keys", {})).status, 201);

  await choose(page, "bea@family.example", "New sign-in link …");
  await page.getByRole("dialog").getByRole("button", { name: "End them and make the link" }).click();
  const link = await page.getByRole("dialog").getByRole("textbox", { name: "Sign-in link" }).inputValue();
  assert.equal((await bea.ask("GET", "/session")).status, 401);
  await page.keyboard.press("Escape");
  await rowOf(page, "bea@family.example").getByText(`Reset by ${email}`).waitFor();
  assert.equal((await bea.ask("POST", "/sign-in/link", { token: tokenIn(link) })).status, 200);

  await choose(page, "bea@family.example", "Remove …");
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("dialog").waitFor({ state: "hidden" });
  assert.equal((await bea.ask("GET", "/session")).status, 200);
  await choose(page, "bea@family.example", "Remove …");
  await page.getByRole("dialog").getByRole("button", { name: "Remove the member" }).click();
  await region(page, "Notices").getByText("bea@family.example is removed.").waitFor();
  await rowOf(page, "bea@family.example").waitFor({ state: "detached" });
  assert.equal((await bea.ask("GET", "/session")).status, 401);
});

test("a change of access asks for the password again after 10 minutes, and then continues", async (t) => {
  const { page, account } = await openAccount(t);
  const expire = () => service.db.write((tx) => tx.query(sql`UPDATE sessions SET confirmed_at = 0 WHERE account_id = ${account}`));
  const confirmation = page.getByRole("dialog", { name: "Confirm your password" });
  const invitation = page.getByRole("dialog", { name: "Invite somebody" });
  await expire();
  await page.getByRole("button", { name: "Invite somebody" }).click();
  await invitation.getByLabel("Email").fill("later@shop.example");
  await invitation.getByRole("button", { name: "Make the link" }).click();
  await confirmation.getByLabel("Current password").fill("not the password");
  await confirmation.getByRole("button", { name: "Confirm" }).click();
  await confirmation.getByText("Is wrong.").waitFor();
  assert.deepEqual(await findings(page), []);
  await confirmation.getByLabel("Current password").fill(password);
  await confirmation.getByRole("button", { name: "Confirm" }).click();
  await confirmation.waitFor({ state: "detached" });
  await page.getByRole("dialog").getByRole("textbox", { name: "Sign-in link" }).waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Done" }).click();
  await rowOf(page, "later@shop.example").waitFor();

  await expire();
  await choose(page, "later@shop.example", "Remove …");
  await page.getByRole("dialog").getByRole("button", { name: "Remove the member" }).click();
  await confirmation.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("dialog").getByRole("alert").getByText("Confirm your password first.").waitFor();
  await page.keyboard.press("Escape");
  await rowOf(page, "later@shop.example").waitFor();
});

test("a member sees who has access but cannot change it", async (t) => {
  const { page } = await visitSignedIn(t, browser, service, "/dashboard/account?invite=true", { role: "member" });
  const members = region(page, "Members");
  await members.getByRole("table").waitFor();
  assert.equal(await members.getByRole("button").count(), 0);
  assert.equal(await page.getByRole("dialog").count(), 0);
});

test("an email with markup is shown as text", async (t) => {
  const hostile = `<img/src=x/onerror=alert(1)>"'&amp;@evil.example`;
  const { id: account } = await service.newAccount();
  await newMember(service, { account, email: hostile, role: "member" });
  const { page } = await openAccount(t, { account });
  await rowOf(page, hostile).waitFor();
  assert.equal(await page.locator("main img").count(), 0);
  await choose(page, hostile, "Remove …");
  await page.getByRole("dialog", { name: `Remove ${hostile}?` }).waitFor();
});

test("the list marks this session; others can be ended one by one or all together; a new password takes the current one and ends all others", async (t) => {
  const { page, email } = await openAccount(t);
  const others = [openBrowser(service), openBrowser(service), openBrowser(service)] as const;
  for (const [place, other] of others.entries()) {
    const agent = { "user-agent": `Mozilla/5.0 (X11; Linux x86_64; rv:${140 + place}.0) Gecko/20100101 Firefox/${140 + place}.0` };
    await other.ask("POST", "/sign-in", { email, password }, agent);
  }
  const living = async () =>
    (await Promise.all(others.map((other) => other.ask("GET", "/session")))).filter(({ status }) => status === 200);
  await page.reload();
  const sessions = region(page, "Your sessions");
  await sessions.getByText("This one").waitFor();
  assert.equal(await sessions.getByText("Firefox on Linux").count(), 3);
  assert.equal(await sessions.getByRole("cell", { name: "127.0.0.1" }).count(), 4, "where each was started from");
  await sessions.getByRole("button", { name: "End the session" }).first().click();
  await region(page, "Notices").getByText("The session has ended.").waitFor();
  assert.equal((await living()).length, 2);
  await sessions.getByRole("button", { name: "End all others" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "End all others" }).click();
  await region(page, "Notices").getByText("All other sessions have ended.").waitFor();
  assert.equal((await living()).length, 0);
  await sessions.getByText("Firefox on Linux").first().waitFor({ state: "detached" });
  await sessions.getByText("This one").waitFor();

  const other = openBrowser(service);
  await other.ask("POST", "/sign-in", { email, password });
  await page.getByRole("textbox", { name: "Current password" }).fill("not the password");
  await page.getByRole("textbox", { name: "New password" }).fill("another good password");
  await page.getByRole("button", { name: "Change the password" }).click();
  await page.locator("input[name=currentPassword][aria-invalid=true]").waitFor();
  assert.equal((await other.ask("GET", "/session")).status, 200);

  await page.getByRole("textbox", { name: "Current password" }).fill(password);
  await page.getByRole("button", { name: "Change the password" }).click();
  await region(page, "Notices").getByText("The password is changed").waitFor();
  assert.equal(await page.getByRole("textbox", { name: "New password" }).inputValue(), "");
  assert.equal((await other.ask("GET", "/session")).status, 401);
  assert.equal((await other.ask("POST", "/sign-in", { email, password: "another good password" })).status, 200);
});

test("the account: axe finds nothing, and it fits a phone; the last owner cannot be removed, and the dialog says why", async (t) => {
  const { page, email } = await openAccount(t);
  await assertAccessibleOnPhone(page);
  await page.getByRole("button", { name: "Menu" }).click();
  await page.getByRole("dialog").getByRole("link", { name: "Account" }).waitFor();
  await assertAccessible(page);
  await page.keyboard.press("Escape");
  await choose(page, email, "Remove …");
  const dialog = page.getByRole("dialog");
  await dialog.getByText("This is you").waitFor();
  await assertAccessible(page);
  await dialog.getByRole("button", { name: "Remove the member" }).click();
  await dialog
    .getByRole("alert")
    .getByText(/needs an owner/)
    .waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Invite somebody" }).click();
  await page.getByRole("dialog").getByLabel("Email").waitFor();
  await assertAccessible(page);
});
