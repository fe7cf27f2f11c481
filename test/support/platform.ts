import assert from "node:assert/strict";
import type { Clock } from "../../src/platform/clock.ts";
import type { Domain } from "../../src/publishing/domains/domains.ts";
import type { Deployment } from "../../src/publishing/projects/deployments.ts";
import type { Project } from "../../src/publishing/projects/projects.ts";
import { openAuthority, settingsFor } from "./authorities.ts";
import type { DnsServer } from "./dns-server.ts";
import { visitorOf, type Visitor } from "./edge.ts";
import type { Pebble, PebbleSettings } from "./pebble.ts";
import { startService, type Reply, type TestService } from "./service.ts";
import { made } from "./shop.ts";
import { packSite } from "./sites.ts";

/** A service with all that publishing needs: a DNS server, the Pebble authority, a clock that a test moves. */
export type Platform = Visitor & {
  service: TestService;
  dns: DnsServer;
  root: string;
  time: { now: number };
  /** A project with a ready deployment of these files, by its id. */
  project(slug: string, files: Record<string, string>, options?: { key?: string; petstore?: object }): Promise<number>;
  /** Uploads these files and gives the deployment when it is ready or failed. */
  deploy(projectId: number, files: Record<string, string>, options?: { key?: string; petstore?: object }): Promise<Deployment>;
  /** Uploads a packed archive, whatever it is, and gives the deployment when it is ready or failed. */
  upload(projectId: number, packed: Uint8Array, key?: string): Promise<Deployment>;
  addDomain(projectId: number, hostname: string, key?: string): Promise<Reply<Domain>>;
  domain(projectId: number, hostname: string, key?: string): Promise<Domain>;
  /** Stops the service and starts it again on the same data. */
  /** @param more settings that differ from those before */
  restart(more?: Record<string, string>): Promise<void>;
  close(): Promise<void>;
};

type PlatformOptions = {
  env?: Record<string, string>;
  dataDir?: string;
  clock?: Clock;
  directoryUrl?: (pebble: Pebble) => Promise<string>;
  pebble?: Partial<PebbleSettings>;
};

/** Starts a platform at `sites.test`, whose addresses are 127.0.0.1. */
export async function openPlatform(options: PlatformOptions = {}): Promise<Platform> {
  await using opened = new AsyncDisposableStack();
  const authority = await openAuthority(options.pebble);
  opened.defer(() => authority.close());
  const { dns, pebble, root, httpPort, httpsPort } = authority;
  dns.set("sites.test", "A", ["127.0.0.1"]);
  const time = { now: Date.now() };
  const directoryUrl = (await options.directoryUrl?.(pebble)) ?? pebble.directoryUrl;
  const env = {
    PLATFORM_DOMAIN: "sites.test",
    EDGE_HTTP_PORT: String(httpPort),
    EDGE_HTTPS_PORT: String(httpsPort),
    ...settingsFor(authority, directoryUrl),
    ...options.env,
  };
  const { clock = () => time.now, dataDir } = options;
  const start = { clock, env, ...(dataDir !== undefined && { dataDir }) };
  let service = await startService(start);
  opened.defer(() => service.close());
  const { key: ownKey, accountId } = service;

  const deploy: Platform["deploy"] = async (projectId, files, { key = ownKey, petstore = {} } = {}) =>
    upload(projectId, await packSite({ ...files, "petstore.json": JSON.stringify(petstore) }), key);

  async function upload(projectId: number, body: Uint8Array, key = ownKey): Promise<Deployment> {
    const headers = { "content-type": "application/gzip" };
    const sent = await service.ask<Deployment>("POST", `/projects/${projectId}/deployments`, { key, body, headers });
    assert.equal(sent.status, 202, JSON.stringify(sent.body));
    await service.publishing.idle();
    return made<Deployment>({ ...service, key: ownKey }, "GET", `/projects/${projectId}/deployments/${sent.body.id}`, undefined, key);
  }

  const all = opened.move();
  return {
    get service() {
      return { ...service, key: ownKey, accountId };
    },
    async restart(more = {}) {
      await service.close();
      service = await startService({ ...start, env: { ...env, ...more } });
    },
    dns,
    root,
    time,
    deploy,
    upload,
    async project(slug, files, { key = ownKey, petstore } = {}) {
      const { id } = await made<Project>(service, "POST", "/projects", { name: slug, slug }, key);
      const deployment = await deploy(id, files, { key, ...(petstore && { petstore }) });
      assert.equal(deployment.status, "ready", deployment.error ?? "");
      return id;
    },
    addDomain: (projectId, hostname, key = ownKey) =>
      service.ask<Domain>("POST", `/projects/${projectId}/domains`, { key, body: { hostname } }),
    domain: (projectId, hostname, key = ownKey) =>
      made<Domain>({ ...service, key: ownKey }, "GET", `/projects/${projectId}/domains/${hostname}`, undefined, key),
    ...visitorOf({ httpPort, httpsPort, root }),
    close: () => all.disposeAsync(),
  };
}
