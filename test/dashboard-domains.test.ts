import assert from "node:assert/strict";
import { suite, test, type TestContext } from "node:test";
import type { Locator, Page } from "playwright-core";
import { stage } from "./support/browser.ts";
import { findings, overflow, phone } from "./support/pages.ts";
import { openPlatform } from "./support/platform.ts";
import { visitSignedIn } from "./support/signed-in.ts";

const minuteMs = 60_000;

const [browser, platform] = await stage(openPlatform);
const project = await platform.project("rex", { "index.html": "<h1>Rex</h1>" });

suite("Settings, Domains in the dashboard", () => {
  const idle = () => platform.service.publishing.idle();
  const open = (t: TestContext, id = project, options = {}) =>
    visitSignedIn(t, browser, platform.service, `/dashboard/projects/${id}/domains`, options);
  const card = (page: Page, hostname: string): Locator => page.getByRole("article", { name: hostname });

  async function add(page: Page, hostname: string): Promise<void> {
    await page.getByRole("button", { name: "Add domain" }).first().click();
    await page.getByLabel("Hostname").fill(hostname);
    await page.getByRole("dialog").getByRole("button", { name: "Add domain" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
  }
  async function choose(page: Page, hostname: string, action: string): Promise<void> {
    await page.getByRole("button", { name: `Actions for ${hostname}` }).click();
    await page.getByRole("menuitem", { name: action }).click();
  }
  /** A name with the right record and a certificate, by the service alone. */
  async function attached(hostname: string, id = project): Promise<void> {
    platform.dns.set(hostname, "CNAME", ["sites.test"]);
    assert.equal((await platform.addDomain(id, hostname)).status, 201);
    await idle();
    assert.equal((await platform.domain(id, hostname)).certificate.status, "issued");
  }

  test("from Add domain to HTTPS: the record to create, what is wrong with it, Verify, the certificate, and Remove", async (t) => {
    const { page } = await open(t);
    await page.getByText("No domains yet").waitFor();
    await add(page, " WWW.Shop.TEST ");
    const shop = card(page, "www.shop.test");
    const record = shop.getByRole("region", { name: "CNAME record for www.shop.test" });
    assert.match(await record.innerText(), /Type\s+CNAME\s+Name\s+www\s+Value\s+sites\.test\s+TTL \(seconds\)\s+3600/);
    await shop.getByText("Waiting for DNS").waitFor();
    await shop.getByText("DNS changes can take up to 48 hours").waitFor();

    platform.dns.set("www.shop.test", "A", ["192.0.2.7"]);
    await shop.getByRole("button", { name: "Verify www.shop.test" }).click();
    const problem = shop.getByRole("list", { name: "What is wrong" }).getByRole("listitem");
    await problem.getByText("www.shop.test has A records").waitFor();
    assert.match(await problem.innerText(), /Expected\s+CNAME sites\.test\s+Found\s+A 192\.0\.2\.7\s+What to do\s+Delete the A record/);

    platform.dns.remove("www.shop.test");
    platform.dns.set("www.shop.test", "CNAME", ["sites.test"]);
    await shop.getByRole("button", { name: "Verify www.shop.test" }).click();
    await page.getByText("The DNS record of www.shop.test is correct.").waitFor();
    await idle();
    await shop.getByText("Active").waitFor();
    await shop.getByText("Certificate valid until").waitFor();
    const { body: shown } = await platform.service.ask<{ url: string }>("GET", `/projects/${project}`);
    const address = await shop.getByRole("link", { name: "www.shop.test" }).getAttribute("href");
    assert.equal(address, `http://www.shop.test:${new URL(shown.url).port}`, "the port at which people see the edge");
    assert.equal((await platform.https("www.shop.test", "/")).body, "<h1>Rex</h1>");

    await choose(page, "www.shop.test", "Remove");
    await page.getByRole("dialog").getByText("stops working at once").waitFor();
    assert.equal((await platform.https("www.shop.test", "/")).status, 200, "nothing is removed before the answer");
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await page.getByRole("alert").getByText("delete its CNAME record at your registrar").waitFor();
    await shop.waitFor({ state: "detached" });
    await page.getByRole("main").and(page.locator(":focus")).waitFor();
    await assert.rejects(platform.https("www.shop.test", "/"));
  });

  test("a record that appears late is shown without a reload and without anybody asking", async (t) => {
    const { page } = await open(t);
    await add(page, "www.late.test");
    await card(page, "www.late.test").getByText("Waiting for DNS").waitFor();
    // The first check must be over: one that asked DNS before the record and ended after the minute would put off the next by another minute.
    await idle();
    platform.dns.set("www.late.test", "CNAME", ["sites.test"]);
    platform.time.now += minuteMs;
    await idle();
    await card(page, "www.late.test").getByText("Active").waitFor();
  });

  test("each field of the record is copied by itself, and the words for a provider are found by keyboard", async (t) => {
    await platform.addDomain(project, "apex.test");
    const { page, context } = await open(t);
    await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: platform.service.address });
    const apex = card(page, "apex.test");
    await apex.getByText("Not every DNS provider supports them.").waitFor();
    const record = apex.getByRole("region", { name: "ALIAS record for apex.test" });
    for (const [field, value] of [
      ["Name", "@"],
      ["Value", "sites.test"],
      ["TTL (seconds)", "3600"],
    ] as const) {
      await record.getByRole("button", { name: `Copy ${field}` }).press("Enter");
      assert.equal(await page.evaluate("navigator.clipboard.readText()"), value);
    }
    await apex.getByText("Where to enter it").press("Enter");
    await apex.getByLabel("DNS provider").selectOption("Cloudflare");
    await apex.getByText("CNAME flattening").waitFor();
    await choose(page, "apex.test", "Remove");
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await apex.waitFor({ state: "detached" });
  });

  test("a primary domain, and a redirect to it with each status; ending the redirect serves the name itself", async (t) => {
    const own = await platform.project("pair", { "index.html": "pair" });
    await attached("www.pair.test", own);
    await attached("old.pair.test", own);
    const { page } = await open(t, own);
    await choose(page, "www.pair.test", "Make primary");
    await card(page, "www.pair.test").getByText("Primary", { exact: true }).waitFor();

    await choose(page, "old.pair.test", "Redirect to another domain");
    const dialog = page.getByRole("dialog");
    assert.equal(await dialog.getByLabel("To").inputValue(), "www.pair.test");
    for (const status of [301, 302, 307, 308]) {
      await dialog.getByLabel("Status").selectOption(String(status));
      await dialog.getByRole("button", { name: "Save the redirect" }).click();
      await card(page, "old.pair.test").getByText(`Redirects to www.pair.test (${status})`).waitFor();
      await card(page, "old.pair.test").getByText("Visitors are sent to www.pair.test.").waitFor();
      const redirected = await platform.https("old.pair.test", "/a?b=c");
      assert.equal(redirected.status, status);
      assert.match(redirected.headers.location ?? "", /^https:\/\/www\.pair\.test(:\d+)?\/a\?b=c$/);
      await choose(page, "old.pair.test", "Change the redirect");
      assert.equal(await dialog.getByLabel("Status").inputValue(), String(status));
    }
    await dialog.getByRole("button", { name: "Cancel" }).click();

    await choose(page, "www.pair.test", "Remove");
    await dialog.getByText("These domains redirect to it. From now on their visitors see your site instead:").waitFor();
    assert.deepEqual(await dialog.getByRole("listitem").allInnerTexts(), ["old.pair.test"]);
    await dialog.getByText("Your shop’s address changes to pair.sites.test.").waitFor();
    assert.deepEqual(await findings(page), []);
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await choose(page, "old.pair.test", "Stop redirecting");
    await card(page, "old.pair.test").getByText("Redirects to www.pair.test (308)").waitFor({ state: "detached" });
    await card(page, "old.pair.test").getByText("Visitors see your site.").waitFor();
    assert.equal((await platform.https("old.pair.test", "/")).body, "pair");
  });

  test("a redirect that waits for its target says so: the site is served meanwhile, and what to do stands there", async (t) => {
    const own = await platform.project("waits", { "index.html": "waits" });
    await attached("old.waits.test", own);
    await platform.addDomain(own, "new.waits.test");
    await idle();
    const { page } = await open(t, own);
    await card(page, "new.waits.test").getByText("Visitors cannot see your site here.").waitFor();
    await card(page, "new.waits.test").getByText("new.waits.test has not been verified yet.").waitFor();
    await choose(page, "old.waits.test", "Redirect to another domain");
    await page.getByRole("dialog").getByRole("button", { name: "Save the redirect" }).click();
    await page.getByText("old.waits.test redirects to new.waits.test as soon as new.waits.test is ready.").first().waitFor();
    const old = card(page, "old.waits.test");
    await old.getByText("Redirect waits").waitFor();
    await old.getByText("Set to redirect to new.waits.test (301)").waitFor();
    await old.getByText("Visitors see your site.").waitFor();
    const problem = old.getByRole("list", { name: "What is wrong" }).getByRole("listitem");
    await problem.getByText("because new.waits.test has not been verified").waitFor();
    assert.match(await problem.innerText(), /What to do\s+Verify new\.waits\.test\./);
    assert.equal(await old.getByText("Active").count(), 0);
    assert.equal((await platform.https("old.waits.test", "/")).body, "waits");

    platform.dns.set("new.waits.test", "CNAME", ["sites.test"]);
    await card(page, "new.waits.test").getByRole("button", { name: "Verify new.waits.test" }).click();
    await page.getByText("The DNS record of new.waits.test is correct.").waitFor();
    await idle();
    await old.getByText("Visitors are sent to new.waits.test.").waitFor();
    await old.getByText("Active").waitFor();
    assert.equal((await platform.https("old.waits.test", "/")).status, 301);
  });

  test("primary is offered for verified names only, is the shop's address while it is ready, and can end; a removal tells what it freed", async (t) => {
    const own = await platform.project("chief", { "index.html": "chief" });
    await attached("www.chief.test", own);
    await attached("old.chief.test", own);
    await platform.addDomain(own, "new.chief.test");
    await idle();
    const { page } = await open(t, own);
    const header = page.getByRole("main").locator("h1 + p");
    await header.getByRole("link", { name: /^chief\.sites\.test/ }).waitFor();
    await page.getByRole("button", { name: "Actions for new.chief.test" }).click();
    await page.getByRole("menuitem", { name: "Remove" }).waitFor();
    assert.equal(await page.getByRole("menuitem", { name: "Make primary" }).count(), 0);
    await page.keyboard.press("Escape");

    await page.getByRole("button", { name: "Actions for www.chief.test" }).press("Enter");
    await page.getByRole("menuitem", { name: "Make primary" }).press("Enter");
    await card(page, "www.chief.test").getByText("Primary", { exact: true }).waitFor();
    await header.getByRole("link", { name: /^www\.chief\.test/ }).waitFor();
    await choose(page, "www.chief.test", "Stop being primary");
    await header.getByRole("link", { name: /^chief\.sites\.test/ }).waitFor();
    await card(page, "www.chief.test").getByText("Primary", { exact: true }).waitFor({ state: "detached" });

    await platform.service.ask("PATCH", `/projects/${own}/domains/old.chief.test`, { body: { redirect: { to: "www.chief.test" } } });
    await page.reload();
    await card(page, "old.chief.test").getByText("Visitors are sent to www.chief.test.").waitFor();
    await choose(page, "www.chief.test", "Remove");
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    const left = page.getByRole("alert").filter({ hasText: "www.chief.test is removed" });
    await left.getByText("delete its CNAME record at your registrar").waitFor();
    await left.getByText("These domains redirected to it; their visitors see your site now: old.chief.test.").waitFor();
    await card(page, "old.chief.test").getByText("because www.chief.test is not attached to this project").waitFor();
    assert.equal((await platform.https("old.chief.test", "/")).body, "chief");
    assert.deepEqual(await findings(page), []);
  });

  test("a certificate that is 30 minutes late shows the three checks, and Re-verify orders it", async (t) => {
    platform.dns.set("www.caa.test", "CNAME", ["sites.test"]);
    platform.dns.set("caa.test", "CAA", ['0 issue "other.test"']);
    await platform.addDomain(project, "www.caa.test");
    await idle();
    platform.time.now += 30 * minuteMs;
    const { page } = await open(t);
    const late = card(page, "www.caa.test");
    await late.getByText("Needs attention", { exact: true }).waitFor();
    const checks = late.getByRole("region", { name: "The certificate is more than 30 minutes late" }).getByRole("listitem");
    assert.deepEqual(
      (await checks.allInnerTexts()).map((text) => /^(\S+( do)?)\s+(\d)/.exec(text)?.slice(1, 4).join(" ")),
      ["Right  1", "Wrong  2", "To do  do 3"],
    );
    platform.dns.remove("caa.test", "CAA");
    await late.getByRole("button", { name: "Re-verify www.caa.test" }).click();
    await idle();
    await late.getByText("Active").waitFor();
  });

  test("where another account used the name, the TXT record that proves it is shown beside the other, by the name that providers ask for", async (t) => {
    const other = await platform.service.newAccount("pro");
    const theirs = await platform.project("theirs", { "index.html": "theirs" }, { key: other.key });
    platform.dns.set("www.left.test", "CNAME", ["sites.test"]);
    await platform.addDomain(theirs, "www.left.test", other.key);
    await idle();
    await platform.service.ask("DELETE", `/projects/${theirs}/domains/www.left.test`, { key: other.key });
    const { page } = await open(t);
    await add(page, "www.left.test");
    const left = card(page, "www.left.test");
    const { challenge } = await platform.domain(project, "www.left.test");
    const proof = left.getByRole("region", { name: `TXT record for ${challenge!.name}` });
    await proof.getByText("_petstore-challenge.www", { exact: true }).waitFor();
    await proof.getByText(challenge!.value).waitFor();
    platform.dns.set(challenge!.name, "TXT", [challenge!.value]);
    await left.getByRole("button", { name: "Verify www.left.test" }).click();
    await idle();
    await left.getByText("Active").waitFor();
  });

  test("what the service refuses of a host name stands at its field, and a name that is taken above it with the request id", async (t) => {
    const { page } = await open(t);
    await page.getByRole("button", { name: "Add domain" }).first().click();
    for (const [hostname, words] of [
      ["https://shop.test", "without http:// or https://"],
      ["*.shop.test", "Wildcards cannot be added"],
      ["rex.sites.test", "assigned by this service"],
    ] as const) {
      await page.getByLabel("Hostname").fill(hostname);
      await page.keyboard.press("Enter");
      await page.locator("input[name=hostname][aria-invalid=true]").waitFor();
      await page.getByRole("dialog").getByText(words).waitFor();
    }
    assert.deepEqual(await findings(page), []);
    const other = await platform.service.newAccount("pro");
    const theirs = await platform.project("holder", { "index.html": "x" }, { key: other.key });
    platform.dns.set("www.taken.test", "CNAME", ["sites.test"]);
    await platform.addDomain(theirs, "www.taken.test", other.key);
    await idle();
    await page.getByLabel("Hostname").fill("www.taken.test");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("is attached to another project").waitFor();
    await page.getByRole("alert").getByText("Request id").waitFor();
    assert.deepEqual(await findings(page), []);
    const record = page.getByRole("region", { name: "TXT record for _petstore-challenge.www.taken.test" });
    const [type = "", name = "", value = ""] = await record.locator("dd > span:first-child").allTextContents();
    assert.deepEqual([type, name], ["TXT", "_petstore-challenge.www.taken.test"]);
    platform.dns.set(name, "TXT", [value]);
    await page.keyboard.press("Enter");
    await card(page, "www.taken.test").waitFor();
    const { page: losing } = await open(t, theirs, { account: other.id });
    await card(losing, "www.taken.test").getByText("Taken over").waitFor();
    await card(losing, "www.taken.test").getByText("Another account has proved with a TXT record").waitFor();
    assert.deepEqual(await findings(losing), []);
  });

  test("a free account sees what domains are and which plan has them; one whose plan fell sees that they are kept, and not served", async (t) => {
    const free = await platform.service.newAccount("free");
    const own = await platform.project("free-shop", { "index.html": "free" }, { key: free.key });
    const { page } = await open(t, own, { account: free.id });
    await page.getByText("Custom domains come with the Pro plan and above").waitFor();
    assert.equal(await page.getByRole("button", { name: "Add domain" }).count(), 0);
    assert.deepEqual(await findings(page), []);

    const fallen = await platform.service.newAccount("pro");
    const shop = await platform.project("fallen-shop", { "index.html": "fallen" }, { key: fallen.key });
    platform.dns.set("www.fallen.test", "CNAME", ["sites.test"]);
    await platform.addDomain(shop, "www.fallen.test", fallen.key);
    await idle();
    await platform.service.administration["accounts.setPlan"]({ id: fallen.id, plan: "free" });
    const { page: fallenPage } = await open(t, shop, { account: fallen.id });
    await fallenPage.getByText("These domains are not served at present").waitFor();
    const fallenCard = card(fallenPage, "www.fallen.test");
    await fallenCard.getByText("Not served", { exact: true }).waitFor();
    await fallenCard.getByText("Visitors cannot see your site here.").waitFor();
    await fallenCard.getByText("Have the plan changed to Pro or above").waitFor();
    assert.equal(await fallenCard.getByText("The account's plan has no custom domains").count(), 1, "the reason stands there once");
    assert.equal(await fallenPage.getByRole("button", { name: /verify/i }).count(), 0);
    assert.deepEqual(await findings(fallenPage), []);
  });

  test("a project without a ready deployment says so before anything can be added", async (t) => {
    const { body } = await platform.service.ask<{ id: number }>("POST", "/projects", { body: { name: "Bare", slug: "bare" } });
    const { page } = await open(t, body.id);
    await page.getByText("Deploy the project first").waitFor();
    assert.equal(await page.getByRole("button", { name: "Add domain" }).count(), 0);
    await page.goto(`${page.url()}?add=true`);
    await page.getByText("Deploy the project first").waitFor();
    assert.equal(await page.getByRole("dialog").count(), 0);
  });

  test("the navigation shows that a project's domains are domains", async (t) => {
    const { page } = await open(t);
    const current = page.getByRole("navigation", { name: "Dashboard" }).locator("[aria-current=page]");
    assert.deepEqual(await current.allInnerTexts(), ["Domains"]);
    await page.getByRole("navigation", { name: "Dashboard" }).getByRole("link", { name: "Projects" }).click();
    await page.waitForURL("**/dashboard/projects");
    assert.deepEqual(await current.allInnerTexts(), ["Projects"]);
  });

  test("while the page is hidden nothing is asked, and once it is seen again it is up to date", async (t) => {
    const { page, requests } = await open(t);
    await page.clock.install();
    await page.reload();
    await add(page, "www.hidden.test");
    const show = (state: string) =>
      page.evaluate(`Object.defineProperty(document, "visibilityState", { value: "${state}", configurable: true });
        document.dispatchEvent(new Event("visibilitychange"))`);
    await card(page, "www.hidden.test").getByText("Waiting for DNS").waitFor();
    await idle();
    const reads = () => requests.filter((url) => url.includes(`/projects/${project}/domains?`)).length;
    await show("hidden");
    const readBefore = reads();
    platform.dns.set("www.hidden.test", "CNAME", ["sites.test"]);
    platform.time.now += minuteMs;
    await idle();
    await page.clock.fastForward(10 * minuteMs);
    // a request that the page made would be seen before this one is answered
    await page.evaluate("fetch('/favicon.svg')");
    assert.equal(reads(), readBefore);
    await show("visible");
    await card(page, "www.hidden.test").getByText("Active").waitFor();
  });

  for (const colorScheme of ["light", "dark"] as const) {
    test(`domains in every state, ${colorScheme}: axe finds nothing, and they fit a phone`, async (t) => {
      const own = await platform.project(`axe-${colorScheme}`, { "index.html": "axe" });
      const zone = `${colorScheme}.test`;
      await attached(`www.${zone}`, own);
      await attached(`old.${zone}`, own);
      platform.dns.set(`old.${zone}`, "CNAME", ["elsewhere.test"]);
      await platform.service.ask("POST", `/projects/${own}/domains/old.${zone}/verify`);
      platform.dns.set(`${"a".repeat(60)}.${zone}`, "A", ["192.0.2.7"]);
      await attached(`sent.${zone}`, own);
      await platform.service.ask("PATCH", `/projects/${own}/domains/sent.${zone}`, { body: { redirect: { to: `old.${zone}` } } });
      for (const hostname of [zone, `${"a".repeat(60)}.${zone}`]) await platform.addDomain(own, hostname);
      await idle();
      const { page } = await open(t, own, { colorScheme });
      await card(page, `old.${zone}`).getByText("DNS has changed").waitFor();
      await card(page, `sent.${zone}`).getByText("Redirect waits").waitFor();
      for (const details of await page.getByText("DNS record and history").all()) await details.click();
      assert.deepEqual(await findings(page), []);
      await page.setViewportSize(phone);
      assert.equal(await overflow(page), 0);
      assert.deepEqual(await findings(page), []);
    });
  }
});
