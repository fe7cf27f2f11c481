import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Page } from "playwright-core";
import { stage } from "./support/browser.ts";
import { newMember, tokenIn } from "./support/dashboard.ts";
import { assertAccessibleOnPhone, findings, visit } from "./support/pages.ts";
import { ask, startService } from "./support/service.ts";
import { password, visitSignedIn } from "./support/signed-in.ts";

const [browser, service] = await stage(startService);

const open = (t: TestContext, path: string, options = {}) => visit(t, browser, service.address + path, options);

async function linkOf(email?: string): Promise<string> {
  const { link } = await service.administration["members.invite"]({ account: service.accountId, email });
  return `/sign-in#token=${tokenIn(link)}`;
}

const useLink = (page: Page) => page.getByRole("button", { name: "Sign in with this link" }).click();

/** The control that had the focus is gone. */
const focusOnContent = (page: Page) => page.locator("main:focus").waitFor();

test("opening or reloading a sign-in link, as mail scanners do, does not use it up", async (t) => {
  const path = await linkOf("sam@shop.example");
  const { page } = await open(t, path);
  await page.getByRole("button", { name: "Sign in with this link" }).waitFor();
  assert.deepEqual(await findings(page), []);
  await page.reload();
  await page.getByRole("button", { name: "Sign in", exact: true }).waitFor();
  const person = await open(t, path);
  await useLink(person.page);
  await person.page.getByRole("heading", { name: "Choose a password" }).waitFor();
});

test("a link signs in once, asks for a password first, and disappears from the address", async (t) => {
  const path = await linkOf("ann@shop.example");
  const { page, requests } = await open(t, path);
  await useLink(page);
  await page.getByRole("heading", { name: "Choose a password" }).waitFor();
  await focusOnContent(page);
  assert.equal(page.url(), `${service.address}/sign-in`);
  const token = path.split("token=")[1] ?? "";
  assert.ok(requests.every((request) => !request.includes(token)));

  await page.goto(`${service.address}/dashboard/account`);
  await page.getByRole("heading", { name: "Choose a password" }).waitFor();
  assert.equal(await page.getByLabel("Email").inputValue(), "ann@shop.example");
  await page.getByRole("textbox", { name: "New password" }).fill("short");
  await page.getByRole("button", { name: "Save and continue" }).click();
  await page.locator("input[name=password][aria-invalid=true]").waitFor();
  assert.equal(await page.evaluate("document.activeElement.getAttribute('name')"), "password", "the refused field has the focus");
  await page.getByRole("textbox", { name: "New password" }).fill(password);
  await page.getByRole("button", { name: "Save and continue" }).click();
  await page.getByRole("heading", { level: 1, name: "Account" }).waitFor();
  await focusOnContent(page);

  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await page.goto(service.address + path);
  await useLink(page);
  await page.getByRole("heading", { name: "This sign-in link no longer works" }).waitFor();
  await page.getByText("Ask an owner of your shop for a new one, or ask the operator of this service to invite you.").waitFor();
  assert.equal(await page.getByText("npm run").count(), 0);
  assert.deepEqual(await findings(page), []);
  await page.getByRole("button", { name: "Sign in with a password" }).click();
  await page.getByLabel("Email").fill("ann@shop.example");
  await page.getByRole("textbox", { name: "Password" }).fill(password);
  await page.keyboard.press("Enter");
  await page.waitForURL("**/dashboard");
  await page.getByRole("navigation", { name: "Dashboard" }).getByText("ann@shop.example").waitFor();
  await focusOnContent(page);
});

test("a link pasted into an already open page signs in too", async (t) => {
  const { page } = await open(t, "/sign-in");
  await page.getByLabel("Email").waitFor();
  await page.goto(service.address + (await linkOf("pat@shop.example")));
  await useLink(page);
  await page.getByRole("heading", { name: "Choose a password" }).waitFor();
  assert.equal(page.url(), `${service.address}/sign-in`);
});

test("after a first start, the owner gives an email along with the password", async (t) => {
  const { page } = await open(t, await linkOf());
  await useLink(page);
  await page.getByLabel("Email").fill("not an email");
  await page.getByRole("textbox", { name: "New password" }).fill(password);
  await page.getByRole("button", { name: "Save and continue" }).click();
  await page.getByText("Must be an email address.").waitFor();
  await page.getByLabel("Email").fill("first@shop.example");
  await page.getByRole("button", { name: "Save and continue" }).click();
  await page.getByText("first@shop.example").first().waitFor();
});

test("without a session every page leads to the sign-in page, and back after the sign-in", async (t) => {
  await newMember(service, { account: service.accountId, email: "bea@shop.example", role: "owner", password });
  const { page } = await open(t, "/dashboard/account?a=1");
  await page.waitForURL("**/sign-in?to=*");
  await page.getByLabel("Email").fill("bea@shop.example");
  await page.getByRole("textbox", { name: "Password" }).fill("not her password");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("alert").waitFor();
  assert.equal(await page.getByLabel("Email").inputValue(), "bea@shop.example");
  await page.getByRole("textbox", { name: "Password" }).fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL("**/dashboard/account?a=1");
});

test("a sign-in link cannot redirect to another site", async (t) => {
  const { page } = await visitSignedIn(t, browser, service, "/sign-in?to=//evil.example/dashboard");
  await page.waitForURL("**/dashboard");
  assert.equal(new URL(page.url()).origin, service.address);
});

test("after a session is ended elsewhere, the next call leads to the sign-in page", async (t) => {
  const { page, context } = await visitSignedIn(t, browser, service, "/dashboard/account");
  const cookie = (await context.cookies()).map(({ name, value }) => `${name}=${value}`).join("; ");
  await ask(`${service.address}/dashboard/v1/sign-out`, "POST", { headers: { cookie, origin: service.address } });
  await page.reload();
  await page.waitForURL("**/sign-in?to=%2Fdashboard%2Faccount");
});

test("an unknown path of the dashboard's API is a 404 of the API, not the page", async () => {
  const cookie = (await newMember(service, { account: service.accountId, email: "cy@shop.example", role: "owner" })).cookie;
  for (const path of ["/dashboard/v1", "/dashboard/v1/nothing", "/dashboard/v1/nothing/at/all"]) {
    const { status, headers } = await ask(service.address + path, "GET", { headers: { cookie, accept: "text/html" } });
    assert.equal(status, 404, path);
    if (path !== "/dashboard/v1") assert.match(headers.get("content-type") ?? "", /json/);
  }
  for (const path of ["/sign-in", "/dashboard", "/dashboard/animals", "/dashboard/animals/7", "/dashboard/v10"]) {
    assert.equal((await ask(service.address + path, "GET")).status, 200, path);
  }
});

test("signing in: axe finds nothing, and it fits a phone", async (t) => {
  const { page } = await open(t, "/sign-in");
  await page.getByLabel("Email").waitFor();
  await page.getByText("ask the operator of this service to invite you").waitFor();
  assert.equal(await page.getByText("npm run").count(), 0);
  await assertAccessibleOnPhone(page);
});
