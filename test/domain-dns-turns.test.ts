import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { openCustomer, type Customer } from "./support/customer.ts";
import { openPlatform, type Platform } from "./support/platform.ts";
import { until } from "./support/until.ts";

suite("names whose DNS servers never answer", () => {
  let platform: Platform;
  let silent: Customer;
  let other: Customer;
  before(async () => {
    platform = await openPlatform();
    silent = await openCustomer(platform, "silent");
    other = await openCustomer(platform, "other");
  });
  after(() => platform.close());

  test("of another account, in a petstore.json, are all looked up at once", async () => {
    const names = Array.from({ length: 31 }, (_, index) => `held-${index}.test`);
    for (const name of names) {
      platform.dns.fail(`_petstore-challenge.${name}`, "timeout");
      await silent.add(name);
    }
    await platform.service.publishing.idle();
    const redirects = names.slice(1).map((from) => ({ from, to: names[0] }));
    const deployment = await platform.deploy(
      other.project,
      {},
      { key: other.key, petstore: { domains: { primary: names[0], redirects } } },
    );
    assert.equal(deployment.status, "failed");
    assert.match(deployment.error ?? "", /could not be looked up/);
    const asked = platform.dns.asked.map(({ name }) => name).filter((name) => name.startsWith("_petstore-challenge.held-"));
    assert.equal(new Set(asked.slice(0, names.length)).size, names.length, "before any is looked up again");
  });

  test("delay the checks of no other account", async () => {
    const names = Array.from({ length: 70 }, (_, index) => `silent-${index}.test`);
    for (const name of names) platform.dns.fail(name, "timeout");
    for (const { status, body } of await Promise.all(names.map((name) => silent.add(name))))
      assert.equal(status, 201, JSON.stringify(body));
    platform.dns.set("www.prompt.test", "CNAME", ["sites.test"]);
    await other.add("www.prompt.test");
    await until(async () => (await other.domain("www.prompt.test")).status === "verified");
    for (const { problems } of await Promise.all(names.map(silent.domain)))
      assert.deepEqual(problems, [], "the checks of these have no result yet");
  });
});
