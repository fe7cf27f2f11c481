import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import type { Deployment } from "../src/publishing/projects/deployments.ts";
import type { Project } from "../src/publishing/projects/projects.ts";
import { temporaryFolder } from "./support/folder.ts";
import type { Failure } from "./support/models.ts";
import { openPlatform, type Platform } from "./support/platform.ts";
import { addressOf, createAccount, spawnServer } from "./support/process.ts";
import { ask } from "./support/service.ts";
import { made } from "./support/shop.ts";
import { archivesIn, keptUploads, packSite } from "./support/sites.ts";
import { until } from "./support/until.ts";

type Refusal = Pick<Failure, "code">;
const gzip = { "content-type": "application/gzip" };

suite("deployments", () => {
  let platform: Platform;
  before(async () => {
    platform = await openPlatform();
  });
  after(() => platform.close());

  const idle = () => platform.service.publishing.idle();
  const listed = async (id: number) => (await platform.service.ask<Deployment[]>("GET", `/projects/${id}/deployments?limit=100`)).body;
  const promote = (id: number, deploymentId: number) =>
    platform.service.ask<Deployment & Refusal>("POST", `/projects/${id}/deployments/${deploymentId}/promote`);
  const served = async (slug: string, path = "/") => (await platform.http(`${slug}.sites.test`, path)).body;
  const liveId = async (id: number) => (await platform.service.ask<Project>("GET", `/projects/${id}`)).body.deploymentId;
  const send = async (id: number, page: string, headers: Record<string, string> = {}) =>
    platform.service.ask<Deployment & Refusal>("POST", `/projects/${id}/deployments`, {
      body: await packSite({ "index.html": page, "petstore.json": "{}" }),
      headers: { ...gzip, ...headers },
    });

  test("an earlier ready one is promoted, and promoted away again; only a ready one of the same project can be", async () => {
    const id = await platform.project("back", { "index.html": "one", "old.html": "old" });
    const first = (await liveId(id))!;
    const second = await platform.deploy(id, { "index.html": "two" });
    const failed = await platform.deploy(id, { "index.html": "three" }, { petstore: { nonsense: 1 } });
    assert.equal(await served("back"), "two");
    for (const [deploymentId, page, oldStatus] of [
      [first, "one", 200],
      [second.id, "two", 404],
      [first, "one", 200],
    ] as const) {
      const { status, body } = await promote(id, deploymentId);
      assert.deepEqual([status, body.id, body.status], [200, deploymentId, "ready"]);
      assert.deepEqual([await served("back"), await liveId(id)], [page, deploymentId]);
      assert.equal((await platform.http("back.sites.test", "/old.html")).status, oldStatus);
    }
    const refused = await promote(id, failed.id);
    assert.deepEqual([refused.status, refused.body.code], [409, "deployment_not_ready"]);
    const other = await platform.project("beside", { "index.html": "beside" });
    assert.equal((await promote(other, first)).status, 404);
    assert.equal(await served("beside"), "beside");
  });

  test("promoting does not apply its domains again", async () => {
    const petstore = { domains: { primary: "www.promoted.test" } };
    const id = await platform.project("promoted", { "index.html": "one" }, { petstore });
    const first = (await liveId(id))!;
    await platform.deploy(id, { "index.html": "two" });
    await platform.service.ask("DELETE", `/projects/${id}/domains/www.promoted.test`);
    assert.equal((await promote(id, first)).status, 200);
    assert.deepEqual((await platform.service.ask("GET", `/projects/${id}/domains`)).body, []);
  });

  test("ten are kept, including failed ones; the served one is never deleted, however old", async () => {
    const id = await platform.project("kept", { "index.html": "0" });
    const first = (await liveId(id))!;
    for (let index = 1; index <= 11; index++) await platform.deploy(id, { "index.html": String(index) });
    const ids = (await listed(id)).map((one) => one.id);
    assert.equal(ids.length, 10);
    assert.ok(!ids.includes(first), "the oldest has gone");
    await promote(id, ids[0]!);
    const broken = { petstore: { nonsense: 1 } };
    for (let index = 0; index < 12; index++) assert.equal((await platform.deploy(id, {}, broken)).status, "failed");
    const kept = await listed(id);
    assert.deepEqual([kept.length, kept[0]?.id, await served("kept")], [10, ids[0], "2"]);
    const fresh = (await platform.service.ask<Project>("POST", "/projects", { body: { name: "Never", slug: "never" } })).body.id;
    for (let index = 0; index < 12; index++) await platform.deploy(fresh, {}, broken);
    assert.equal((await listed(fresh)).length, 10);
  });

  test("content that no deployment needs any more is deleted from the disk; content that another project also has stays", async () => {
    const onDisk = async () =>
      (await readdir(join(platform.service.dataDir, "content"), { recursive: true })).filter((name) => /[0-9a-f]{64}/.test(name)).length;
    const files = Object.fromEntries(Array.from({ length: 450 }, (_, index) => [`f${index}.txt`, `content ${index}`]));
    const small = await platform.project("small", { "shared.txt": "content 7" });
    const atFirst = await onDisk();
    const large = await platform.project("large", files);
    assert.equal((await onDisk()) - atFirst, 449);
    assert.equal((await platform.service.ask("DELETE", `/projects/${large}`)).status, 204);
    await platform.deploy(small, { "shared.txt": "content 7" });
    assert.equal(await onDisk(), atFirst);
    assert.equal(await served("small", "/shared.txt"), "content 7");
  });

  test("two uploaded at once are both unpacked, and the one with the higher number is served", async () => {
    const id = await platform.project("twice", { "index.html": "0" });
    const sent = await Promise.all(["a", "b"].map((page) => send(id, page)));
    assert.deepEqual(
      sent.map(({ status }) => status),
      [202, 202],
    );
    await idle();
    const last = sent.map(({ body }, index) => ({ id: body.id, page: "ab"[index]! })).toSorted((a, b) => b.id - a.id)[0]!;
    assert.deepEqual([await served("twice"), await liveId(id)], [last.page, last.id]);
    assert.ok((await listed(id)).every(({ status }) => status === "ready"));
  });

  test("an account's upload does not wait for all uploads that another account has queued", async () => {
    const { key } = await platform.service.newAccount("pro");
    const theirs: string[] = [];
    for (let index = 0; index < 10; index++) {
      const { id } = await made<Project>(platform.service, "POST", "/projects", { name: "Busy", slug: `busy-${index}` }, key);
      // Each with different bytes, so that no compressed form can be reused.
      const files: Record<string, string> = { "petstore.json": "{}" };
      for (let page = 0; page < 20; page++) files[`p${page}.html`] = `${index} cats and ${page} dogs. `.repeat(2_000);
      const body = await packSite(files);
      const { status } = await platform.service.ask("POST", `/projects/${id}/deployments`, { key, body, headers: gzip });
      assert.equal(status, 202);
      theirs.push(`/projects/${id}/deployments`);
    }
    const deployed = () => Promise.all(theirs.map((path) => made<Deployment[]>(platform.service, "GET", path, undefined, key)));
    const { id } = await made<Project>(platform.service, "POST", "/projects", { name: "Quick", slug: "quick" });
    const sent = await send(id, "quick");
    const own = `/projects/${id}/deployments/${sent.body.id}`;
    await until(async () => (await made<Deployment>(platform.service, "GET", own)).status === "ready");
    assert.ok((await deployed()).flat().some(({ status }) => status === "queued"));
    await idle();
    assert.deepEqual([...new Set((await deployed()).flat().map(({ status, error }) => error ?? status))], ["ready"]);
  });

  test("an Idempotency-Key makes one deployment of the same upload sent twice, and refuses another", async () => {
    const id = await platform.project("once", { "index.html": "0" });
    const key = { "idempotency-key": "deploy-1" };
    const first = await send(id, "a", key);
    const again = await send(id, "a", key);
    assert.deepEqual([again.status, again.body.id, again.headers.get("idempotent-replayed")], [202, first.body.id, "true"]);
    const other = await send(id, "b", key);
    assert.deepEqual([other.status, other.body.code], [422, "idempotency_key_reused"]);
    await idle();
    assert.deepEqual([await served("once"), (await listed(id)).length], ["a", 2]);
    await until(async () => (await keptUploads(platform.service)).length === 0); // no archive is left behind
  });

  test("a deleted project is no longer served when the answer arrives, frees its names for other accounts, and keeps its slug reserved", async () => {
    const id = await platform.project("gone", { "index.html": "gone" });
    platform.dns.set("www.gone.test", "CNAME", ["sites.test"]);
    await platform.addDomain(id, "www.gone.test");
    await idle();
    assert.equal((await platform.https("www.gone.test", "/")).body, "gone");
    await platform.addDomain(id, "pending.gone-too.test");
    assert.equal((await platform.service.ask("DELETE", `/projects/${id}`)).status, 204);
    assert.equal((await platform.http("gone.sites.test", "/")).status, 404);
    await assert.rejects(platform.https("www.gone.test", "/"));
    const other = await platform.service.newAccount("pro");
    const sameSlug = { key: other.key, body: { name: "Gone", slug: "gone" } };
    assert.equal((await platform.service.ask<Failure>("POST", "/projects", sameSlug)).body.code, "slug_taken");
    const theirs = await platform.project("theirs", { "index.html": "new" }, { key: other.key });
    assert.equal((await platform.addDomain(theirs, "pending.gone-too.test", other.key)).status, 201);
    assert.equal((await platform.addDomain(theirs, "www.gone.test", other.key)).status, 201);
    const own = await platform.project("gone-again", { "index.html": "x" });
    assert.equal((await platform.addDomain(own, "www.gone.test")).status, 409);
  });
});

