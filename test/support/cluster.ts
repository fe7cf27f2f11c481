import assert from "node:assert/strict";
import { once } from "node:events";
import { request as httpRequest, type Agent as HttpAgent } from "node:http";
import { request as httpsRequest, type Agent } from "node:https";
import type { TestContext } from "node:test";
import { connect, type TLSSocket } from "node:tls";
import type { Deployment } from "../../src/publishing/projects/deployments.ts";
import type { Project } from "../../src/publishing/projects/projects.ts";
import { startAcmeProxy, type AcmeProxy } from "./acme-proxy.ts";
import { openAuthority, settingsFor } from "./authorities.ts";
import type { DnsServer } from "./dns-server.ts";
import { read, type Site } from "./edge.ts";
import { newDatabase } from "./postgres.ts";
import { startRedis } from "./redis-process.ts";
import { startService, type TestService } from "./service.ts";
import { made } from "./shop.ts";
import { packSite } from "./sites.ts";

/** One of the nodes, and what visitors of its edge see. */
export type ClusterNode = TestService & {
  http(host: string, path: string, agent?: HttpAgent): Promise<Site>;
  https(host: string, path: string, agent?: Agent): Promise<Site>;
  /** A TLS connection that stays open, with or without a session to resume. */
  connect(servername: string, session?: Buffer): Promise<TLSSocket>;
};

/** Nodes of one PostgreSQL and one Redis, at a platform `sites.test` with a DNS server and the Pebble authority. */
export type Cluster = {
  nodes: ClusterNode[];
  dns: DnsServer;
  /** In front of the authority, which asks the first node for its challenges. */
  proxy: AcmeProxy;
  time: { now: number };
  databaseUrl: string;
  /** The settings of every node. */
  env: Record<string, string>;
  /** Starts another node, with these further settings. */
  join: (env?: Record<string, string>) => Promise<ClusterNode>;
  /** Uploads these files at a node, and resolves when they are served. */
  deploy: (node: TestService, projectId: number, files: Record<string, string>) => Promise<void>;
  /** Creates a project at a node, and returns its id. */
  project(node: TestService, slug: string, files: Record<string, string>): Promise<number>;
  /** Resolves when no node has anything to do. */
  idle: () => Promise<void>;
  close(): Promise<void>;
};

/** @param count nodes to begin with; the first has the ports that the authority asks */
export async function openCluster(count: number, now = Date.now()): Promise<Cluster> {
  await using opened = new AsyncDisposableStack();
  const database = await newDatabase(undefined, { migrated: true });
  opened.defer(database.drop);
  const redis = await startRedis();
  opened.defer(() => redis.remove());
  const authority = await openAuthority();
  opened.defer(() => authority.close());
  const { dns, pebble, root, httpPort, httpsPort } = authority;
  dns.set("sites.test", "A", ["127.0.0.1"]);
  const proxy = await startAcmeProxy(pebble);
  opened.defer(() => proxy.close());
  const time = { now };
  const env = {
    DATABASE_URL: database.url,
    REDIS_URL: redis.url,
    PLATFORM_DOMAIN: "sites.test",
    ...settingsFor(authority, proxy.directoryUrl),
  };
  const nodes: ClusterNode[] = [];
  const ends = opened.use(new AsyncDisposableStack());
  const join: Cluster["join"] = async (more = {}) => {
    const own: Record<string, string> = nodes.length === 0 ? { EDGE_HTTP_PORT: String(httpPort), EDGE_HTTPS_PORT: String(httpsPort) } : {};
    const service = await startService({ clock: () => time.now, env: { ...env, ...own, ...more } });
    ends.defer(() => service.close());
    // The nodes share the database, so an account of the first one works on all.
    const node = clusterNode(nodes[0] ? { ...service, ...askAs(service, nodes[0]) } : service, root);
    nodes.push(node);
    return node;
  };
  for (let i = 0; i < count; i++) await join();

  const idle = (): Promise<void> => allIdle(nodes);
  const deploy: Cluster["deploy"] = (node, projectId, files) => deployTo(node, projectId, files, idle);
  const all = opened.move();
  return {
    nodes,
    dns,
    proxy,
    time,
    databaseUrl: database.url,
    env,
    join,
    deploy,
    async project(node, slug, files) {
      const { id } = await made<Project>(node, "POST", "/projects", { name: slug, slug });
      await deploy(node, id, files);
      return id;
    },
    idle,
    close: () => all.disposeAsync(),
  };
}

/** The same for a test, closed when it ends. */
export async function clusterFor(t: TestContext, count = 3, now?: number): Promise<Cluster> {
  const cluster = await openCluster(count, now);
  t.after(() => cluster.close());
  return cluster;
}

/** Waits as often as there are nodes, because the work of one may make work for another. */
async function allIdle(nodes: ClusterNode[]): Promise<void> {
  for (const _ of nodes) await Promise.all(nodes.map(({ publishing }) => publishing.idle()));
}

async function deployTo(node: TestService, projectId: number, files: Record<string, string>, idle: () => Promise<void>): Promise<void> {
  const path = `/projects/${projectId}/deployments`;
  const body = await packSite({ ...files, "petstore.json": "{}" });
  const sent = await node.ask<Deployment>("POST", path, { body, headers: { "content-type": "application/gzip" } });
  assert.equal(sent.status, 202, JSON.stringify(sent.body));
  await idle();
  const { status, error } = await made<Deployment>(node, "GET", `${path}/${sent.body.id}`);
  assert.equal(status, "ready", error ?? "");
}

function askAs(service: TestService, { key, accountId }: TestService): Pick<TestService, "key" | "accountId" | "ask"> {
  return { key, accountId, ask: (method, path, asked) => service.ask(method, path, { key, ...asked }) };
}

function clusterNode(service: TestService, root: string): ClusterNode {
  const { http, https } = service.publishing.addresses()!;
  const at = { host: "127.0.0.1", port: https!.port, ca: root };
  return {
    ...service,
    http: (host, path, agent) => read(httpRequest({ host: "127.0.0.1", port: http.port, path, headers: { host }, agent: agent ?? false })),
    https: (host, path, agent) => read(httpsRequest({ ...at, path, headers: { host }, servername: host, agent: agent ?? false })),
    async connect(servername, session) {
      const socket = connect({ ...at, servername, ...(session && { session }), maxVersion: "TLSv1.2" });
      socket.on("error", () => undefined);
      await once(socket, "secureConnect");
      return socket;
    },
  };
}
