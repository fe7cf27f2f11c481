import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, suite, test } from "node:test";
import type { Project } from "../src/publishing/projects/projects.ts";
import type { Failure } from "./support/models.ts";
import { openPlatform, type Platform } from "./support/platform.ts";
import { openRaw } from "./support/raw.ts";
import { statusesOf, testOnce } from "./support/service.ts";

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

  test("an account has at most 100 projects, also if more are requested at once, independently of other accounts", async () => {
    const { key } = await platform.service.newAccount();
    const createAtOnce = async (slug: string) => {
      let answer = await create(slug, key);
      for (let tries = 0; answer.status === 503 && tries < 100; tries++) answer = await create(slug, key); // others are served first
      return answer;
    };
    const made = await Promise.all(Array.from({ length: 103 }, (_, index) => createAtOnce(`one-of-many-${index}`)));
    const refused = made.filter(({ status }) => status !== 201);
    assert.equal(refused.length, 3);
    for (const { status, body } of refused) assert.deepEqual([status, body.message], [400, "The account has 100 projects already."]);
    assert.equal((await create("one-of-few")).status, 201);
    const gone = made.find(({ status }) => status === 201)!.body.id;
    assert.equal((await platform.service.ask("DELETE", `/projects/${gone}`, { key })).status, 204);
    assert.equal((await create("one-more", key)).status, 201);
  });

  test("a slug is one DNS label that no other project has, in any account; a refusal says why", async () => {
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
      "abc--d",
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

  test("of many requests for one slug at once, one gets it", async () => {
    const shops = await Promise.all(Array.from({ length: 4 }, () => platform.service.newAccount()));
    const replies = await Promise.all([...shops, ...shops].map(({ key }) => create("wanted", key)));
    assert.deepEqual(statusesOf(replies), [201, 409, 409, 409, 409, 409, 409, 409]);
  });

  testOnce("nothing is served before the first deployment, nor after one that failed", async () => {
    const { body } = await create("early");
    assert.equal((await platform.http("early.sites.test", "/")).status, 404);
    await platform.deploy(body.id, { "index.html": "x" }, { petstore: { nonsense: 1 } });
    assert.equal((await platform.http("early.sites.test", "/")).status, 404);
    await platform.deploy(body.id, { "index.html": "now" });
    assert.equal(await page("early"), "now");
  });

  test("once a new slug is answered, it is served and the old one is not, even on open connections; its account may take the old one back", async () => {
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
    assert.equal((await create("before", other.key)).body.code, "slug_taken");
    await platform.project("before", { "index.html": "another's" });
    assert.deepEqual([await page("before"), await page("after")], ["another's", "moving"]);
    const refused = await change(id, { slug: "before" });
    assert.deepEqual([refused.status, refused.body.code], [409, "slug_taken"]);
    assert.equal((await change(id, { slug: "www" })).status, 400);
    assert.equal(await page("after"), "moving");
  });

  testOnce("a change or a deletion with an outdated ETag is a 412", async () => {
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

  test("only its account may use the slug of a deleted project for 30 days, and then any account", async () => {
    const remove = async (id: number, key: string) =>
      assert.equal((await platform.service.ask("DELETE", `/projects/${id}`, { key })).status, 204);
    const owner = await platform.service.newAccount();
    const other = await platform.service.newAccount();
    await remove((await create("freed", owner.key)).body.id, owner.key);
    for (const attempt of [() => create("freed", other.key), () => takeByChange("freed", other.key)]) {
      const { status, body } = await attempt();
      assert.deepEqual([status, body.code, body.message], [409, "slug_taken", "The slug freed is taken."]);
    }
    const again = await create("freed", owner.key);
    assert.equal(again.status, 201);
    await remove(again.body.id, owner.key);
    const monthMs = 30 * 86_400_000;
    platform.time.now += monthMs - 1;
    assert.equal((await create("freed", other.key)).status, 409);
    platform.time.now += 1;
    assert.equal((await create("freed", other.key)).status, 201);
  });

  async function takeByChange(slug: string, key: string) {
    const { body } = await create(`${slug}-changed`, key);
    return platform.service.ask<Answer>("PATCH", `/projects/${body.id}`, { key, body: { slug } });
  }

  test("no other account gets a slug while its project is being deleted, however many try at that moment", async () => {
    const owner = await platform.service.newAccount();
    const others = await Promise.all(Array.from({ length: 4 }, () => platform.service.newAccount()));
    for (let round = 0; round < 10; round += 1) {
      const slug = `raced-${round}`;
      const { id } = (await create(slug, owner.key)).body;
      const [removed, ...tried] = await Promise.all([
        platform.service.ask("DELETE", `/projects/${id}`, { key: owner.key }),
        ...others.map(({ key }) => create(slug, key)),
        ...others.map(({ key }) => create(slug, key)),
      ]);
      assert.deepEqual([removed.status, ...tried.map(({ status }) => status)], [204, ...tried.map(() => 409)]);
    }
  });

  test("no account may use the slugs of a deleted account for 30 days", async () => {
    const { id, key } = await platform.service.newAccount();
    assert.equal((await create("closed-down", key)).status, 201);
    await platform.service.administration["accounts.delete"]({ id });
    assert.equal((await create("closed-down")).status, 409);
  });
});
