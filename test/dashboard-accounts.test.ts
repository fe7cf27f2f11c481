import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { BrowserContext, Page } from "playwright-core";
import { stage } from "./support/browser.ts";
import { newMember, openBrowser, type Browser } from "./support/dashboard.ts";
import { assertAccessible, assertAccessibleOnPhone, visit } from "./support/pages.ts";
import { startService } from "./support/service.ts";
import { cookieOf, password } from "./support/signed-in.ts";

const [browser, service] = await stage(startService);
let shops = 0;

type Owner = { shop: string; email: string; account: number; at: Browser };

/** The owner of a new shop with one category, named after the shop. */
async function newOwner(): Promise<Owner> {
  const { id: account } = await service.newAccount();
  const shop = `Shop ${++shops} of pets`;
  const email = `owner${shops}@accounts.example`;
  const at = await newMember(service, { account, email, role: "owner", password });
  assert.equal((await at.ask("PATCH", "/account", { name: shop })).status, 200);
  assert.equal((await at.ask("POST", "/categories", { name: `Category of ${shop}` })).status, 201);
  return { shop, email, account, at };
}

/** Opens a page in a browser that is signed in as these owners. The last one is the current account's. */
async function open(t: TestContext, path: string, ...owners: Owner[]) {
  const jar = openBrowser(service);
  for (const { email } of owners) assert.equal((await jar.ask("POST", "/sign-in", { email, password })).status, 200);
  return visit(t, browser, service.address + path, { storageState: { cookies: [cookieOf(service.address, jar.cookie)], origins: [] } });
}

async function newTab(context: BrowserContext, path: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(service.address + path);
  return page;
}

const navigation = (page: Page) => page.getByRole("navigation", { name: "Dashboard" });
const shows = (page: Page, { shop }: Owner) => navigation(page).getByText(shop, { exact: true }).waitFor();
const category = (page: Page, { shop }: Owner) => page.getByText(`Category of ${shop}`, { exact: true });

async function choose(page: Page, item: string | RegExp): Promise<void> {
  await navigation(page).getByRole("button", { name: "Switch account" }).click();
  await page.getByRole("menuitem", { name: item }).click();
}

