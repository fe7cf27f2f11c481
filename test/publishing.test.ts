import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { openPlatform, type Platform } from "./support/platform.ts";

suite("from a folder to a site on a custom domain", () => {
  let platform: Platform;
  before(async () => {
    platform = await openPlatform();
  });
  after(() => platform.close());

  test("a deployed project is served at its slug, and on a verified domain over HTTPS until it is removed", async () => {
    const { dns } = platform;
    const project = await platform.project("rex", { "index.html": "<h1>Rex</h1>" });
    const slug = await platform.http("rex.sites.test", "/");
    assert.equal(slug.status, 200);
    assert.equal(slug.body, "<h1>Rex</h1>");

    dns.set("www.shop.test", "CNAME", ["sites.test"]);
    const added = await platform.addDomain(project, "www.shop.test");
    assert.equal(added.status, 201);
    assert.equal(added.body.status, "pending");
    assert.deepEqual(added.body.record, { type: "CNAME", name: "www", value: "sites.test", ttl: 3600 });
    await platform.service.publishing.idle();
    const issued = await platform.domain(project, "www.shop.test");
    assert.equal(issued.status, "verified", JSON.stringify(issued));
    assert.equal(issued.certificate.status, "issued", JSON.stringify(issued));

    const secure = await platform.https("www.shop.test", "/");
    assert.equal(secure.status, 200);
    assert.equal(secure.body, "<h1>Rex</h1>");
    const plain = await platform.http("www.shop.test", "/a?b=c");
    assert.equal(plain.status, 308);

    const removed = await platform.service.ask<{ warning: string }>("DELETE", `/projects/${project}/domains/www.shop.test`);
    assert.equal(removed.status, 200);
    assert.match(removed.body.warning, /delete its CNAME record/);
    await assert.rejects(platform.https("www.shop.test", "/"));
    assert.equal((await platform.http("www.shop.test", "/")).status, 404);
  });
});
