import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { type Customer } from "./support/customer.ts";
import { openNamedShop, viewsOf } from "./support/named-shop.ts";
import { openPlatform, type Platform } from "./support/platform.ts";
import { statusesOf } from "./support/service.ts";

let shops = 0;

suite("changes of one project's domains at the same time", () => {
  let platform: Platform;
  let shop: Customer;
  let zone: string;
  before(async () => {
    platform = await openPlatform();
  });
  after(() => platform.close());

  const { page, config, deploy, locationOf } = viewsOf(() => ({ platform, shop }));
  const primaries = async (...names: string[]) => (await Promise.all(names.map((name) => shop.domain(name)))).map(({ primary }) => primary);
  const urlOf = async () => (await config()).url?.replace(/:\d+/, "");

  const openShop = async (): Promise<void> => {
    ({ zone, shop } = await openNamedShop(platform, `shop${++shops}`));
  };

  test("a primary name chosen by two requests at once is one of the two", async () => {
    await openShop();
    const [www, old] = [`www.${zone}`, `old.${zone}`];
    for (let round = 0; round < 5; round++) {
      await Promise.all([www, old].map((name) => shop.change(name, { primary: true })));
      const [first, second] = await primaries(www, old);
      assert.ok(first !== second);
      assert.equal(await urlOf(), `https://${first ? www : old}`);
    }
  });

  test("when two deployments change the domains at the same time, the later one wins as a whole", async () => {
    await openShop();
    const [www, old] = [`www.${zone}`, `old.${zone}`];
    const files = [
      { primary: www, redirects: [{ from: old, to: www }] },
      { primary: old, redirects: [{ from: www, to: old }] },
    ];
    for (let round = 0; round < 3; round++) {
      const sent = await Promise.all(files.map((domains) => deploy({ domains })));
      assert.deepEqual(
        sent.map(({ status }) => status),
        ["ready", "ready"],
      );
      const last = files[sent[0]!.id > sent[1]!.id ? 0 : 1]!;
      assert.deepEqual((await config()).domains, { ...last, redirects: last.redirects.map((one) => ({ ...one, status: 301 })) });
      assert.equal(await page(last.primary), shop.page);
      assert.equal((await locationOf(last.redirects[0]!.from))[0], 301);
    }
  });

  test("a deployment and API changes at the same time end with redirects that lead to a served name", async () => {
    await openShop();
    const [www, old] = [`www.${zone}`, `old.${zone}`];
    for (let round = 0; round < 3; round++) {
      const [deployed, ...replies] = await Promise.all([
        deploy({ domains: { redirects: [{ from: old, to: www }] } }),
        shop.change(www, { redirect: { to: old } }),
        shop.change(www, { redirect: null }),
      ]);
      assert.ok(["ready", "failed"].includes(deployed.status));
      assert.ok(statusesOf(replies).every((status) => status === 200 || status === 400));
      const served = await Promise.all([www, old].map((host) => platform.https(host, "/")));
      assert.ok(statusesOf(served).includes(200), statusesOf(served).join());
      for (const host of [www, old]) await shop.change(host, { redirect: null });
    }
  });
});
