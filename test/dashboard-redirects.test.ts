import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { stage } from "./support/browser.ts";
import { attach, card, choose, openDomainsPage } from "./support/domains-page.ts";
import { assertAccessibleOnPhone, findings } from "./support/pages.ts";
import { openPlatform } from "./support/platform.ts";

const [browser, platform] = await stage(openPlatform);
const idle = () => platform.service.publishing.idle();

suite("redirects and primary names in the dashboard", () => {
  test("a domain becomes primary, others redirect to it with each status, and a removed redirect serves the site again", async (t) => {
    const own = await platform.project("pair", { "index.html": "pair" });
    await attach(platform, own, "www.pair.test");
    await attach(platform, own, "old.pair.test");
    const { page } = await openDomainsPage(t, browser, platform, own);
    await choose(page, "www.pair.test", "Make it the main domain");
    await card(page, "www.pair.test").getByText("Main domain", { exact: true }).waitFor();

    await choose(page, "old.pair.test", "Redirect to another domain");
    const dialog = page.getByRole("dialog");
    assert.equal(await dialog.getByLabel("To").inputValue(), "www.pair.test");
    for (const status of [301, 302, 307, 308]) {
      await dialog.getByLabel("How long").selectOption(String(status));
      await dialog.getByRole("button", { name: "Save the redirect" }).click();
      await card(page, "old.pair.test").getByText(`Redirects to www.pair.test (${status})`).waitFor();
      await card(page, "old.pair.test").getByText("Visitors are sent to www.pair.test.").waitFor();
      const redirected = await platform.https("old.pair.test", "/a?b=c");
      assert.equal(redirected.status, status);
      assert.match(redirected.headers.location ?? "", /^https:\/\/www\.pair\.test(:\d+)?\/a\?b=c$/);
      await choose(page, "old.pair.test", "Change the redirect");
      assert.equal(await dialog.getByLabel("How long").inputValue(), String(status));
    }
    await dialog.getByRole("button", { name: "Cancel" }).click();

    await choose(page, "www.pair.test", "Remove");
    await dialog.getByText("These domains redirect to it. After the removal they show your site instead:").waitFor();
    assert.deepEqual(await dialog.getByRole("listitem").allInnerTexts(), ["old.pair.test"]);
    await dialog.getByText("Your shop’s address changes to pair.sites.test.").waitFor();
    assert.deepEqual(await findings(page), []);
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await choose(page, "old.pair.test", "Stop redirecting");
    await card(page, "old.pair.test").getByText("Redirects to www.pair.test (308)").waitFor({ state: "detached" });
    await card(page, "old.pair.test").getByText("Visitors see your site.").waitFor();
    assert.equal((await platform.https("old.pair.test", "/")).body, "pair");
  });

  test("a redirect that waits for its target says so and what to do, and the domain serves the site meanwhile", async (t) => {
    const own = await platform.project("waits", { "index.html": "waits" });
    await attach(platform, own, "old.waits.test");
    await platform.addDomain(own, "new.waits.test");
    await idle();
    const { page } = await openDomainsPage(t, browser, platform, own);
    await card(page, "new.waits.test").getByText("Visitors cannot see your site here.").waitFor();
    await card(page, "new.waits.test").getByText("new.waits.test has not been verified yet.").waitFor();
    await choose(page, "old.waits.test", "Redirect to another domain");
    await page.getByRole("dialog").getByRole("button", { name: "Save the redirect" }).click();
    await page.getByText("old.waits.test redirects to new.waits.test as soon as new.waits.test is ready.").first().waitFor();
    const old = card(page, "old.waits.test");
    await old.getByText("Redirect waiting").waitFor();
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

  test("only a verified name can become primary; it is the shop's address while it is ready; a removal lists the redirects that it ended", async (t) => {
    const own = await platform.project("chief", { "index.html": "chief" });
    await attach(platform, own, "www.chief.test");
    await attach(platform, own, "old.chief.test");
    await platform.addDomain(own, "new.chief.test");
    await idle();
    const { page } = await openDomainsPage(t, browser, platform, own);
    const header = page.getByRole("main").locator("h1 + p");
    await header.getByRole("link", { name: /^chief\.sites\.test/ }).waitFor();
    await page.getByRole("button", { name: "Actions for new.chief.test" }).click();
    await page.getByRole("menuitem", { name: "Remove" }).waitFor();
    assert.equal(await page.getByRole("menuitem", { name: "Make it the main domain" }).count(), 0);
    await page.keyboard.press("Escape");

    await page.getByRole("button", { name: "Actions for www.chief.test" }).press("Enter");
    await page.getByRole("menuitem", { name: "Make it the main domain" }).press("Enter");
    await card(page, "www.chief.test").getByText("Main domain", { exact: true }).waitFor();
    await header.getByRole("link", { name: /^www\.chief\.test/ }).waitFor();
    await choose(page, "www.chief.test", "Stop using it as the main domain");
    await header.getByRole("link", { name: /^chief\.sites\.test/ }).waitFor();
    await card(page, "www.chief.test").getByText("Main domain", { exact: true }).waitFor({ state: "detached" });

    await platform.service.ask("PATCH", `/projects/${own}/domains/old.chief.test`, { body: { redirect: { to: "www.chief.test" } } });
    await page.reload();
    await card(page, "old.chief.test").getByText("Visitors are sent to www.chief.test.").waitFor();
    await choose(page, "www.chief.test", "Remove");
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    const left = page.getByRole("alert").filter({ hasText: "www.chief.test is removed" });
    await left.getByText("delete its CNAME record at your registrar").waitFor();
    await left.getByText("These domains redirected to it, and now show your site instead: old.chief.test.").waitFor();
    await card(page, "old.chief.test").getByText("because www.chief.test is not attached to this project").waitFor();
    assert.equal((await platform.https("old.chief.test", "/")).body, "chief");
    assert.deepEqual(await findings(page), []);
  });

  test("domains in every state: axe finds nothing, and they fit a phone", async (t) => {
    const own = await platform.project("axe", { "index.html": "axe" });
    const zone = "states.test";
    await attach(platform, own, `www.${zone}`);
    await attach(platform, own, `old.${zone}`);
    platform.dns.set(`old.${zone}`, "CNAME", ["elsewhere.test"]);
    await platform.service.ask("POST", `/projects/${own}/domains/old.${zone}/verify`);
    platform.dns.set(`${"a".repeat(60)}.${zone}`, "A", ["192.0.2.7"]);
    await attach(platform, own, `sent.${zone}`);
    await platform.service.ask("PATCH", `/projects/${own}/domains/sent.${zone}`, { body: { redirect: { to: `old.${zone}` } } });
    for (const hostname of [zone, `${"a".repeat(60)}.${zone}`]) await platform.addDomain(own, hostname);
    await idle();
    const { page } = await openDomainsPage(t, browser, platform, own);
    await card(page, `old.${zone}`).getByText("DNS has changed").waitFor();
    await card(page, `sent.${zone}`).getByText("Redirect waiting").waitFor();
    for (const details of await page.getByText("DNS record and history").all()) await details.click();
    await assertAccessibleOnPhone(page);
  });
});
