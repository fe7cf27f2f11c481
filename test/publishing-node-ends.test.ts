import assert from "node:assert/strict";
import { after, before, test, type TestContext } from "node:test";
import type { Domain } from "../src/publishing/domains/domains.ts";
import type { Deployment } from "../src/publishing/projects/deployments.ts";
import type { ProxiedAnswer, ProxiedRequest } from "./support/acme-proxy.ts";
import { ordersAt } from "./support/certifying.ts";
import { openCluster, type Cluster, type ClusterNode } from "./support/cluster.ts";
import { temporaryFolder } from "./support/folder.ts";
import { lockTable, rowsOf } from "./support/postgres.ts";
import { addressOf, spawnServer } from "./support/process.ts";
import { ask, secretsKey, type Asked } from "./support/service.ts";
import { made } from "./support/shop.ts";
import { packSite } from "./support/sites.ts";
import { until } from "./support/until.ts";

const minuteMs = 60_000;
const page = "<h1>Rex</h1>";

let cluster: Cluster;
let project: number;
before(async () => {
  cluster = await openCluster(2, Date.now() - 60 * minuteMs);
  project = await cluster.project(cluster.nodes[0]!, "rex", { "index.html": page });
});
after(() => cluster.close());

const rowsIn = async <Row>(table: string) => JSON.parse(await rowsOf(cluster.databaseUrl, table)) as Row[];
/** The node of a lease; the lease's id adds a number for each time that the node took one. */
const nodeOf = (leaseId: string): string => leaseId.split("/")[0]!;

/**
 * Starts a node in a separate process, which can receive signals. The clocks of the others are an hour behind, so work is due for this node only.
 *
 * @param hostname the domain that the test adds when it strikes the node
 */
async function openMortal(t: TestContext, hostname = "") {
  const started = Date.now();
  cluster.time.now = started - 60 * minuteMs;
  const { key } = cluster.nodes[0]!;
  const others = new Set((await rowsIn<{ id: string }>("nodes")).map((node) => nodeOf(node.id)));
  const ordersBefore = ordersAt(cluster.proxy);
  const mortal = spawnServer(t, temporaryFolder(t), { ...cluster.env, SECRETS_KEY: secretsKey });
  const address = await addressOf(mortal);
  /** The database closes the connections of a node that was paused, which then answers `unavailable` once or twice. */
  const send = async <T>(to: string, asked: Asked): Promise<T> => {
    for (let tries = 0; ; tries++) {
      const { status, body } = await ask<T>(`${address}/v1/projects/${project}/${to}`, "POST", { key, ...asked });
      if (status === 201 || status === 202) return body;
      assert.ok(status === 503 && tries < 10, `${status} ${JSON.stringify(body)}`);
    }
  };
  const add = async (name: string): Promise<void> => {
    cluster.dns.set(name, "CNAME", ["sites.test"]);
    await send("domains", { body: { hostname: name } });
  };
  const domain = (name: string) => made<Domain>(cluster.nodes[1]!, "GET", `/projects/${project}/domains/${name}`);
  const untilIssued = (name: string, meanwhile?: () => Promise<void>) =>
    until(async () => {
      await meanwhile?.();
      return (await domain(name)).certificate.status === "issued";
    });
  /** Sends the process a signal with its first request of a kind; what the authority answers then does not change. */
  const strike = async (path: string, signal: NodeJS.Signals, answer?: Partial<ProxiedAnswer> | "hang up"): Promise<void> => {
    const struck = Promise.withResolvers<void>();
    let isStruck = false;
    cluster.proxy.intercept = {
      before: (request: ProxiedRequest) => {
        if (isStruck || !request.path.startsWith(path)) return undefined;
        isStruck = true;
        mortal.kill(signal);
        struck.resolve();
        return answer;
      },
    };
    await add(hostname);
    await struck.promise;
  };
  /** Sets the other nodes' clock to the struck node's time: its order is then due for them too, and its rows are leased for ten minutes more. */
  const takeUp = async (): Promise<void> => {
    cluster.time.now = Date.now();
    await untilIssued(hostname, cluster.idle);
    cluster.time.now = started - 60 * minuteMs;
  };
  const orders = (): number => ordersAt(cluster.proxy) - ordersBefore;
  /** Stops the node, so that no node of the next test waits for it. */
  const end = async (): Promise<void> => {
    mortal.kill("SIGTERM");
    await mortal.ended;
  };
  return { mortal, others, send, add, domain, untilIssued, strike, takeUp, orders, end };
}

