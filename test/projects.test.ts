import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, suite, test } from "node:test";
import type { Project } from "../src/publishing/projects/projects.ts";
import type { Failure } from "./support/models.ts";
import { openPlatform, type Platform } from "./support/platform.ts";
import { openRaw } from "./support/raw.ts";
import { statusesOf } from "./support/service.ts";

type Answer = Project & Partial<Pick<Failure, "code" | "message">>;

suite("projects", () => {
  let platform: Platform;
  before(async () => {
    platform = await openPlatform();
  });
  after(() => platform.close());

  const create = (slug: unknown, key?: string) =>
    platform.service.ask<Answer>("POST", "/projects", { body: { name: "Shop", slug }, ...(key !== undefined && { key }) });
  const change = (id: number, body: object, headers: Record<string, string> = {}) =>
    platform.service.ask<Answer>("PATCH", `/projects/${id}`, { body, headers });
  const page = async (slug: string) => (await platform.http(`${slug}.sites.test`, "/")).body;

  test("a slug is one DNS label that nobody else has, in any account; what it is refused for is said", async () => {
    const first = await create("taken");
    assert.deepEqual([first.status, first.body.deploymentId], [201, null]);
    const { port } = platform.service.publishing.addresses()!.http;
    assert.equal(first.body.url, `http://taken.sites.test:${port}`);
    const other = await platform.service.newAccount();
    for (const key of [platform.service.key, other.key]) {
      const { status, body } = await create("taken", key);
      assert.deepEqual([status, body.code], [409, "slug_taken"]);
    }
    const wrong = [
      "",
      " ",
      "Shop",
      "a.b",
      "a_b",
      "-a",
      "a-",
      "xn--bcher-kva",
      "ab--c",
      "bücher",
      "a".repeat(64),
      "www",
      "api",
      "mta-sts",
      "sites/..",
      7,
      null,
    ];
    for (const slug of wrong) {
      const { status, body } = await create(slug);
      assert.deepEqual([status, body.code], [400, "invalid_request"], String(slug));
      assert.match(body.message ?? "", /slug/, String(slug));
    }
    for (const slug of ["a", "1", "a-b", "a".repeat(63), "www2"]) assert.equal((await create(slug)).status, 201, slug);
  });

  test("of many that ask for one slug at once one has it", async () => {
    const shops = await Promise.all(Array.from({ length: 4 }, () => platform.service.newAccount()));
    const replies = await Promise.all([...shops, ...shops].map(({ key }) => create("wanted", key)));
    assert.deepEqual(statusesOf(replies), [201, 409, 409, 409, 409, 409, 409, 409]);
  });

  test("nothing is served before the first deployment, nor after one that failed", async () => {
    const { body } = await create("early");
    assert.equal((await platform.http("early.sites.test", "/")).status, 404);
    await platform.deploy(body.id, { "index.html": "x" }, { petstore: { nonsense: 1 } });
    assert.equal((await platform.http("early.sites.test", "/")).status, 404);
    await platform.deploy(body.id, { "index.html": "now" });
    assert.equal(await page("early"), "now");
  });

  test("a new slug is served with the answer and the old one no longer, on open connections neither; it is free for another", async () => {
    const id = await platform.project("before", { "index.html": "moving" });
    const open = await openRaw(`http://127.0.0.1:${platform.service.publishing.addresses()!.http.port}`);
    await open.write("GET / HTTP/1.1\r\nHost: before.sites.test\r\n\r\n");
    assert.equal((await open.answer()).status, 200);
    const cut = once(open.socket, "close");
    const { status, body } = await change(id, { slug: "after" });
    assert.deepEqual([status, body.slug], [200, "after"]);
    await cut;
    assert.deepEqual([await page("after"), (await platform.http("before.sites.test", "/")).status], ["moving", 404]);
    const other = await platform.service.newAccount();
    await platform.project("before", { "index.html": "another's" }, { key: other.key });
    assert.deepEqual([await page("before"), await page("after")], ["another's", "moving"]);
    const refused = await change(id, { slug: "before" });
    assert.deepEqual([refused.status, refused.body.code], [409, "slug_taken"]);
    assert.equal((await change(id, { slug: "www" })).status, 400);
    assert.equal(await page("after"), "moving");
  });

  test("a change by somebody who has not seen the last one is a 412, and so is a deletion", async () => {
    const id = await platform.project("seen", { "index.html": "seen" });
    const { headers } = await platform.service.ask("GET", `/projects/${id}`);
    const seen = { "if-match": headers.get("etag")! };
    assert.equal((await change(id, { name: "One" }, seen)).status, 200);
    assert.equal((await change(id, { name: "Two" }, seen)).status, 412);
    assert.equal((await platform.service.ask("DELETE", `/projects/${id}`, { headers: seen })).status, 412);
    assert.equal(await page("seen"), "seen");
  });

  test("a project that is deleted while its upload is unpacked is gone, and leaves nothing behind", async () => {
    const { body } = await create("fleeting");
    const deploying = platform.deploy(body.id, { "index.html": "late" }).catch((error: unknown) => error);
    await platform.service.ask("DELETE", `/projects/${body.id}`);
    await deploying;
    await platform.service.publishing.idle();
    assert.equal((await platform.http("fleeting.sites.test", "/")).status, 404);
    assert.equal((await platform.service.ask("GET", `/projects/${body.id}/deployments`)).status, 404);
    assert.equal((await create("fleeting")).status, 201);
  });
});
