import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test, type TestContext } from "node:test";
import fc from "fast-check";
import sql from "sql-template-tag";
import { manifestFromText } from "../src/publishing/projects/content.ts";
import type { Deployment } from "../src/publishing/projects/deployments.ts";
import type { Project } from "../src/publishing/projects/projects.ts";
import { runs } from "./support/fault-runs.ts";
import type { Failure } from "./support/models.ts";
import { newDatabase } from "./support/postgres.ts";
import { engine, startService, testOnce, unlimited, type Reply, type TestService } from "./support/service.ts";
import { made } from "./support/shop.ts";
import { packSite } from "./support/sites.ts";

type Use = { limit: number; used: number; remaining: number };
type Files = Record<string, number>;

let service: TestService;
before(async () => {
  service = await startService();
});
after(() => service.close());

/** A file of this many bytes; files of the same name and size are equal. */
const contentOf = (name: string, size: number): string => name.padEnd(size, "-").slice(0, size);

let slugs = 0;

/** An account whose published files may take up this many bytes. Sites are given by their files' sizes. */
async function openShop(publishedBytes: number, at = service) {
  const { id, key } = await at.newAccount("enterprise", { ...unlimited, publishedBytes });
  const make = <T>(method: string, path: string, body?: unknown) => made<T>(at, method, path, body, key);
  const pathOf = (projectId: number) => `/projects/${projectId}/deployments`;
  async function send(projectId: number, files: Files, petstore: object = {}): Promise<Reply<Deployment & Omit<Failure, "status">>> {
    const named = Object.fromEntries(Object.entries(files).map(([name, size]) => [name, contentOf(name, size)]));
    const body = await packSite({ ...named, "petstore.json": JSON.stringify(petstore) });
    return at.ask("POST", pathOf(projectId), { key, body, headers: { "content-type": "application/gzip" } });
  }
  return {
    id,
    key,
    make,
    send,
    newProject: async () => (await make<Project>("POST", "/projects", { name: "Shop", slug: `shop-${slugs++}` })).id,
    deployment: (projectId: number, deploymentId: number) => make<Deployment>("GET", `${pathOf(projectId)}/${deploymentId}`),
    async deploy(projectId: number, files: Files, petstore?: object): Promise<Deployment> {
      const { status, body } = await send(projectId, files, petstore);
      assert.equal(status, 202, body.message);
      await at.publishing.idle();
      return make<Deployment>("GET", `${pathOf(projectId)}/${body.id}`);
    },
    use: async () => (await make<{ publishedBytes: Use }>("GET", "/account")).publishedBytes,
    used: async () => (await make<{ publishedBytes: Use }>("GET", "/account")).publishedBytes.used,
    setLimit: (bytes: number) => at.administration["accounts.setPlan"]({ id, plan: "free", publishedBytes: bytes }),
  };
}

test("the files of an account's kept deployments are counted, each content once", async () => {
  const shop = await openShop(1_000_000);
  const [one, other] = [await shop.newProject(), await shop.newProject()];
  await shop.deploy(one, { a: 1_000, b: 200 });
  assert.equal(await shop.used(), 1_200);
  await shop.deploy(one, { a: 1_000, c: 30 });
  assert.equal(await shop.used(), 1_230, "only what is new");
  await shop.deploy(other, { a: 1_000, d: 4 });
  assert.equal(await shop.used(), 1_234);
  const stranger = await openShop(1_000_000);
  await stranger.deploy(await stranger.newProject(), { a: 1_000 });
  assert.equal(await stranger.used(), 1_000, "of each account on its own");

  const failed = await shop.deploy(one, { e: 5_000 }, { domains: { primary: "-" } });
  assert.equal(failed.status, "failed");
  assert.equal(await shop.used(), 1_234, "what failed holds nothing");
  await shop.make("DELETE", `/projects/${one}`);
  assert.deepEqual(await shop.use(), { limit: 1_000_000, used: 1_004, remaining: 998_996 });
  await shop.make("DELETE", `/projects/${other}`);
  assert.equal(await shop.used(), 0);
});

test("a deployment that has no room fails with the reason, the site stays as it is, and nothing of it stays on the disk", async () => {
  const shop = await openShop(2 * 1_048_576);
  const project = await shop.newProject();
  const { id: served } = await shop.deploy(project, { "index.html": 1_500_000 });
  const folder = join(service.dataDir, "content");
  const files = async () => (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile()).length;
  const kept = await files();
  const { status, error } = await shop.deploy(project, { "large.html": 1_048_576 });
  assert.equal(status, "failed");
  assert.equal(
    error,
    "The account's published files take up 1.5 MiB and may take up 2 MiB: there is no room for 1 MiB more. Publish less, delete a project, or ask for a higher limit.",
  );
  assert.deepEqual([await shop.used(), await files()], [1_500_000, kept]);
  assert.equal((await shop.make<Project>("GET", `/projects/${project}`)).deploymentId, served);
  assert.equal((await shop.deploy(project, { "index.html": 1_500_000, "small.html": 500_000 })).status, "ready");
});

