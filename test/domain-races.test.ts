import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { openScene, openTls } from "./support/certifying.ts";
import { codesOf, openCustomer } from "./support/customer.ts";
import { runs, someOf } from "./support/fault-runs.ts";
import { engine, statusesOf, testOnce } from "./support/service.ts";

const name = "www.shop.test";
const steps = ["/order-plz", "/authZ/", "/chalZ/", "/finalize-order/", "/certZ/"];

suite("at the same time", () => {
  test("several accounts add one name: one gets it, the others learn that it is taken, and one certificate is ordered", async (t) => {
    const { platform, idle, orders } = await openScene(t);
    const shops = await Promise.all(["a", "b", "c", "d"].map((slug) => openCustomer(platform, slug)));
    platform.dns.set(name, "CNAME", ["sites.test"]);
    const replies = await Promise.all(shops.flatMap((shop) => [shop.add(name), shop.add(name.toUpperCase())]));
    assert.deepEqual(statusesOf(replies), [201, 409, 409, 409, 409, 409, 409, 409]);
    assert.ok(replies.every(({ status, body }) => status === 201 || body.code === "domain_taken"));
    await idle();
    const winner = shops[Math.floor(replies.findIndex(({ status }) => status === 201) / 2)]!;
    assert.equal((await platform.https(name, "/")).body, winner.page);
    assert.equal(orders(), 1);
  });

  test("several accounts with a TXT proof ask for a name at once: one gets it, and the account that lost it sees why", async (t) => {
    const { platform, idle } = await openScene(t);
    const holder = await openCustomer(platform, "holder");
    await holder.attach(name);
    const shops = await Promise.all(["a", "b", "c"].map((slug) => openCustomer(platform, slug)));
    const refused = await Promise.all(shops.map((shop) => shop.add(name)));
    const challenges = refused.map(({ body }) => body.challenge!);
    platform.dns.set(
      challenges[0]!.name,
      "TXT",
      challenges.map(({ value }) => value),
    );
    const replies = await Promise.all(shops.flatMap((shop) => [shop.add(name), shop.add(name)]));
    assert.deepEqual(statusesOf(replies), [201, 409, 409, 409, 409, 409]);
    await idle();
    const winner = shops[Math.floor(replies.findIndex(({ status }) => status === 201) / 2)]!;
    assert.equal((await platform.https(name, "/")).body, winner.page);
    const lost = (await holder.get(name)).body;
    assert.deepEqual([codesOf(lost), lost.serving.what], [["proved_elsewhere"], "nothing"]);
    assert.match(lost.serving.reason, /^Another account has taken www\.shop\.test over\.$/);
    for (const shop of shops) assert.equal((await shop.get(name)).status, shop === winner ? 200 : 404);
  });

  test("deployments of several accounts name one domain: one is ready, the others fail and are not applied", async (t) => {
    const { platform, idle } = await openScene(t);
    const shops = await Promise.all(["a", "b", "c"].map((slug) => openCustomer(platform, slug)));
    platform.dns.set(name, "CNAME", ["sites.test"]);
    const petstore = { domains: { primary: name } };
    const deployed = await Promise.all(
      shops.map((shop) => platform.deploy(shop.project, { "index.html": "new" }, { key: shop.key, petstore })),
    );
    assert.deepEqual(deployed.map(({ status }) => status).toSorted(), ["failed", "failed", "ready"]);
    await idle();
    for (const [index, shop] of shops.entries()) {
      const served = (await platform.http(`${"abc"[index]}.sites.test`, "/")).body;
      assert.equal(served, deployed[index]!.status === "ready" ? "new" : shop.page);
    }
    assert.equal((await platform.https(name, "/")).body, "new");
  });

  test("a name is verified many times: each answer is correct, and one certificate is ordered", async (t) => {
    const { platform, idle, orders } = await openScene(t);
    const shop = await openCustomer(platform, "shop");
    await shop.add(name);
    await idle();
    platform.dns.set(name, "CNAME", ["sites.test"]);
    const replies = await Promise.all(Array.from({ length: 8 }, () => shop.verify(name)));
    assert.ok(replies.every(({ status, body }) => status === 200 && body.status === "verified"));
    await idle();
    assert.deepEqual([(await shop.domain(name)).certificate.status, orders()], ["issued", 1]);
  });

  test("a name is added, verified and removed: it ends up attached and served, or removed and not served", async (t) => {
    const { platform, idle } = await openScene(t, { env: { ACME_BUDGET: "duplicates=off" } });
    const shop = await openCustomer(platform, "shop");
    platform.dns.set(name, "CNAME", ["sites.test"]);
    for (let round = 0; round < runs(engine === "sqlite" ? 10 : 4, 10); round++) {
      const replies = await Promise.all([shop.add(name), shop.verify(name), shop.remove(name), shop.add(name), shop.remove(name)]);
      assert.ok(
        replies.every(({ status }) => [200, 201, 204, 404, 409].includes(status)),
        statusesOf(replies).join(),
      );
      const { status } = await shop.get(name);
      if (status === 404) assert.equal((await platform.http(name, "/")).status, 404);
      await idle();
      if (status === 404) await assert.rejects(platform.https(name, "/"));
      else assert.equal((await platform.https(name, "/")).body, shop.page);
      await shop.remove(name);
    }
  });

  test("two names become redirects to each other: one does, the other is refused, and no loop is served", async (t) => {
    const { platform } = await openScene(t);
    const shop = await openCustomer(platform, "shop");
    await shop.attach("a.shop.test");
    await shop.attach("b.shop.test");
    for (let round = 0; round < 5; round++) {
      const replies = await Promise.all([
        shop.change("a.shop.test", { redirect: { to: "b.shop.test" } }),
        shop.change("b.shop.test", { redirect: { to: "a.shop.test" } }),
      ]);
      assert.deepEqual(statusesOf(replies), [200, 400]);
      const served = await Promise.all(["a.shop.test", "b.shop.test"].map((host) => platform.https(host, "/")));
      assert.deepEqual(statusesOf(served), [200, 301]);
      for (const host of ["a.shop.test", "b.shop.test"]) await shop.change(host, { redirect: null });
    }
  });

  for (const step of someOf(steps, engine === "sqlite" ? 2 : 4)) {
    test(`a name is removed while its order is at ${step}: nothing is kept or served, and added again it has one certificate`, async (t) => {
      const { platform, proxy, idle, orders } = await openScene(t);
      const shop = await openCustomer(platform, "shop");
      proxy.intercept = {
        before: async ({ path }) => {
          if (path.startsWith(step)) await shop.remove(name);
          return undefined;
        },
      };
      await shop.add(name);
      platform.dns.set(name, "CNAME", ["sites.test"]);
      await shop.verify(name);
      await idle();
      assert.equal((await shop.get(name)).status, 404);
      await assert.rejects(openTls(platform, name));
      assert.equal((await platform.http(name, "/")).status, 404);
      proxy.intercept = {};
      const before = orders();
      const again = await shop.attach(name);
      assert.deepEqual([again.certificate.status, codesOf(again), orders()], ["issued", [], before + 1]);
      assert.equal((await platform.https(name, "/")).body, shop.page);
    });
  }

  testOnce("the plan drops while an order is under way: the name is served once the plan is back, by no second order", async (t) => {
    const { platform, proxy, orders } = await openScene(t);
    const shop = await openCustomer(platform, "shop");
    const setPlan = (plan: string) => platform.service.administration["accounts.setPlan"]({ id: shop.id, plan });
    proxy.intercept = {
      before: async ({ path }) => {
        if (path.startsWith("/finalize-order/")) await setPlan("free");
        return undefined;
      },
    };
    await shop.attach(name);
    await assert.rejects(platform.https(name, "/"));
    assert.equal((await platform.http(name, "/")).status, 404);
    assert.deepEqual([(await shop.verify(name)).status, (await shop.verify(name)).body.code], [403, "plan_required"]);
    await setPlan("pro");
    assert.equal((await platform.https(name, "/")).body, shop.page);
    assert.equal(orders(), 1);
  });
});
