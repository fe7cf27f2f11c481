import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Page, Request } from "playwright-core";
import { stage } from "./support/browser.ts";
import type { Category } from "./support/models.ts";
import { startService } from "./support/service.ts";
import { made } from "./support/shop.ts";
import { visitSignedIn } from "./support/signed-in.ts";
import { packSite } from "./support/sites.ts";

const [browser, service] = await stage(startService);
/** The origin that people see by default. */
const dashboard = service.address.replace("127.0.0.1", "localhost");
await made(service, "POST", "/projects", { name: "Evil", slug: "evil" });
const body = await packSite({ "petstore.json": "{}", "index.html": "<!doctype html><title>Evil</title><h1>Free kittens</h1>" });
await service.ask("POST", "/projects/1/deployments", { body, headers: { "content-type": "application/gzip" } });
await service.publishing.idle();
const site = `http://evil.petstore.localhost:${service.publishing.addresses()?.http.port}`;

/** Somebody who is signed in to the dashboard, and visits the site in another tab. */
async function open(t: TestContext) {
  const { page, context } = await visitSignedIn(t, browser, { ...service, address: dashboard }, "/dashboard/categories");
  const evil = await context.newPage();
  const toDashboard: Request[] = [];
  evil.on("request", (request) => void (request.url().startsWith(dashboard) && toDashboard.push(request)));
  await evil.goto(site);
  /** The session goes on as it was, with the one cookie that the sign-in set. */
  const cookie = await context.cookies(dashboard);
  const assertUntouched = async () => {
    assert.deepEqual(await context.cookies(dashboard), cookie);
    const answer = page.waitForResponse(`${dashboard}/dashboard/v1/session`);
    await page.reload();
    assert.equal((await answer).status(), 200);
    assert.deepEqual((await service.ask<Category[]>("GET", "/categories")).body, []);
  };
  return { page, context, evil, toDashboard, cookie, assertUntouched };
}

/** What became of an expression in the page: its value, or the name of what it threw. */
const outcomeOf = (page: Page, expression: string): Promise<unknown> =>
  page.evaluate(`(async () => ${expression})().catch((error) => error.name)`);
const calls = ["/dashboard/v1/session", "/dashboard/v1/keys", "/dashboard/v1/pets"];

test("its scripts read none of the dashboard's calls, and the session's cookie never goes with them", async (t) => {
  const { evil, toDashboard, cookie, assertUntouched } = await open(t);
  assert.deepEqual(
    cookie.map(({ name, httpOnly, sameSite }) => ({ name, httpOnly, sameSite })),
    [{ name: "petstore-session", httpOnly: true, sameSite: "Lax" }],
  );
  for (const call of calls)
    for (const mode of ["cors", "no-cors"]) {
      const options = JSON.stringify({ mode, credentials: "include" });
      assert.equal(await outcomeOf(evil, `(await fetch("${dashboard}${call}", ${options})).type`), "TypeError", `${mode} ${call}`);
    }
  const load = `new Promise((done) => document.head.append(Object.assign(document.createElement("script"),
    { src: "${dashboard}/dashboard/v1/session", onload: () => done("loaded"), onerror: () => done("refused") })))`;
  assert.equal(await outcomeOf(evil, `await ${load}`), "refused");
  assert.equal(toDashboard.length, 2 * calls.length + 1);
  for (const request of toDashboard) assert.equal((await request.allHeaders())["cookie"], undefined, request.url());
  await assertUntouched();
});

test("its requests and forms to the dashboard change nothing", async (t) => {
  const { evil, toDashboard, assertUntouched } = await open(t);
  for (const call of ["/sign-out", "/categories", "/keys"])
    await outcomeOf(
      evil,
      `await fetch("${dashboard}/dashboard/v1${call}", { method: "POST", mode: "no-cors", credentials: "include", body: '{"name":"Evil"}' })`,
    );
  for (const request of toDashboard) assert.equal((await request.allHeaders())["cookie"], undefined, request.url());
  for (const call of ["/categories", "/sign-out"]) {
    const address = `${dashboard}/dashboard/v1${call}`;
    const answer = evil.waitForResponse(address);
    await evil.evaluate(`(() => {
      const form = Object.assign(document.createElement("form"), { action: "${address}", method: "post", enctype: "text/plain" });
      form.append(Object.assign(document.createElement("input"), { name: '{"name":"Evil","x":"', value: '"}' }));
      document.body.append(form);
      form.submit();
    })()`);
    assert.equal((await answer).status(), 403, call);
    await evil.waitForURL(address);
    await evil.goto(site);
  }
  await assertUntouched();
});

test("it cannot frame the dashboard, nor keep hold of a window of it", async (t) => {
  const { evil, context, assertUntouched } = await open(t);
  for (const path of ["/dashboard/keys", "/sign-in", "/reference/listPets"]) {
    const failed = evil.waitForEvent("requestfailed");
    await evil.evaluate(`void document.body.append(Object.assign(document.createElement("iframe"), { src: "${dashboard}${path}" }))`);
    assert.equal((await failed).failure()?.errorText, "net::ERR_BLOCKED_BY_RESPONSE", path);
  }
  const popup = context.waitForEvent("page");
  await evil.evaluate(`void (window.opened = window.open("${dashboard}/dashboard/categories"))`);
  const opened = await popup;
  await opened.getByRole("heading", { level: 1, name: "Categories" }).waitFor();
  assert.equal(await opened.evaluate("window.opener"), null);
  assert.equal(await evil.evaluate("window.opened.closed"), true, "the window is out of its reach");
  await assertUntouched();
});

test("a cookie that it sets never reaches the dashboard", async (t) => {
  const { evil, page, cookie, assertUntouched } = await open(t);
  for (const domain of ["", "; Domain=localhost", "; Domain=petstore.localhost", "; Domain=.localhost"])
    await evil.evaluate(`void (document.cookie = "petstore-session=evil; Path=/${domain}")`);
  assert.match(await evil.evaluate<string>("document.cookie"), /petstore-session=evil/, "it has one of its own");
  const request = page.waitForRequest(`${dashboard}/dashboard/v1/session`);
  await page.reload();
  assert.equal((await (await request).allHeaders())["cookie"], `${cookie[0]?.name}=${cookie[0]?.value}`);
  await assertUntouched();
});