async function fillSignIn(page: Page, { email }: Owner): Promise<void> {
  await page.getByLabel("Email").fill(email);
  await page.getByRole("textbox", { name: "Password" }).fill(password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

test("another account is added beside the first, the menu switches between them, and every tab follows", async (t) => {
  const [ann, bea] = [await newOwner(), await newOwner()];
  const { page, context } = await open(t, "/dashboard/categories", ann);
  const other = await newTab(context, "/dashboard/categories");
  await category(other, ann).waitFor();
  await choose(page, "Add another account");
  await page.getByRole("heading", { name: "Add another account" }).waitFor();
  await page.getByText(`You stay signed in to ${ann.shop} as ${ann.email}.`).waitFor();
  await assertAccessible(page);
  await fillSignIn(page, bea);
  await shows(page, bea);
  await shows(other, bea);
  await other.getByRole("link", { name: "Categories" }).first().click();
  await category(other, bea).waitFor();
  assert.equal(await category(other, ann).count(), 0);

  await choose(page, new RegExp(ann.shop));
  await shows(page, ann);
  await shows(other, ann);
  assert.equal(await category(other, bea).count(), 0);
  await other.goBack();
  await shows(other, ann);
  assert.equal(await category(other, bea).count(), 0);
});

test("an answer for the previous account that arrives after another tab has switched is never shown", async (t) => {
  const [ann, bea] = [await newOwner(), await newOwner()];
  const { page, context } = await open(t, "/dashboard", bea, ann);
  await shows(page, ann);
  const late = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const other = await context.newPage();
  await other.route("**/dashboard/v1/categories*", async (route) => {
    const reply = await route.fetch();
    asked.resolve();
    await late.promise;
    await route.fulfill({ response: reply }).catch(() => {}); // the page has left
  });
  await other.goto(`${service.address}/dashboard/categories`);
  await asked.promise;
  await choose(page, new RegExp(bea.shop));
  await shows(other, bea);
  late.resolve();
  await other.unroute("**/dashboard/v1/categories*");
  await other.goto(`${service.address}/dashboard/categories`);
  await category(other, bea).waitFor();
  assert.equal(await category(other, ann).count(), 0);
});

test("a change sent by a page of the previous account changes no shop, and the page then shows the other account", async (t) => {
  const [ann, bea] = [await newOwner(), await newOwner()];
  const { page, context } = await open(t, "/dashboard", bea, ann);
  await shows(page, ann);
  const deaf = await context.newPage();
  await deaf.addInitScript("globalThis.BroadcastChannel = class { addEventListener() {} postMessage() {} close() {} }");
  await deaf.goto(`${service.address}/dashboard/categories`);
  await category(deaf, ann).waitFor();
  await deaf.getByRole("button", { name: "New category" }).first().click();
  await deaf.getByRole("dialog").getByLabel("Name").fill("Typed for Ann");
  await choose(page, new RegExp(bea.shop));
  await shows(page, bea);
  deaf.on("dialog", (dialog) => void dialog.accept());
  const answer = deaf.waitForResponse((response) => response.request().method() === "POST");
  await deaf.getByRole("dialog").getByRole("button", { name: "Create category" }).click();
  assert.equal((await answer).status(), 412);
  await shows(deaf, bea);
  for (const { at, shop } of [ann, bea]) {
    const names = (await at.ask<{ name: string }[]>("GET", "/categories")).body.map(({ name }) => name);
    assert.deepEqual(names, [`Category of ${shop}`]);
  }
});

test("signing out switches to the previous account; signing out of all takes every tab to the sign-in page", async (t) => {
  const [ann, bea, cy] = [await newOwner(), await newOwner(), await newOwner()];
  const { page, context } = await open(t, "/dashboard/orders", ann, bea, cy);
  const other = await newTab(context, "/dashboard/orders");
  await shows(other, cy);
  await navigation(page).getByRole("button", { name: "Sign out" }).click();
  await shows(page, bea);
  await shows(other, bea);
  await choose(page, "Sign out of all accounts");
  for (const tab of [page, other]) await tab.getByRole("heading", { name: "Sign in", exact: true }).waitFor();
  assert.deepEqual(await context.cookies(), []);
});

test("a member whose session has ended can continue with another account of the browser, and the menu leaves out an ended session", async (t) => {
  const [ann, bea, cy] = [await newOwner(), await newOwner(), await newOwner()];
  const { page } = await open(t, "/dashboard", ann, bea, cy);
  await shows(page, cy);
  await cy.at.ask("DELETE", "/sessions");
  await service.administration["members.reset"]({ account: ann.account, email: ann.email });
  await page.reload();
  const goOn = page.getByRole("button", { name: `Continue in ${bea.shop} as ${bea.email}` });
  await goOn.waitFor();
  await assertAccessibleOnPhone(page);
  await page.setViewportSize({ width: 1280, height: 900 });
  await goOn.click();
  await shows(page, bea);
  await navigation(page).getByRole("button", { name: "Switch account" }).click();
  await page.getByRole("menuitem", { name: "Add another account" }).waitFor();
  assert.deepEqual(await page.getByRole("menuitem").allInnerTexts(), ["Add another account"]);
});

test("with five accounts the menu says that the browser is full; it is accessible, and fits a phone", async (t) => {
  const owners: Owner[] = [];
  for (let i = 0; i < 5; i++) owners.push(await newOwner());
  const { page } = await open(t, "/dashboard/account", ...owners);
  await navigation(page).getByRole("button", { name: "Switch account" }).click();
  await page.getByText("One browser can be signed in to 5 accounts.").waitFor();
  assert.equal(await page.getByRole("menuitem").count(), 6, "four accounts, why there are no more, and the way out");
  await assertAccessible(page);
  await page.keyboard.press("Escape");
  await page.goto(`${service.address}/sign-in?add=true`);
  await page.getByLabel("Email").waitFor();
  await fillSignIn(page, await newOwner());
  await page.getByRole("alert").getByText("This browser is signed in to 5 accounts").waitFor();
  await page.goto(`${service.address}/dashboard/account`);
  await shows(page, owners[4] as Owner);
  await assertAccessibleOnPhone(page);
  await page.getByRole("button", { name: "Menu" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Switch account" }).click();
  await page.getByRole("menuitem", { name: (owners[0] as Owner).shop }).waitFor();
  await assertAccessible(page);
});
