import assert from "node:assert/strict";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { Agent as HttpAgent } from "node:http";
import { Agent } from "node:https";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { TLSSocket } from "node:tls";
import pg from "pg";
import type { Domain } from "../src/publishing/domains/domains.ts";
import type { Deployment } from "../src/publishing/projects/deployments.ts";
import type { Project } from "../src/publishing/projects/projects.ts";
import { newSecretsKey } from "../src/publishing/certificates/secrets.ts";
import { openCluster, type Cluster, type ClusterNode } from "./support/cluster.ts";
import { temporaryFolder } from "./support/folder.ts";
import { openLine } from "./support/line.ts";
import { administer, rowsOf } from "./support/postgres.ts";
import { spawnServer } from "./support/process.ts";
import { made } from "./support/shop.ts";
import { packSite } from "./support/sites.ts";
import { until } from "./support/until.ts";

const page = "<h1>Rex</h1>";

async function openScene(t: TestContext, count = 3, now?: number): Promise<Cluster> {
  const cluster = await openCluster(count, now);
  t.after(() => cluster.close());
  return cluster;
}

/** A domain that is verified and has its certificate. */
async function addDomain({ nodes, dns, idle }: Cluster, projectId: number, hostname: string): Promise<void> {
  dns.set(hostname, "CNAME", ["sites.test"]);
  await made(nodes[0]!, "POST", `/projects/${projectId}/domains`, { hostname });
  await idle();
  const { certificate } = await made<Domain>(nodes[0]!, "GET", `/projects/${projectId}/domains/${hostname}`);
  assert.equal(certificate.status, "issued", JSON.stringify(certificate));
}

/** How many orders the authority has made; a nonce that it refused is none. */
const ordersOf = ({ proxy }: Cluster): number =>
  proxy.requests.filter(({ path, status }) => path === "/order-plz" && status === 201).length;

const contentOf = (node: ClusterNode): string => join(node.dataDir, "content");

test("every node serves what one node has deployed, also after its folder was lost, and also a node that joins later", async (t) => {
  const cluster = await openScene(t);
  const [a, b, c] = cluster.nodes as [ClusterNode, ClusterNode, ClusterNode];
  const large = "Cats and dogs. ".repeat(200_000);
  await cluster.project(a, "rex", { "index.html": page, "large.txt": large });
  for (const node of [a, b, c]) assert.equal((await node.http("rex.sites.test", "/")).body, page);
  for (const node of [a, b, c]) await rm(contentOf(node), { recursive: true, force: true });
  for (const node of [a, b, c]) assert.equal((await node.http("rex.sites.test", "/large.txt")).body, large);
  const later = await cluster.join();
  assert.equal((await later.http("rex.sites.test", "/")).body, page);
});

test("a node with another SECRETS_KEY refuses to start, with one line that says so", async (t) => {
  const cluster = await openScene(t, 1);
  const other = spawnServer(t, temporaryFolder(t), { ...cluster.env, SECRETS_KEY: newSecretsKey() });
  assert.equal(await other.ended, 1);
  assert.match(other.err(), /^petstore: [^\n]*SECRETS_KEY[^\n]*\n$/);
});

test("an earlier deployment that is promoted at one node is served by all when the answer arrives", async (t) => {
  const cluster = await openScene(t);
  const [a, b, c] = cluster.nodes as [ClusterNode, ClusterNode, ClusterNode];
  const id = await cluster.project(a, "rex", { "index.html": "first" });
  const first = (await made<{ deploymentId: number }>(a, "GET", `/projects/${id}`)).deploymentId;
  await cluster.deploy(b, id, { "index.html": "second" });
  for (const node of [a, b, c]) assert.equal((await node.http("rex.sites.test", "/")).body, "second");
  await made(c, "POST", `/projects/${id}/deployments/${first}/promote`);
  for (const node of [a, b, c]) assert.equal((await node.http("rex.sites.test", "/")).body, "first");
});

