import assert from "node:assert/strict";
import { suite, test, type TestContext } from "node:test";
import type { Page } from "playwright-core";
import type { Project } from "../src/publishing/projects/projects.ts";
import { stage } from "./support/browser.ts";
import { assertAccessibleOnPhone, findings } from "./support/pages.ts";
import { openPlatform } from "./support/platform.ts";
import { visitSignedIn } from "./support/signed-in.ts";

// Visitors reach this service at the standard ports, as if behind a load balancer.
const [browser, platform] = await stage(() => openPlatform({ env: { EDGE_PUBLIC_HTTP_PORT: "80", EDGE_PUBLIC_HTTPS_PORT: "443" } }));

suite("Settings, Address for visitors in the dashboard", () => {
  const open = (t: TestContext, id: number, options = {}) =>
    visitSignedIn(t, browser, platform.service, `/dashboard/projects/${id}/settings`, options);
  const toPrimary = (page: Page) => page.getByRole("switch", { name: "Send visitors of all other addresses to the main domain" });
  const hsts = (page: Page) => page.getByRole("switch", { name: "Let browsers open your domains over secure connections only" });
  const addresses = (page: Page) => page.getByRole("region", { name: "Address for visitors" });
  const shown = async (id: number) => (await platform.service.ask<Project>("GET", `/projects/${id}`)).body;
  const change = (id: number, hostname: string, body: object) =>
    platform.service.ask("PATCH", `/projects/${id}/domains/${hostname}`, { body });

  /** A project with verified names that have their certificates. */
  async function projectWith(slug: string, ...hostnames: string[]): Promise<number> {
    const id = await platform.project(slug, { "index.html": slug });
    for (const hostname of hostnames) {
      platform.dns.set(hostname, "CNAME", ["sites.test"]);
      assert.equal((await platform.addDomain(id, hostname)).status, 201);
    }
    await platform.service.publishing.idle();
    return id;
  }

  test("a switch, operable by keyboard, redirects the other names to the primary one, and unsaved text beside it stays", async (t) => {
    const id = await projectWith("switched", "www.switched.test", "old.switched.test");
    await change(id, "www.switched.test", { primary: true });
    const { page } = await open(t, id);
    await addresses(page)
      .getByRole("link", { name: /^www\.switched\.test/ })
      .waitFor();
    await addresses(page).getByText("It is the project’s main domain.").waitFor();
    assert.equal((await platform.https("old.switched.test", "/a")).status, 404, "the site, which has no such page");

    await page.getByRole("textbox", { name: "Name" }).fill("Switched shop");
    await toPrimary(page).press("Space");
    await page.getByText("Saved.").waitFor();
    assert.equal(await toPrimary(page).isChecked(), true);
    assert.equal((await shown(id)).redirectToPrimary, true);
    const redirected = await platform.https("old.switched.test", "/a?b=c");
    assert.deepEqual([redirected.status, redirected.headers.location], [308, "https://www.switched.test/a?b=c"]);

    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { level: 1, name: "Switched shop" }).waitFor();
    assert.equal((await shown(id)).redirectToPrimary, true, "the form sends what it edits alone");
    await page.goto(page.url().replace("/settings", "/domains"));
    const old = page.getByRole("article", { name: "old.switched.test" });
    await old.getByText("Visitors are sent to www.switched.test.").waitFor();
    await old.getByText("The project redirects its other names to its primary name").waitFor();
  });

  test("without a ready primary name the switch says why it has no effect, and can still be turned off", async (t) => {
    const id = await projectWith("early", "www.early.test");
    const { page } = await open(t, id);
    await addresses(page).getByText("the project has no main domain").waitFor();
    assert.equal(await toPrimary(page).isDisabled(), true);
    await addresses(page).getByRole("link", { name: "Go to the domains" }).waitFor();

    await change(id, "www.early.test", { primary: true });
    await platform.service.ask("PATCH", `/projects/${id}`, { body: { redirectToPrimary: true } });
    platform.dns.set("www.early.test", "CNAME", ["elsewhere.test"]);
    await platform.service.ask("POST", `/projects/${id}/domains/www.early.test/verify`);
    await page.reload();
    await addresses(page).getByText("It has no effect yet: www.early.test is not ready.").waitFor();
    await addresses(page)
      .getByRole("link", { name: /^early\.sites\.test/ })
      .waitFor();
    await toPrimary(page).press("Space");
    await page.getByText("Saved.").waitFor();
    assert.equal((await shown(id)).redirectToPrimary, false);
    assert.equal(await toPrimary(page).isDisabled(), true);
  });

  test("a switch turns HSTS off and on; a plan without domains disables both switches and says why", async (t) => {
    const id = await projectWith("secured", "www.secured.test");
    const hstsOf = async () => (await platform.https("www.secured.test", "/")).headers["strict-transport-security"];
    const { page } = await open(t, id);
    assert.equal(await hsts(page).isChecked(), true);
    assert.equal(await hstsOf(), "max-age=86400");
    await hsts(page).press("Space");
    await page.getByText("Saved.").waitFor();
    assert.equal((await shown(id)).hsts, false);
    assert.equal(await hstsOf(), undefined);

    const free = await platform.service.newAccount("free");
    const own = await platform.project("unpaid", { "index.html": "x" }, { key: free.key });
    const { page: freePage } = await open(t, own, { account: free.id });
    await addresses(freePage).getByText("It has no effect: the account’s plan has no custom domains.").first().waitFor();
    assert.deepEqual([await toPrimary(freePage).isDisabled(), await hsts(freePage).isDisabled()], [true, true]);
    assert.deepEqual(await findings(freePage), []);
  });

  test("the switches: axe finds nothing, and they fit a phone", async (t) => {
    const long = `${"b".repeat(60)}.switches-address.test`;
    const id = await projectWith(`address`, long);
    await change(id, long, { primary: true });
    const { page } = await open(t, id);
    await addresses(page).getByText("It is the project’s main domain.").waitFor();
    await assertAccessibleOnPhone(page);
  });
});
