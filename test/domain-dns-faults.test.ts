import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { codesOf, openCustomer, type Customer } from "./support/customer.ts";
import type { DnsFault } from "./support/dns-server.ts";
import { openPlatform, type Platform } from "./support/platform.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const faults: DnsFault[] = ["servfail", "refused", "timeout", "malformed"];

suite("a DNS server that fails", () => {
  let platform: Platform;
  let shop: Customer;
  before(async () => {
    platform = await openPlatform();
    shop = await openCustomer(platform, "shop");
  });
  after(() => platform.close());

  const idle = () => platform.service.publishing.idle();

  for (const fault of faults) {
    test(`by ${fault} is reported as such, verifies no new name, and changes nothing for a verified one`, async () => {
      const [verified, fresh] = [`www.was-${fault}.test`, `www.new-${fault}.test`];
      await shop.attach(verified);
      platform.dns.set(fresh, "CNAME", ["sites.test"]);
      for (const hostname of [verified, fresh]) platform.dns.fail(hostname, fault);
      await shop.add(fresh);
      const [kept, waiting] = await Promise.all([shop.verify(verified), shop.verify(fresh)]);
      assert.deepEqual([kept.status, kept.body.status, kept.body.certificate.status], [200, "verified", "issued"]);
      assert.deepEqual([waiting.status, waiting.body.status, waiting.body.certificate.status], [200, "pending", "none"]);
      for (const { body } of [kept, waiting]) {
        assert.equal(codesOf(body)[0], "lookup_failed");
        assert.match(body.problems[0]!.fix, /\w/);
      }
      assert.equal((await platform.https(verified, "/")).body, shop.page);

      await idle();
      for (const hostname of [verified, fresh]) platform.dns.heal(hostname);
      platform.time.now += minuteMs;
      await idle();
      assert.equal((await platform.https(fresh, "/")).body, shop.page, "found automatically once DNS answers again");
      assert.deepEqual((await shop.verify(verified)).body.problems, []);
    });
  }

  test("with an answer too long for UDP is asked again over TCP", async () => {
    platform.dns.fail("www.long.test", "truncation", ["CNAME", "CAA"]);
    assert.equal((await shop.attach("www.long.test")).certificate.status, "issued");
    assert.ok(platform.dns.asked.some(({ name, transport }) => name === "www.long.test" && transport === "tcp"));
  });

  test("for the platform's own name is not the customer's fault: an apex keeps its status", async () => {
    platform.dns.set("apex.test", "A", ["127.0.0.1"]);
    await shop.add("apex.test");
    await idle();
    platform.dns.fail("sites.test", "servfail");
    const { body } = await shop.verify("apex.test");
    platform.dns.heal("sites.test");
    assert.deepEqual([body.status, codesOf(body)[0]], ["verified", "lookup_failed"]);
    assert.equal((await platform.https("apex.test", "/")).body, shop.page);
  });

  for (const at of ["www.caa-fails.test", "caa-fails.test", "test"]) {
    test(`for CAA at ${at} delays every order, which the authority would refuse (RFC 8659), until it answers`, async () => {
      const hostname = "www.caa-fails.test";
      platform.dns.fail(at, "servfail", ["CAA"]);
      const waiting = await shop.attach(hostname);
      assert.deepEqual([waiting.status, waiting.certificate.status, codesOf(waiting)], ["verified", "failing", ["lookup_failed"]]);
      assert.match(waiting.certificate.problem ?? "", /CAA/);
      await assert.rejects(platform.https(hostname, "/"));
      platform.time.now += 30 * minuteMs;
      const late = await shop.domain(hostname);
      assert.deepEqual(
        late.attention?.checks.map(({ passed }) => passed),
        [true, null, null],
      );
      platform.dns.heal(at);
      platform.time.now = Math.max(Date.parse(late.certificate.retryAt!), platform.time.now);
      await idle();
      assert.equal((await platform.https(hostname, "/")).body, shop.page);
      await shop.remove(hostname);
    });
  }

  test("for the ownership proof proves nothing", async () => {
    const other = await openCustomer(platform, "other");
    const hostname = "www.proof-fails.test";
    await shop.attach(hostname);
    await shop.remove(hostname);
    platform.dns.fail(`_petstore-challenge.${hostname}`, "servfail");
    const waiting = await other.attach(hostname);
    assert.deepEqual([waiting.status, codesOf(waiting)], ["pending", ["lookup_failed"]]);
    assert.equal((await platform.http(hostname, "/")).status, 404);
  });

  test("delays no removal, whose answer then has no warning", async () => {
    await shop.attach("www.dead.test");
    platform.dns.fail("www.dead.test", "timeout");
    assert.equal((await shop.remove("www.dead.test")).status, 200);
    await assert.rejects(platform.https("www.dead.test", "/"));
  });

  test("lets an unverified name lapse after two days, but never a verified one", async () => {
    const lasting = await shop.attach("www.lasting.test");
    for (const hostname of ["www.lasting.test", "www.lapsing.test"]) platform.dns.fail(hostname, "servfail");
    await shop.add("www.lapsing.test");
    await idle();
    platform.time.now += 48 * hourMs;
    await idle();
    assert.equal((await shop.domain("www.lapsing.test")).nextCheckAt, null);
    const kept = await shop.domain("www.lasting.test");
    assert.deepEqual([kept.status, kept.verifiedAt], ["verified", lasting.verifiedAt]);
    assert.equal((await platform.https("www.lasting.test", "/")).body, shop.page);
  });
});