test("content that no deployment needs is deleted from the database, and so are uploads", async (t) => {
  const cluster = await openScene(t, 2);
  const [a, b] = cluster.nodes as [ClusterNode, ClusterNode];
  const one = await cluster.project(a, "one", { "index.html": "shared ".repeat(1_000), "own.html": "own ".repeat(1_000) });
  const other = await cluster.project(b, "other", { "index.html": "shared ".repeat(1_000) });
  const blobs = async () => (JSON.parse(await rowsOf(cluster.databaseUrl, "blobs")) as unknown[]).length;
  assert.equal(await blobs(), 6, "two files, each with two compressed forms, and no upload");
  await made(b, "DELETE", `/projects/${one}`);
  await cluster.idle();
  assert.equal(await blobs(), 3);
  await made(a, "DELETE", `/projects/${other}`);
  await cluster.idle();
  assert.deepEqual([await blobs(), await rowsOf(cluster.databaseUrl, "blob_pieces")], [0, "[]"]);
});

test("once a removal is answered no node serves the name: not on an open connection, not with a session to resume", async (t) => {
  const cluster = await openScene(t);
  const id = await cluster.project(cluster.nodes[0]!, "rex", { "index.html": page });
  await addDomain(cluster, id, "www.shop.test");
  const visits = await Promise.all(
    cluster.nodes.map(async (node) => {
      const agents = { http: new HttpAgent({ keepAlive: true, maxSockets: 1 }), https: new Agent({ keepAlive: true, maxSockets: 1 }) };
      t.after(() => Object.values(agents).forEach((agent) => agent.destroy()));
      assert.equal((await node.http("www.shop.test", "/", agents.http)).status, 308);
      assert.equal((await node.https("www.shop.test", "/", agents.https)).body, page);
      const open = await node.connect("www.shop.test");
      assert.match(await answerOn(open), /^HTTP\/1\.1 200 /);
      const session = open.getSession()!;
      const again = await node.connect("www.shop.test", session);
      return { node, agents, connections: [open, again], session };
    }),
  );

  const removed = await cluster.nodes[1]!.ask("DELETE", `/projects/${id}/domains/www.shop.test`);
  assert.equal(removed.status, 200);
  await Promise.all(
    visits.map(async ({ node, agents, connections, session }) => {
      const refused = [
        ...connections.map(async (connection) => assert.equal(await answerOn(connection), "")),
        node
          .connect("www.shop.test", session)
          .then(answerOn, () => "")
          .then((answer) => assert.equal(answer, "")),
        assert.rejects(node.https("www.shop.test", "/", agents.https)),
        assert.rejects(node.https("www.shop.test", "/")),
        // A connection that is cut under a request is a refusal too.
        node.http("www.shop.test", "/", agents.http).then(
          ({ status }) => assert.ok(isRefusal(status), `${status}`),
          () => undefined,
        ),
        node.http("www.shop.test", "/").then(({ status }) => assert.ok(isRefusal(status), `${status}`)),
      ];
      await Promise.all(refused);
      assert.equal((await node.http("rex.sites.test", "/")).status, 200, "the platform's own name goes on");
    }),
  );
});

/** 404, or the 503 of a node that a busy machine kept from renewing its lease in time: it serves no name until it has. */
const isRefusal = (status: number): boolean => status === 404 || status === 503;

/** What comes back for a request on a connection, until a whole answer is there or the connection ends. */
async function answerOn(socket: TLSSocket): Promise<string> {
  let answer = "";
  const over = new Promise<void>((resolve) => {
    socket.on("close", resolve).on("data", (bytes: Buffer) => {
      answer += bytes.toString();
      if (answer.endsWith(page)) resolve();
    });
  });
  if (!socket.destroyed) socket.write("GET / HTTP/1.1\r\nHost: www.shop.test\r\n\r\n");
  if (!socket.destroyed) await over;
  return answer;
}

