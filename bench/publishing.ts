import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../src/platform/clock.ts";
import { openCluster, type Cluster, type ClusterNode } from "../test/support/cluster.ts";
import { globalSetup, globalTeardown } from "../test/support/global-setup.ts";
import { openPlatform, type Platform } from "../test/support/platform.ts";
import { atMost, measureAlternately, type Figure } from "./figures.ts";
import { requestsPerSecond, startBare } from "./load.ts";

const rounds = 5;
const connections = 32;
const singles = 15;
const many = 200;
const removals = 10;
const waitMsMax = 60_000;
/** A page of 10 KiB of random bytes in base64. */
const page = randomBytes(7_680).toString("base64");

/** Measures how long the owner of a domain waits, with the Pebble authority on this machine, and what a page of a site costs. */
export async function* measurePublishing(): AsyncGenerator<Figure> {
  const platform = await openPlatform({ clock: systemClock });
  try {
    const project = await platform.project("bench", { "index.html": page });
    yield await compareFile(platform);
    yield await measureOne(platform, project);
    yield await measureMany(platform, project);
    yield await onPostgres(measureRemoval);
  } finally {
    await platform.close();
  }
}

/** Runs `measure` with the shared PostgreSQL of a test run. */
async function onPostgres<T>(measure: () => Promise<T>): Promise<T> {
  await globalSetup();
  try {
    return await measure();
  } finally {
    await globalTeardown();
  }
}

async function compareFile(platform: Platform): Promise<Figure> {
  const host = "bench.sites.test";
  const { status, headers } = await platform.http(host, "/");
  const { "content-type": type = "", etag = "" } = headers;
  const bare = await startBare({ status, headers: { "content-type": type, etag, "content-length": String(page.length) }, body: page });
  const url = `http://127.0.0.1:${platform.service.publishing.addresses()?.http.port}/`;
  try {
    const figures = await measureAlternately(
      rounds,
      () => requestsPerSecond({ url, host, connections }),
      () => requestsPerSecond({ url: bare.url, connections }),
    );
    return {
      id: "published-file",
      what: `a published file of 10 KiB / bare node:http, ${connections} connections`,
      ...figures,
      unit: "requests/s",
      goal: "≥ 0.6",
    };
  } finally {
    await bare.stop();
  }
}

/** The time from a correct record, which the owner asks to verify, to the first trusted answer. */
async function measureOne(platform: Platform, project: number): Promise<Figure> {
  const times: number[] = [];
  for (let index = 0; index < singles; index++) {
    const name = `www.single-${index}.test`;
    await platform.addDomain(project, name);
    await platform.service.publishing.idle();
    const started = performance.now();
    platform.dns.set(name, "CNAME", ["sites.test"]);
    await platform.service.ask("POST", `/projects/${project}/domains/${name}/verify`);
    await served(platform, name);
    times.push(performance.now() - started);
  }
  return atMost("domain-served", "from the right DNS record to trusted HTTPS, median", times, 1_000, "ms");
}

async function measureMany(platform: Platform, project: number): Promise<Figure> {
  const names = Array.from({ length: many }, (_, index) => `www.many-${index}.test`);
  for (const name of names) platform.dns.set(name, "CNAME", ["sites.test"]);
  const started = performance.now();
  await Promise.all(names.map((name) => platform.addDomain(project, name)));
  await Promise.all(names.map((name) => served(platform, name)));
  const ms = performance.now() - started;
  const failed = (await Promise.all(names.map((name) => platform.domain(project, name)))).filter(
    ({ certificate }) => certificate.problem !== null,
  );
  if (failed.length > 0) throw new Error(`${failed.length} orders failed: ${failed[0]?.certificate.problem}`);
  return atMost("domains-served", `${many} domains added at once, all served`, ms, 10_000, "ms");
}

/** On three nodes with one PostgreSQL: the slowest answer to a removal. After the answer, no node may serve the name again. */
async function measureRemoval(): Promise<Figure> {
  const cluster = await openCluster(3);
  try {
    const [first] = cluster.nodes as [ClusterNode];
    const path = `/projects/${await cluster.project(first, "bench", { "index.html": page })}/domains`;
    const times: number[] = [];
    for (let index = 0; index < removals; index++) {
      const hostname = `www.removed-${index}.test`;
      cluster.dns.set(hostname, "CNAME", ["sites.test"]);
      await first.ask("POST", path, { body: { hostname } });
      await cluster.idle();
      if ((await servedBy(cluster, hostname)) !== 3) throw new Error(`${hostname} is not served by every node`);
      const started = performance.now();
      const { status } = await first.ask("DELETE", `${path}/${hostname}`);
      times.push(performance.now() - started);
      if (status !== 200 || (await servedBy(cluster, hostname)) !== 0) throw new Error(`${hostname} is served after its removal`);
    }
    return atMost("domain-removed", "removal with three nodes, served by none, slowest", Math.max(...times), 1_000, "ms");
  } finally {
    await cluster.close();
  }
}

async function servedBy({ nodes }: Cluster, hostname: string): Promise<number> {
  const answers = await Promise.all(nodes.map((node) => node.https(hostname, "/").catch(() => undefined)));
  return answers.filter((answer) => answer?.status === 200).length;
}

/** Waits for the first answer over HTTPS with a certificate that the authority's root verifies. */
async function served(platform: Platform, name: string): Promise<void> {
  const until = performance.now() + waitMsMax;
  while (performance.now() < until) {
    const status = await platform.https(name, "/").then(
      (answer) => answer.status,
      () => 0,
    );
    if (status === 200) return;
    await sleep(10);
  }
  throw new Error(`${name} is not served after ${waitMsMax} ms`);
}
