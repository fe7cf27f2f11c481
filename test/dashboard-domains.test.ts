import assert from "node:assert/strict";
import { suite, test, type TestContext } from "node:test";
import { stage } from "./support/browser.ts";
import { add, attach, card, choose, openDomainsPage } from "./support/domains-page.ts";
import { assertAccessibleOnPhone, findings, visit } from "./support/pages.ts";
import { openPlatform } from "./support/platform.ts";

const minuteMs = 60_000;

const [browser, platform] = await stage(openPlatform);
const project = await platform.project("rex", { "index.html": "<h1>Rex</h1>" });

suite("Settings, Domains in the dashboard", () => {
  const idle = () => platform.service.publishing.idle();
  const open = (t: TestContext, id = project, options = {}) => openDomainsPage(t, browser, platform, id, options);

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

  test("an apex is added together with a redirect from www, and www with one from its apex; both show their records", async (t) => {
    const id = await platform.project("pair", { "index.html": "pair" });
    const { page } = await open(t, id);
    await page.getByRole("button", { name: "Add domain" }).first().click();
    const dialog = page.getByRole("dialog");
    await page.getByLabel("Domain name").fill("pair.test");
    assert.equal(await dialog.getByLabel("Also add www.pair.test").isChecked(), true);
    assert.deepEqual(await findings(page), []);
    await dialog.getByRole("button", { name: "Add domain" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByText("pair.test and www.pair.test are added.").waitFor();
    await card(page, "pair.test").getByRole("region", { name: "ALIAS record for pair.test" }).waitFor();
    await card(page, "www.pair.test").getByRole("region", { name: "CNAME record for www.pair.test" }).waitFor();
    assert.deepEqual((await platform.domain(id, "www.pair.test")).redirect, { to: "pair.test", status: 301 });

    await page.getByRole("button", { name: "Add domain" }).first().click();
    await page.getByLabel("Domain name").fill("https://www.back.test/");
    await dialog.getByLabel("Also add back.test").check();
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    await card(page, "back.test").getByText("Set to redirect to www.back.test (301)").waitFor();

    await attach(platform, project, "www.half.test");
    await page.getByRole("button", { name: "Add domain" }).first().click();
    await page.getByLabel("Domain name").fill("half.test");
    await page.keyboard.press("Enter");
    await page.getByText("www.half.test could not be added and redirected.").waitFor();
    await card(page, "half.test").waitFor();
    assert.deepEqual((await platform.service.ask<{ hostname: string }[]>("GET", `/projects/${id}/domains`)).body.length, 5);
  });

  test("a link shows the record to the person who sets the DNS, without sign-in, and updates itself once the record is right", async (t) => {
    const id = await platform.project("passed", { "index.html": "passed" });
    await platform.addDomain(id, "www.passed.test");
    await idle();
    const { page } = await open(t, id);
    await page.getByRole("button", { name: "Make a link to the records of www.passed.test" }).click();
    const shown = (link: string): string => platform.service.address + new URL(link).pathname; // the test listens at another port
    const url = shown(await page.getByLabel("Link to share").inputValue());
    await assertAccessibleOnPhone(page);
    const { page: other } = await visit(t, browser, url);
    await other.clock.install();
    await other.reload();
    await other.getByRole("heading", { name: "DNS record for www.passed.test" }).waitFor();
    assert.equal(await other.getByRole("region", { name: "CNAME record" }).locator("[data-what=Value]").innerText(), "sites.test");
    await assertAccessibleOnPhone(other);
    platform.dns.set("www.passed.test", "CNAME", ["sites.test"]);
    platform.time.now += minuteMs;
    await idle();
    await other.clock.runFor(16_000);
    await other.getByText("The record is right.").waitFor();

    await platform.addDomain(id, "www.ended.test");
    await page.reload();
    const ended = card(page, "www.ended.test");
    await ended.getByRole("button", { name: "Make a link" }).click();
    const second = shown(await ended.getByLabel("Link to share").inputValue());
    await ended.getByRole("button", { name: "End the link" }).click();
    await page.getByText("No link to the records of www.ended.test works any more.").waitFor();
    assert.equal((await fetch(second)).status, 404);
  });

  test("a record that appears late is shown without a reload", async (t) => {
    const { page } = await open(t, await platform.project("late", { "index.html": "late" }));
    await add(page, "www.late.test");
    await card(page, "www.late.test").getByText("Waiting for DNS").waitFor();
    // Wait for the first check to end. If it asked DNS before the record existed and ended after the clock moved, the next check would be a
    // minute late.
    await idle();
    platform.dns.set("www.late.test", "CNAME", ["sites.test"]);
    platform.time.now += minuteMs;
    await idle();
    await card(page, "www.late.test").getByText("Active").waitFor();
  });

  test("each field of the record has a copy button, and the providers' words are reachable by keyboard", async (t) => {
    await platform.addDomain(project, "apex.test");
    const { page, context } = await open(t);
    await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: platform.service.address });
    const apex = card(page, "apex.test");
    await apex.getByText("Not every DNS provider supports it.").waitFor();
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

  test("a certificate that is 30 minutes late shows the three checks, and Re-verify orders it", async (t) => {
    platform.dns.set("www.caa.test", "CNAME", ["sites.test"]);
    platform.dns.set("caa.test", "CAA", ['0 issue "other.test"']);
    await platform.addDomain(project, "www.caa.test");
    await idle();
    platform.time.now += 30 * minuteMs;
    const { page } = await open(t);
    const late = card(page, "www.caa.test");
    await late.getByText("Needs attention", { exact: true }).waitFor();
    const checks = late.getByRole("region", { name: "There is no valid certificate" }).getByRole("listitem");
    assert.deepEqual(
      (await checks.allInnerTexts()).map((text) => /^(\S+( do)?)\s+(\d)/.exec(text)?.slice(1, 4).join(" ")),
      ["Right  1", "Wrong  2", "To do  do 3"],
    );
    platform.dns.remove("caa.test", "CAA");
    await late.getByRole("button", { name: "Re-verify www.caa.test" }).click();
    await idle();
    await late.getByText("Active").waitFor();
  });

  test("if another account used the name, the page also shows the TXT record that proves ownership, with its name as providers ask for it", async (t) => {
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

  test("a refused host name shows its error at the field, and a taken one above it with the request id", async (t) => {
    const { page } = await open(t, await platform.project("refusing", { "index.html": "refusing" }));
    await page.getByRole("button", { name: "Add domain" }).first().click();
    for (const [hostname, words] of [
      ["https://owner@shop.test", "without http:// or https://"],
      ["*.shop.test", "Wildcards cannot be added"],
      ["rex.sites.test", "assigned by this service"],
    ] as const) {
      await page.getByLabel("Domain name").fill(hostname);
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
    await page.getByLabel("Domain name").fill("https://www.taken.test/");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("is attached to another project").waitFor();
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

  test("a Free account sees what domains are and which plans have them; after a downgrade, it sees that its domains are kept but not served", async (t) => {
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
    await fallenPage.getByText("Visitors cannot open these domains now").waitFor();
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
    await page.getByText("Publish something first").waitFor();
    assert.equal(await page.getByRole("button", { name: "Add domain" }).count(), 0);
    await page.goto(`${page.url()}?add=true`);
    await page.getByText("Publish something first").waitFor();
    assert.equal(await page.getByRole("dialog").count(), 0);
  });

  test("a hidden page sends no requests, and is up to date when it is visible again", async (t) => {
    const id = await platform.project("hidden", { "index.html": "hidden" });
    const { page, requests } = await open(t, id);
    await page.clock.install();
    await page.reload();
    await add(page, "www.hidden.test");
    const show = (state: string) =>
      page.evaluate(`Object.defineProperty(document, "visibilityState", { value: "${state}", configurable: true });
        document.dispatchEvent(new Event("visibilitychange"))`);
    await card(page, "www.hidden.test").getByText("Waiting for DNS").waitFor();
    await idle();
    const reads = () => requests.filter((url) => url.includes(`/projects/${id}/domains?`)).length;
    await show("hidden");
    const readBefore = reads();
    platform.dns.set("www.hidden.test", "CNAME", ["sites.test"]);
    platform.time.now += minuteMs;
    await idle();
    await page.clock.fastForward(10 * minuteMs);
    // a request from the page would be counted before this one is answered
    await page.evaluate("fetch('/favicon.svg')");
    assert.equal(reads(), readBefore);
    await show("visible");
    await card(page, "www.hidden.test").getByText("Active").waitFor();
  });
});
