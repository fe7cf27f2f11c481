import assert from "node:assert/strict";
import { suite, test, type TestContext } from "node:test";
import { petstore } from "./support/commands.ts";
import { codesOf, openCustomer } from "./support/customer.ts";
import { openPlatform } from "./support/platform.ts";

async function openShop(t: TestContext) {
  const platform = await openPlatform();
  t.after(() => platform.close());
  const shop = await openCustomer(platform, "shop", "pro");
  for (const name of ["www.shop.test", "old.shop.test"]) await shop.attach(name);
  await shop.add("new.shop.test");
  await platform.service.publishing.idle();
  const setPlan = (plan: string, dryRun?: boolean) =>
    platform.service.administration["accounts.setPlan"]({ id: shop.id, plan, ...(dryRun !== undefined && { dryRun }) });
  return { platform, shop, setPlan };
}

suite("a plan below Pro", () => {
  test("makes each domain show `plan_required` and serve nothing until the plan is Pro again", async (t) => {
    const { platform, shop, setPlan } = await openShop(t);
    await shop.change("old.shop.test", { redirect: { to: "www.shop.test" } });
    await setPlan("free");
    for (const name of ["www.shop.test", "old.shop.test", "new.shop.test"]) {
      const { problems, serving } = await shop.domain(name);
      assert.equal(problems[0]?.code, "plan_required", name);
      assert.equal(problems[0].expected, "the plan Pro or above");
      assert.deepEqual([serving.what, serving.to], ["nothing", null]);
      assert.match(serving.reason, /plan has no custom domains/);
      assert.equal((await platform.http(name, "/")).status, 404);
    }
    assert.deepEqual(codesOf(await shop.domain("www.shop.test")), ["plan_required"]);
    await setPlan("pro");
    const [www, old] = [await shop.domain("www.shop.test"), await shop.domain("old.shop.test")];
    assert.deepEqual([codesOf(www), www.serving.what, codesOf(old), old.serving.to], [[], "site", [], "www.shop.test"]);
    assert.equal((await platform.https("old.shop.test", "/")).status, 301);
  });

  test("makes the platform address serve the site even if it redirected to the primary name; an upgrade restores the redirect", async (t) => {
    const { platform, shop, setPlan } = await openShop(t);
    await shop.change("www.shop.test", { primary: true });
    const project = `/projects/${shop.project}`;
    await platform.service.ask("PATCH", project, { key: shop.key, body: { redirectToPrimary: true } });
    const read = async () => (await platform.service.ask<{ url: string; domains: object }>("GET", project, { key: shop.key })).body;
    const before = await read();
    assert.equal((await platform.http("shop.sites.test", "/")).status, 308);
    await setPlan("free");
    assert.equal((await platform.http("shop.sites.test", "/")).body, shop.page);
    assert.match((await read()).url, /^http:\/\/shop\.sites\.test:/);
    assert.deepEqual((await read()).domains, before.domains);
    await setPlan("pro");
    assert.deepEqual(await read(), before);
    assert.equal((await platform.http("shop.sites.test", "/")).status, 308);
  });

  test("lists the domains that it stops serving when it is set; a dry run lists the same ones and changes nothing", async (t) => {
    const { platform, shop, setPlan } = await openShop(t);
    const stopped = { count: 2, hostnames: ["old.shop.test", "www.shop.test"] };
    const none = { count: 0, hostnames: [] };
    assert.deepEqual((await setPlan("business", true)).stopped, none);
    const dry = await setPlan("free", true);
    assert.deepEqual([dry.account.plan, dry.stopped, dry.dryRun], ["free", stopped, true]);
    assert.equal((await platform.https("www.shop.test", "/")).body, shop.page);
    assert.deepEqual(codesOf(await shop.domain("www.shop.test")), []);
    const done = await setPlan("free");
    assert.deepEqual(done, { ...dry, dryRun: false });
    assert.deepEqual((await setPlan("free")).stopped, none, "they are not served already");
    assert.deepEqual((await setPlan("pro")).stopped, none);
  });

  test("can be set by the command, which lists the same domains; a dry run refuses an unknown account and invalid limits too", async (t) => {
    const { platform, shop } = await openShop(t);
    const setPlan = (...words: string[]) => petstore(platform.service, "accounts", "set-plan", ...words);
    const dry = await setPlan(String(shop.id), "--plan", "free", "--dry-run");
    assert.match(
      dry.out,
      /would be on free[^]*2 domains would not be served any more:\n {2}old\.shop\.test\n {2}www\.shop\.test\nNothing was changed\./,
    );
    const done = await setPlan(String(shop.id), "--plan", "free");
    assert.match(done.out, /is on free[^]*2 domains are not served any more:\n {2}old\.shop\.test\n {2}www\.shop\.test\n$/);
    assert.deepEqual(codesOf(await shop.domain("www.shop.test")), ["plan_required"]);
    for (const words of [
      ["999", "--plan", "free"],
      [String(shop.id), "--plan", "pro", "--per-minute", "5"],
    ]) {
      assert.notEqual((await setPlan(...words, "--dry-run")).code, 0);
      assert.notEqual((await setPlan(...words)).code, 0);
    }
  });
});
