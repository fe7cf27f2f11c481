import assert from "node:assert/strict";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { Agent as HttpAgent } from "node:http";
import { Agent } from "node:https";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { TLSSocket } from "node:tls";
import type { Domain } from "../src/publishing/domains/domains.ts";
import { newSecretsKey } from "../src/publishing/certificates/secrets.ts";
import { openCluster, type Cluster, type ClusterNode } from "./support/cluster.ts";
import { temporaryFolder } from "./support/folder.ts";
import { openLine } from "./support/line.ts";
import { rowsOf } from "./support/postgres.ts";
import { spawnServer } from "./support/process.ts";
import { made } from "./support/shop.ts";
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

test("what one node has deployed every node serves, also when its folder was lost, and a node that comes later", async (t) => {
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

test("a node with another SECRETS_KEY ends its start with one line that says so", async (t) => {
  const cluster = await openScene(t, 1);
  const other = spawnServer(t, temporaryFolder(t), { ...cluster.env, SECRETS_KEY: newSecretsKey() });
  assert.equal(await other.ended, 1);
  assert.match(other.err(), /^petstore: [^\n]*SECRETS_KEY[^\n]*\n$/);
});

test("an earlier deployment that is promoted at one node is served by all with the answer", async (t) => {
  const cluster = await openScene(t);
  const [a, b, c] = cluster.nodes as [ClusterNode, ClusterNode, ClusterNode];
  const id = await cluster.project(a, "rex", { "index.html": "first" });
  const first = (await made<{ deploymentId: number }>(a, "GET", `/projects/${id}`)).deploymentId;
  await cluster.deploy(b, id, { "index.html": "second" });
  for (const node of [a, b, c]) assert.equal((await node.http("rex.sites.test", "/")).body, "second");
  await made(c, "POST", `/projects/${id}/deployments/${first}/promote`);
  for (const node of [a, b, c]) assert.equal((await node.http("rex.sites.test", "/")).body, "first");
});

test("what no deployment has a use for leaves the database, uploads too", async (t) => {
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
      const resumed = await node.connect("www.shop.test", session);
      assert.equal(resumed.isSessionReused(), true);
      return { node, agents, connections: [open, resumed], session };
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
          ({ status }) => assert.equal(status, 404),
          () => undefined,
        ),
        node.http("www.shop.test", "/").then(({ status }) => assert.equal(status, 404)),
      ];
      await Promise.all(refused);
      assert.equal((await node.http("rex.sites.test", "/")).status, 200, "the platform's own name goes on");
    }),
  );
});

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

test("nodes that race for one name make one order", async (t) => {
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

test("Re-verify asks an authority that has just failed once a minute at most, whichever nodes it is pressed at", async (t) => {
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
