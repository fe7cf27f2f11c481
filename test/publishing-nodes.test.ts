import assert from "node:assert/strict";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { Agent as HttpAgent } from "node:http";
import { Agent } from "node:https";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { TLSSocket } from "node:tls";
import { newSecretsKey } from "../src/platform/secrets.ts";
import type { Domain } from "../src/publishing/domains/domains.ts";
import type { Project } from "../src/publishing/projects/projects.ts";
import { clusterFor, type Cluster, type ClusterNode } from "./support/cluster.ts";
import { temporaryFolder } from "./support/folder.ts";
import { openLine } from "./support/line.ts";
import { rowsOf } from "./support/postgres.ts";
import { spawnServer } from "./support/process.ts";
import { made } from "./support/shop.ts";
import { until } from "./support/until.ts";

const page = "<h1>Rex</h1>";

/** A domain that is verified and has its certificate. */
async function addDomain({ nodes, dns, idle }: Cluster, projectId: number, hostname: string): Promise<void> {
  dns.set(hostname, "CNAME", ["sites.test"]);
  await made(nodes[0]!, "POST", `/projects/${projectId}/domains`, { hostname });
  await idle();
  const { certificate } = await made<Domain>(nodes[0]!, "GET", `/projects/${projectId}/domains/${hostname}`);
  assert.equal(certificate.status, "issued", JSON.stringify(certificate));
}

const contentOf = (node: ClusterNode): string => join(node.dataDir, "content");

test("every node serves what one node has deployed, also after its folder was lost, and also a node that joins later", async (t) => {
  const cluster = await clusterFor(t);
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
  const cluster = await clusterFor(t, 1);
  const other = spawnServer(t, temporaryFolder(t), { ...cluster.env, SECRETS_KEY: newSecretsKey() });
  assert.equal(await other.ended, 1);
  assert.match(other.err(), /^petstore: [^\n]*SECRETS_KEY[^\n]*\n$/);
});

test("an earlier deployment that is promoted at one node is served by all when the answer arrives", async (t) => {
  const cluster = await clusterFor(t);
  const [a, b, c] = cluster.nodes as [ClusterNode, ClusterNode, ClusterNode];
  const id = await cluster.project(a, "rex", { "index.html": "first" });
  const first = (await made<{ deploymentId: number }>(a, "GET", `/projects/${id}`)).deploymentId;
  await cluster.deploy(b, id, { "index.html": "second" });
  for (const node of [a, b, c]) assert.equal((await node.http("rex.sites.test", "/")).body, "second");
  await made(c, "POST", `/projects/${id}/deployments/${first}/promote`);
  for (const node of [a, b, c]) assert.equal((await node.http("rex.sites.test", "/")).body, "first");
});

test("content that no deployment needs is deleted from the database, and so are uploads", async (t) => {
  const cluster = await clusterFor(t, 2);
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
  const cluster = await clusterFor(t);
  const id = await cluster.project(cluster.nodes[0]!, "rex", { "index.html": page });
  await addDomain(cluster, id, "www.shop.test");
  const visits: Visit[] = [];
  for (const node of cluster.nodes)
    await until(async () => {
      const visit = await visitOf(t, node, "www.shop.test");
      if (visit) visits.push(visit);
      return visit !== undefined;
    });

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

type Visit = {
  node: ClusterNode;
  agents: { http: HttpAgent; https: Agent };
  connections: TLSSocket[];
  session: Buffer;
};

/** Opens connections to a domain; undefined if the node serves no name, as when a busy machine kept it from renewing its lease in time. */
async function visitOf(t: TestContext, node: ClusterNode, hostname: string): Promise<Visit | undefined> {
  const agents = { http: new HttpAgent({ keepAlive: true, maxSockets: 1 }), https: new Agent({ keepAlive: true, maxSockets: 1 }) };
  t.after(() => Object.values(agents).forEach((agent) => agent.destroy()));
  try {
    const { status } = await node.http(hostname, "/", agents.http);
    if (status === 503) return undefined;
    assert.equal(status, 308);
    assert.equal((await node.https(hostname, "/", agents.https)).body, page);
    const open = await node.connect(hostname);
    const answer = await answerOn(open);
    if (answer === "") return undefined;
    assert.match(answer, /^HTTP\/1\.1 200 /);
    const session = open.getSession()!;
    const again = await node.connect(hostname, session);
    return { node, agents, connections: [open, again], session };
  } catch (error) {
    if (/^(EPROTO|ECONNRESET|ERR_SSL_.*)$/.test((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}

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
  const cluster = await clusterFor(t);
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

test("a node that is cut off from the database serves no domain once a removal is answered, and catches up when it is back", async (t) => {
  const cluster = await clusterFor(t, 2);
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