test("when a node is killed, another continues its order once the lease has ended: no second order", async (t) => {
  const { mortal, strike, takeUp, orders } = await openMortal(t, "www.killed.test");
  await strike("/authZ/", "SIGKILL", "hang up");
  await mortal.ended;
  assert.equal(orders(), 1);
  await takeUp();
  assert.equal(orders(), 1);
  for (const node of cluster.nodes) assert.equal((await node.https("www.killed.test", "/")).body, page);
});

const again = JSON.stringify({ type: "urn:ietf:params:acme:error:badNonce", detail: "again" });
const pauses: [when: string, path: string, answer?: Partial<ProxiedAnswer>][] = [
  ["before its order was heard", "/order-plz", { status: 400, body: Buffer.from(again) }],
  ["as its challenge is looked at", "/authZ/"],
  ["as it finalizes", "/finalize-order/"],
];
for (const [index, [when, path, answer]] of pauses.entries()) {
  test(`a node that is paused ${when} leaves the order to the node that took it over, and works on others when it is back`, async (t) => {
    const [hostname, other] = [`www.paused-${index}.test`, `www.other-${index}.test`];
    const { mortal, add, domain, untilIssued, strike, takeUp, orders, end } = await openMortal(t, hostname);
    await strike(path, "SIGSTOP", answer);
    await takeUp();
    const taken = await domain(hostname);
    mortal.kill("SIGCONT");
    await add(other);
    await untilIssued(other);
    assert.deepEqual(await domain(hostname), taken);
    assert.equal(orders(), 2, "one of each name");
    for (const node of cluster.nodes) assert.equal((await node.https(hostname, "/")).body, page);
    await end();
  });
}

for (const signal of ["SIGKILL", "SIGSTOP"] as const) {
  const fate = signal === "SIGKILL" ? "killed" : "paused";
  test(`a deployment of a node that is ${fate} is unpacked by another once the lease has ended, and by that one only`, async (t) => {
    const { mortal, others, send, end } = await openMortal(t);
    const [, b] = cluster.nodes as [ClusterNode, ClusterNode];
    const upload = async (files: Record<string, string>) => {
      const body = await packSite({ ...files, "petstore.json": "{}" });
      return (await send<Deployment>("deployments", { body, headers: { "content-type": "application/gzip" } })).id;
    };
    const deployment = (id: number) => made<Deployment>(b, "GET", `/projects/${project}/deployments/${id}`);
    const untilReady = (id: number) =>
      until(async () => {
        cluster.time.now += 1_000; // the others retry the rows that a lock kept from them
        return (await deployment(id)).status === "ready";
      });
    const rowOf = async (id: number) =>
      (await rowsIn<Record<string, unknown> & { id: string; lease_life: string | null }>("deployments")).find(
        (row) => Number(row.id) === id,
      )!;
    const pages = Array.from({ length: 20 }, (_, index) => [`f${index}.html`, `<p>${index}</p>`.repeat(500)] as const);
    /** Uploads until the mortal node is the one that has the deployment, which stands still where its files are claimed. */
    const holdAtMortal = async () => {
      for (let tries = 0; tries < 20; tries++) {
        const release = await lockTable(cluster.databaseUrl, "files");
        const id = await upload({ ...Object.fromEntries(pages), "index.html": "large" });
        await until(async () => (await rowOf(id)).lease_life !== null);
        const holder = (await rowOf(id)).lease_life!;
        if (!others.has(nodeOf(holder))) return { id, holder, release };
        await release();
        await untilReady(id);
      }
      return assert.fail("the others took every deployment");
    };
    const { id, holder, release } = await holdAtMortal();
    mortal.kill(signal);
    await release();
    await untilReady(id);
    const done = await rowOf(id);
    assert.notEqual(done.lease_life, holder);
    assert.equal((await b.http("rex.sites.test", "/")).body, "large");
    if (signal === "SIGKILL") return;
    mortal.kill("SIGCONT");
    const next = await upload({ "index.html": "next" });
    await untilReady(next);
    assert.deepEqual(await rowOf(id), done);
    assert.equal((await b.http("rex.sites.test", "/")).body, "next");
    await end();
  });
}