testOnce("an upload for which there is no room at all is refused at once, after every other check, and leaves nothing behind", async () => {
  const shop = await openShop(1_000);
  const project = await shop.newProject();
  const { id: first } = await shop.deploy(project, { a: 600 });
  const { id: second } = await shop.deploy(project, { b: 400 });
  const refused = await shop.send(project, { c: 1 });
  assert.deepEqual([refused.status, refused.body.code], [403, "storage_limit_reached"]);
  assert.equal((await shop.send(999_999, { c: 1 })).status, 404);
  assert.deepEqual(await readdir(join(service.dataDir, "uploads")), []);
  await shop.setLimit(10);
  assert.deepEqual(await shop.use(), { limit: 10, used: 1_000, remaining: 0 });
  assert.equal((await shop.send(project, { c: 1 })).status, 403);
  for (const id of [first, second]) await shop.make("POST", `/projects/${project}/deployments/${id}/promote`);
  await shop.make("DELETE", `/projects/${project}`);
  assert.equal((await shop.deploy(await shop.newProject(), { c: 1 })).status, "ready");
});

test("the oldest deployment makes room for the newest, because a project keeps ten", async () => {
  const shop = await openShop(1_000);
  const project = await shop.newProject();
  for (let i = 0; i < 13; i++) assert.equal((await shop.deploy(project, { [`version-${i}`]: 100 })).status, "ready", `version ${i}`);
  assert.equal(await shop.used(), 1_000);
  const deployments = await shop.make<Deployment[]>("GET", `/projects/${project}/deployments`);
  assert.equal(deployments.length, 10);
  const other = await shop.newProject();
  assert.equal((await shop.send(other, { a: 1 })).status, 403);
});

async function twoNodes(t: TestContext): Promise<TestService[]> {
  const database = await newDatabase(undefined, { migrated: true });
  const nodes: TestService[] = [];
  for (let i = 0; i < 2; i++) nodes.push(await startService({ env: { DATABASE_URL: database.url } }));
  t.after(async () => {
    await Promise.all(nodes.map((node) => node.close()));
    await database.drop();
  });
  return nodes;
}

testOnce("deployments at once on two nodes do not exceed the limit together: with room for three of six, three are ready", async (t) => {
  const nodes = await twoNodes(t);
  const shop = await openShop(1_000, nodes[0]);
  const projects = await Promise.all(Array.from({ length: 6 }, () => shop.newProject()));
  const sent = [];
  for (const [i, project] of projects.entries()) sent.push(await shop.send(project, { [`file-${i}`]: 300 }));
  for (let i = 0; i < 2; i++) await Promise.all(nodes.map((node) => node.publishing.idle()));
  const ended = await Promise.all(sent.map(({ body }, i) => shop.deployment(projects[i]!, body.id)));
  assert.deepEqual(ended.map(({ status }) => status).toSorted(), ["failed", "failed", "failed", "ready", "ready", "ready"]);
  assert.equal(await shop.used(), 900);
});

const name = fc.constantFrom("a", "b", "c", "d", "e", "f");
const site = fc.dictionary(name, fc.constantFrom(100, 200), { minKeys: 1, maxKeys: 4 });
const wish = fc.oneof(
  { weight: 6, arbitrary: fc.record({ project: fc.nat(2), site, fails: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ deleted: fc.nat(2) }) },
);

test("whatever is published and deleted at once, the count is the size of the kept files, and within the limit", async () => {
  const property = fc.asyncProperty(
    fc.array(wish, { minLength: 4, maxLength: 14, size: "max" }),
    fc.integer({ min: 100, max: 1_500 }),
    async (wishes, limit) => {
      const shop = await openShop(limit);
      const projects = [await shop.newProject(), await shop.newProject(), await shop.newProject()];
      const run = async (one: (typeof wishes)[number]): Promise<unknown> => {
        if ("deleted" in one) return service.ask("DELETE", `/projects/${projects[one.deleted]}`, { key: shop.key });
        const files = Object.fromEntries(Object.entries(one.site).map(([file, size]) => [`${file}${size}`, size]));
        const { status } = await shop.send(projects[one.project]!, files, one.fails ? { domains: { primary: "-" } } : {});
        assert.ok([202, 403, 404, 503].includes(status), `${status}`);
      };
      const queue = wishes.values();
      await Promise.all(
        [1, 2].map(async () => {
          for (const one of queue) await run(one);
        }),
      );
      await service.publishing.idle();
      const rows = await service.db.query<{ manifest: string }>(sql`
      SELECT manifest FROM deployments WHERE account_id = ${shop.id} AND status = 'ready'`);
      const sizes = new Map(
        rows.flatMap(({ manifest }) => Array.from(manifestFromText(manifest).values(), ({ hash, size }) => [hash, size])),
      );
      const used = await shop.used();
      assert.equal(
        used,
        sizes.values().reduce((sum, size) => sum + size, 0),
      );
      assert.ok(used <= limit, `${used} of ${limit}`);
    },
  );
  await fc.assert(property, { numRuns: runs(engine === "sqlite" ? 4 : 2, 12) });
});