test("when the answer arrives, every node serves a new redirect or primary name, and the site again when they end", async (t) => {
  const cluster = await openScene(t);
  const { nodes } = cluster;
  const [a, b, c] = nodes as [ClusterNode, ClusterNode, ClusterNode];
  const id = await cluster.project(a, "rex", { "index.html": page });
  const [www, old] = ["www.shop.test", "old.shop.test"];
  for (const hostname of [www, old]) await addDomain(cluster, id, hostname);
  const patch = (node: ClusterNode, hostname: string, body: object) => made(node, "PATCH", `/projects/${id}/domains/${hostname}`, body);
  const statuses = (host: string) => Promise.all(nodes.map(async (node) => (await node.https(host, "/")).status));
  const onPlatform = () => Promise.all(nodes.map(async (node) => (await node.http("rex.sites.test", "/")).status));

  await patch(b, old, { redirect: { to: www } });
  assert.deepEqual(await statuses(old), [301, 301, 301]);
  await patch(c, www, { primary: true });
  for (const node of nodes) {
    assert.match((await made<Project>(node, "GET", `/projects/${id}`)).url, /^https:\/\/www\.shop\.test:/);
    assert.match(String((await node.http("rex.sites.test", "/")).headers.link), /^<https:\/\/www\.shop\.test:\d+\/>; rel="canonical"$/);
  }
  await made(a, "PATCH", `/projects/${id}`, { redirectToPrimary: true });
  assert.deepEqual(await onPlatform(), [308, 308, 308]);

  cluster.dns.set(www, "CNAME", ["elsewhere.test"]);
  assert.equal((await made<Domain>(b, "POST", `/projects/${id}/domains/${www}/verify`)).status, "failing");
  assert.deepEqual(
    [await statuses(old), await onPlatform()],
    [
      [200, 200, 200],
      [200, 200, 200],
    ],
  );
  cluster.dns.set(www, "CNAME", ["sites.test"]);
  await made(c, "POST", `/projects/${id}/domains/${www}/verify`);
  assert.deepEqual(
    [await statuses(old), await onPlatform()],
    [
      [301, 301, 301],
      [308, 308, 308],
    ],
  );
  await a.ask("DELETE", `/projects/${id}/domains/${www}`);
  assert.deepEqual(
    [await statuses(old), await onPlatform()],
    [
      [200, 200, 200],
      [200, 200, 200],
    ],
  );
});

test("nodes that race for one name place one order", async (t) => {
  const cluster = await openScene(t);
  const { nodes, dns, idle } = cluster;
  const id = await cluster.project(nodes[0]!, "rex", { "index.html": page });
  for (const hostname of ["www.one.test", "www.two.test", "www.three.test"]) {
    const before = ordersOf(cluster);
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
    assert.equal(ordersOf(cluster) - before, 1);
  }
});

test("when a node loses its lease while the authority answers, another node continues the order and places no second one", async (t) => {
  const cluster = await openScene(t, 1);
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
  assert.equal(ordersOf(cluster), 1);
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

test("Re-verify asks an authority that has just failed at most once a minute, across all nodes", async (t) => {
  const cluster = await openScene(t, 2);
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

test("a node that is cut off from the database serves no domain once a removal is answered, and catches up when it is back", async (t) => {
  const cluster = await openScene(t, 2);
  const [a] = cluster.nodes as [ClusterNode];
  const line = await openLine(cluster.databaseUrl);
  t.after(() => line.close());
  const far = await cluster.join({ DATABASE_URL: line.url });
  const id = await cluster.project(a, "rex", { "index.html": page });
  for (const hostname of ["www.gone.test", "www.kept.test"]) {
    await addDomain(cluster, id, hostname);
    assert.equal((await far.https(hostname, "/")).body, page);
  }
  const open = await far.connect("www.kept.test");
  const closed = once(open.resume(), "close");

  line.cut();
  assert.equal((await a.ask("DELETE", `/projects/${id}/domains/www.gone.test`)).status, 200);
  for (const hostname of ["www.gone.test", "www.kept.test"]) {
    await assert.rejects(far.https(hostname, "/"), hostname);
    assert.equal((await far.http(hostname, "/")).status, 503, hostname);
  }
  await closed;
  assert.equal((await a.https("www.kept.test", "/")).body, page, "the others go on");

  line.mend();
  await until(async () => (await far.http("www.kept.test", "/")).status === 308);
  assert.equal((await far.https("www.kept.test", "/")).body, page);
  await assert.rejects(far.https("www.gone.test", "/"));
});