test("a queued deployment of a process that was killed is finished by the next one", async (t) => {
  const dataDir = temporaryFolder(t);
  const key = await createAccount(dataDir);
  const env = { PLATFORM_DOMAIN: "sites.test", DNS_SERVERS: "127.0.0.1:9" };
  const first = spawnServer(t, dataDir, env);
  const at = `${await addressOf(first)}/v1/projects`;
  const { body: project } = await ask<Project>(at, "POST", { key, body: { name: "Rex", slug: "rex" } });
  const pages = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`f${index}.html`, `<p>${index}</p>`.repeat(200)]));
  const body = await packSite({ ...pages, "petstore.json": "{}" });
  const sent = await ask<Deployment>(`${at}/${project.id}/deployments`, "POST", { key, body, headers: gzip });
  assert.deepEqual([sent.status, sent.body.status], [202, "queued"]);
  first.kill("SIGKILL");
  await first.ended;

  const second = spawnServer(t, dataDir, env);
  const path = `${await addressOf(second)}/v1/projects/${project.id}/deployments/${sent.body.id}`;
  let deployment = sent.body;
  await until(async () => {
    deployment = (await ask<Deployment>(path, "GET", { key })).body;
    return deployment.status !== "queued";
  });
  assert.deepEqual([deployment.status, deployment.error, deployment.files], ["ready", null, 500]);
  await until(async () => (await archivesIn(dataDir)).length === 0);
  assert.deepEqual(await readdir(join(dataDir, "content", "incoming")).catch(() => []), []);
  second.kill("SIGKILL");
  await second.ended;
});
