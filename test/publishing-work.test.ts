import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import type { Domain } from "../src/publishing/domains/domains.ts";
import type { Deployment } from "../src/publishing/projects/deployments.ts";
import type { Project } from "../src/publishing/projects/projects.ts";
import { ordersAt } from "./support/certifying.ts";
import { clusterFor, openCluster, type ClusterNode } from "./support/cluster.ts";
import { administer, lockTable, rowsOf } from "./support/postgres.ts";
import { made } from "./support/shop.ts";
import { packSite } from "./support/sites.ts";
import { until } from "./support/until.ts";

const page = "<h1>Rex</h1>";

test("nodes that race for one name place one order", async (t) => {
  const cluster = await clusterFor(t);
  const { nodes, dns, idle } = cluster;
  const id = await cluster.project(nodes[0]!, "rex", { "index.html": page });
  for (const hostname of ["www.one.test", "www.two.test", "www.three.test"]) {
    const before = ordersAt(cluster.proxy);
    await made(nodes[0]!, "POST", `/projects/${id}/domains`, { hostname });
    await idle();
    dns.set(hostname, "CNAME", ["sites.test"]);
    const path = `/projects/${id}/domains/${hostname}`;
    await Promise.all(nodes.flatMap((node) => [node.ask("POST", `${path}/verify`), node.publishing.idle()]));
    await idle();
    for (const node of nodes) {
      assert.equal((await made<Domain>(node, "GET", path)).certificate.status, "issued");
      assert.equal((await node.https(hostname, "/")).body, page);
    }
    assert.equal(ordersAt(cluster.proxy) - before, 1);
  }
});

test("when a node loses its lease while the authority answers, another node continues the order and places no second one", async (t) => {
  const cluster = await clusterFor(t, 1);
  const node = cluster.nodes[0]!;
  const id = await cluster.project(node, "rex", { "index.html": page });
  const [asked, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  t.after(() => release.resolve());
  cluster.proxy.intercept = {
    after: async ({ path, status }, answer) => {
      if (path !== "/order-plz" || status !== 201) return answer;
      asked.resolve();
      await release.promise;
      return answer;
    },
  };
  cluster.dns.set("www.shop.test", "CNAME", ["sites.test"]);
  await made(node, "POST", `/projects/${id}/domains`, { hostname: "www.shop.test" });
  await asked.promise;
  const lifeAt = async () =>
    (JSON.parse(await rowsOf(cluster.databaseUrl, "domains")) as Record<string, unknown>[])[0]?.["certificate_lease_life"];
  const first = await lifeAt();
  await administer(cluster.databaseUrl, "DELETE FROM nodes");
  await until(async () => (await lifeAt()) !== first);
  release.resolve();
  await until(async () => {
    const { certificate } = await made<Domain>(node, "GET", `/projects/${id}/domains/www.shop.test`);
    return certificate.status === "issued";
  });
  assert.equal(ordersAt(cluster.proxy), 1);
});

test("locked rows of one account delay no other account's checks, certificates and deployments", async (t) => {
  const cluster = await openCluster(1);
  const [node] = cluster.nodes as [ClusterNode];
  const blocker = new pg.Client(cluster.databaseUrl);
  await blocker.connect();
  t.after(async () => {
    await blocker.end();
    await cluster.close();
  });
  const locked = await node.newAccount();
  const id = await cluster.project(node, "rex", { "index.html": page });
  const { id: lockedId } = await made<Project>(node, "POST", "/projects", { name: "Locked", slug: "locked" }, locked.key);
  const upload = async () => {
    const asked = { body: await packSite({ "index.html": page, "petstore.json": "{}" }), headers: { "content-type": "application/gzip" } };
    return node.ask<Deployment>("POST", `/projects/${lockedId}/deployments`, { ...asked, key: locked.key });
  };
  await upload();
  await cluster.idle();
  await made(node, "POST", `/projects/${id}/domains`, { hostname: "www.shop.test" });
  await made(node, "POST", `/projects/${lockedId}/domains`, { hostname: "www.locked.test" }, locked.key);
  await cluster.idle();

  const claims = "hashtextextended('claims of deployments', 0)";
  await blocker.query(`SELECT pg_advisory_lock(${claims})`);
  const { body: queued } = await upload();
  await blocker.query("BEGIN");
  for (const table of ["domains", "deployments"])
    assert.ok((await blocker.query(`SELECT 1 FROM ${table} WHERE account_id = $1 FOR UPDATE`, [locked.id])).rows.length > 0);
  await blocker.query(`SELECT pg_advisory_unlock(${claims})`);

  cluster.dns.set("www.shop.test", "CNAME", ["sites.test"]);
  cluster.time.now += 60_000;
  await until(async () => {
    const { certificate } = await made<Domain>(node, "GET", `/projects/${id}/domains/www.shop.test`);
    return certificate.status === "issued";
  });
  await cluster.deploy(node, id, { "index.html": "<h1>Next</h1>" });
  await blocker.query("ROLLBACK");
  await until(async () => {
    const { status } = await made<Deployment>(node, "GET", `/projects/${lockedId}/deployments/${queued.id}`, undefined, locked.key);
    return status === "ready";
  });
});

test("a deployment that finds the database locked is tried again five seconds later", async (t) => {
  const cluster = await clusterFor(t, 1);
  const [node] = cluster.nodes as [ClusterNode];
  const id = await cluster.project(node, "rex", { "index.html": page });
  const release = await lockTable(cluster.databaseUrl, "files");
  const body = await packSite({ "index.html": "<h1>Next</h1>", "petstore.json": "{}" });
  const sent = await node.ask<Deployment>("POST", `/projects/${id}/deployments`, { body, headers: { "content-type": "application/gzip" } });
  const status = async () => (await made<Deployment>(node, "GET", `/projects/${id}/deployments/${sent.body.id}`)).status;
  await cluster.idle();
  await release();
  cluster.time.now += 4_999;
  await cluster.idle();
  assert.equal(await status(), "queued");
  cluster.time.now += 1;
  await cluster.idle();
  assert.equal(await status(), "ready");
});

test("Re-verify asks an authority that has just failed at most once a minute, across all nodes", async (t) => {
  const cluster = await clusterFor(t, 2);
  const { nodes, dns, idle, proxy, time } = cluster;
  const id = await cluster.project(nodes[0]!, "rex", { "index.html": page });
  proxy.intercept = { before: ({ path }) => (path === "/order-plz" ? { status: 500 } : undefined) };
  dns.set("www.shop.test", "CNAME", ["sites.test"]);
  await made(nodes[0]!, "POST", `/projects/${id}/domains`, { hostname: "www.shop.test" });
  await idle();
  const press = async () => {
    for (const node of nodes) {
      await made<Domain>(node, "POST", `/projects/${id}/domains/www.shop.test/verify`);
      await node.publishing.idle();
    }
  };
  const asked = () => proxy.requests.filter(({ path }) => path === "/order-plz").length;
  const before = asked();
  assert.ok(before > 0);
  await press();
  time.now += 50_000;
  await press();
  assert.equal(asked(), before);
  proxy.intercept = {};
  time.now += 10_000;
  await press();
  assert.equal((await made<Domain>(nodes[0]!, "GET", `/projects/${id}/domains/www.shop.test`)).certificate.status, "issued");
});
