import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { stage } from "./support/browser.ts";
import { newMember, openBrowser } from "./support/dashboard.ts";
import { assertAccessible, assertAccessibleOnPhone, visit } from "./support/pages.ts";
import { codeAt, setUpApp } from "./support/second-factors.ts";
import { startService } from "./support/service.ts";
import { password, visitSignedIn } from "./support/signed-in.ts";

const time = { now: Date.UTC(2030, 0, 1) };
const [browser, service] = await stage(() => startService({ clock: () => time.now }));
const section = (page: Page) => page.getByRole("region", { name: "Second step" });

async function signIn(page: Page, email: string): Promise<void> {
  await page.getByLabel("Email").fill(email);
  await page.getByRole("textbox", { name: "Password" }).fill(password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByRole("heading", { name: "Enter your code" }).waitFor();
}

test("a member sets up an authenticator app, saves the recovery codes, and signs in with either", async (t) => {
  const { page, email, requests } = await visitSignedIn(t, browser, service, "/dashboard/account");
  await section(page).getByRole("button", { name: "Set up an app" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("img", { name: "QR code of the authenticator app" }).waitFor();
  const secret = (await dialog.locator("code").innerText()).replaceAll(" ", "");
  assert.match(secret, /^[A-Z2-7]{32}$/);
  assert.ok(requests.every((request) => new URL(request).origin === service.address && !request.includes(secret)));
  await assertAccessible(page);
  await dialog.getByLabel("Code from the app").fill("000000");
  await dialog.getByRole("button", { name: "Turn it on" }).click();
  await dialog.getByText("Is wrong or was used already.").waitFor();
  await dialog.getByLabel("Code from the app").fill(codeAt(secret, time.now));
  await dialog.getByRole("button", { name: "Turn it on" }).click();
  const codes = page.getByRole("dialog", { name: "Your recovery codes" });
  await codes.getByRole("listitem").first().waitFor();
  const [first = ""] = await codes.getByRole("listitem").allInnerTexts();
  assert.equal(await codes.getByRole("listitem").count(), 10);
  await assertAccessible(page);
  await codes.getByRole("button", { name: "I have saved them" }).click();
  await codes.waitFor({ state: "detached" });
  await section(page).getByText("10 codes left").waitFor();
  assert.ok(!(await page.content()).includes(first), "the codes are shown once");
  await page.getByRole("row").filter({ hasText: email }).getByText("On", { exact: true }).waitFor();

  await page.getByRole("button", { name: "Sign out" }).click();
  await signIn(page, email);
  await assertAccessibleOnPhone(page);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.getByLabel("Code from the app").fill(codeAt(secret, time.now));
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByText("Is wrong or was used already.").waitFor();
  time.now += 60_000;
  await page.getByLabel("Code from the app").fill(codeAt(secret, time.now));
  await page.keyboard.press("Enter");
  await page.waitForURL("**/dashboard**");

  await page.getByRole("button", { name: "Sign out" }).click();
  await signIn(page, email);
  await page.getByRole("button", { name: "Use a recovery code instead" }).click();
  await page.getByLabel("Recovery code").fill(first.toUpperCase());
  await page.getByRole("button", { name: "Continue" }).click();
  await page.waitForURL("**/dashboard**");
  await section(page).getByText("9 codes left").waitFor();
  await section(page).getByRole("button", { name: "Remove the app" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove the app" }).click();
  await section(page).getByRole("button", { name: "Set up an app" }).waitFor();
});

test("a second step that is too late leads back to the password", async (t) => {
  const email = "late@shop.example";
  const member = await newMember(service, { account: service.accountId, email, role: "member", password });
  const { secret } = await setUpApp(member, time.now);
  const { page } = await visit(t, browser, `${service.address}/sign-in`);
  await signIn(page, email);
  time.now += 5 * 60_000;
  await page.getByLabel("Code from the app").fill(codeAt(secret, time.now));
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("alert").getByText("The sign-in took too long.").waitFor();
  await page.getByRole("button", { name: "Start again" }).first().click();
  await page.getByRole("textbox", { name: "Password" }).waitFor();
});

test("an owner sees who has a second step and removes it, which the page records", async (t) => {
  const { id: account } = await service.newAccount();
  const email = "lost@phone.example";
  const member = await newMember(service, { account, email, role: "member", password });
  await setUpApp(member, time.now);
  const { page, email: owner } = await visitSignedIn(t, browser, service, "/dashboard/account", { account });
  const row = page.getByRole("row").filter({ hasText: email });
  await row.getByText("On", { exact: true }).waitFor();
  await row.getByRole("button").click();
  await page.getByRole("menuitem", { name: "Remove second step …" }).click();
  await assertAccessible(page);
  await page.getByRole("dialog").getByRole("button", { name: "Remove the second step" }).click();
  await row.getByText("Off", { exact: true }).waitFor();
  await row.getByText(`Second step removed by ${owner},`).waitFor();
  assert.equal((await member.ask("GET", "/session")).status, 401);
  assert.equal((await openBrowser(service).ask("POST", "/sign-in", { email, password })).status, 200);
});
