import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
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

const rowsIn = async <Row>({ databaseUrl }: Cluster, table: string) => JSON.parse(await rowsOf(databaseUrl, table)) as Row[];
/** The node of a lease, which has a number for each time that the node took one. */
const nodeOf = (leaseId: string): string => leaseId.split("/")[0]!;

/** A node in a separate process, which can receive signals. The clocks of the others are an hour behind, so work is due for this node only. */
async function openMortal(t: TestContext) {
  const started = Date.now();
  const cluster = await openCluster(2, started - 60 * minuteMs);
  t.after(() => cluster.close());
  const { key } = cluster.nodes[0]!;
  const id = await cluster.project(cluster.nodes[0]!, "rex", { "index.html": page });
  const others = new Set((await rowsIn<{ id: string }>(cluster, "nodes")).map((node) => nodeOf(node.id)));
  const mortal = spawnServer(t, temporaryFolder(t), { ...cluster.env, SECRETS_KEY: secretsKey });
  const address = await addressOf(mortal);
  /** The database has closed connections of one that was paused: then it is `unavailable` once or twice. */
  const send = async <T>(to: string, asked: Asked): Promise<T> => {
    for (let tries = 0; ; tries++) {
      const { status, body } = await ask<T>(`${address}/v1/projects/${id}/${to}`, "POST", { key, ...asked });
      if (status === 201 || status === 202) return body;
      assert.ok(status === 503 && tries < 10, `${status} ${JSON.stringify(body)}`);
    }
  };
  const add = async (hostname: string): Promise<void> => {
    cluster.dns.set(hostname, "CNAME", ["sites.test"]);
    await send("domains", { body: { hostname } });
  };
  const domain = (hostname: string) => made<Domain>(cluster.nodes[1]!, "GET", `/projects/${id}/domains/${hostname}`);
  const untilIssued = (hostname: string, meanwhile?: () => Promise<void>) =>
    until(async () => {
      await meanwhile?.();
      return (await domain(hostname)).certificate.status === "issued";
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
    await add("www.shop.test");
    await struck.promise;
  };
  /** The others have the time of the struck one now: what it was at is due for them too, and still held for ten minutes. */
  const takeUp = async (): Promise<void> => {
    cluster.time.now = Date.now();
    await untilIssued("www.shop.test", cluster.idle);
    cluster.time.now = started - 60 * minuteMs;
  };
  return { cluster, project: id, mortal, others, send, add, domain, untilIssued, strike, takeUp };
}

test("when a node is killed, another continues its order once the lease has ended: no second order", async (t) => {
  const { cluster, mortal, strike, takeUp } = await openMortal(t);
  await strike("/authZ/", "SIGKILL", "hang up");
  await mortal.ended;
  assert.equal(ordersAt(cluster.proxy), 1);
  await takeUp();
  assert.equal(ordersAt(cluster.proxy), 1);
  for (const node of cluster.nodes) assert.equal((await node.https("www.shop.test", "/")).body, page);
});

const again = JSON.stringify({ type: "urn:ietf:params:acme:error:badNonce", detail: "again" });
const pauses: [when: string, path: string, answer?: Partial<ProxiedAnswer>][] = [
  ["before its order was heard", "/order-plz", { status: 400, body: Buffer.from(again) }],
  ["as its challenge is looked at", "/authZ/"],
  ["as it finalizes", "/finalize-order/"],
];
for (const [when, path, answer] of pauses) {
  test(`a node that is paused ${when} leaves the order to the node that took it over, and works on others when it is back`, async (t) => {
    const { cluster, mortal, add, domain, untilIssued, strike, takeUp } = await openMortal(t);
    await strike(path, "SIGSTOP", answer);
    await takeUp();
    const before = await domain("www.shop.test");
    mortal.kill("SIGCONT");
    await add("www.other.test");
    await untilIssued("www.other.test");
    assert.deepEqual(await domain("www.shop.test"), before);
    assert.equal(ordersAt(cluster.proxy), 2, "one of each name");
    for (const node of cluster.nodes) assert.equal((await node.https("www.shop.test", "/")).body, page);
  });
}

for (const signal of ["SIGKILL", "SIGSTOP"] as const) {
  const fate = signal === "SIGKILL" ? "killed" : "paused";
  test(`a deployment of a node that is ${fate} is unpacked by another once the lease has ended, and by that one only`, async (t) => {
    const { cluster, project, mortal, others, send } = await openMortal(t);
    const [, b] = cluster.nodes as [ClusterNode, ClusterNode];
    const upload = async (files: Record<string, string>) => {
      const body = await packSite({ ...files, "petstore.json": "{}" });
      return (await send<Deployment>("deployments", { body, headers: { "content-type": "application/gzip" } })).id;
    };
    const deployment = (id: number) => made<Deployment>(b, "GET", `/projects/${project}/deployments/${id}`);
    const untilReady = (id: number) =>
      until(async () => {
        cluster.time.now += 1_000; // the others try again what a lock kept them from
        return (await deployment(id)).status === "ready";
      });
    const rowOf = async (id: number) =>
      (await rowsIn<Record<string, unknown> & { id: string; lease_life: string | null }>(cluster, "deployments")).find(
        (row) => Number(row.id) === id,
      )!;
    const pages = Array.from({ length: 300 }, (_, index) => [`f${index}.html`, `<p>${index}</p>`.repeat(5_000)] as const);
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
  });
}
