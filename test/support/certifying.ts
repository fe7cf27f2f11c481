import assert from "node:assert/strict";
import { once } from "node:events";
import type { TestContext } from "node:test";
import { connect, type ConnectionOptions, type TLSSocket } from "node:tls";
import { startAcmeProxy, type AcmeProxy, type Interception } from "./acme-proxy.ts";
import type { Pebble, PebbleSettings } from "./pebble.ts";
import { openPlatform, type Platform } from "./platform.ts";

/** How many orders the authority has made; a nonce that it refused is none. */
export const ordersAt = ({ requests }: AcmeProxy): number =>
  requests.filter(({ path, status }) => path === "/order-plz" && status === 201).length;

export type SceneOptions = {
  env?: Record<string, string>;
  pebble?: Partial<PebbleSettings>;
  /** Faults that are in force from the first request on. */
  intercept?: Interception;
  /** Called with the authority, before the service starts. */
  besides?: (pebble: Pebble) => Promise<void>;
  /** So that a restart finds the data. */
  dataDir?: string;
};

/** A platform with a proxy in front of its authority, and a deployed project. */
export async function openScene(t: TestContext, { env, pebble, intercept = {}, besides, dataDir }: SceneOptions = {}) {
  const proxies: AcmeProxy[] = [];
  const platform = await openPlatform({
    ...(env && { env }),
    ...(pebble && { pebble }),
    ...(dataDir !== undefined && { dataDir }),
    directoryUrl: async (authority) => {
      await besides?.(authority);
      const proxy = await startAcmeProxy(authority);
      t.after(() => proxy.close());
      proxy.intercept = intercept;
      proxies.push(proxy);
      return proxy.directoryUrl;
    },
  });
  const proxy = proxies[0]!;
  t.after(() => platform.close());
  const project = await platform.project("rex", { "index.html": "<h1>Rex</h1>" });
  const idle = () => platform.service.publishing.idle();
  const certificate = async (hostname = "www.shop.test") => (await platform.domain(project, hostname)).certificate;
  const add = async (hostname = "www.shop.test") => {
    platform.dns.set(hostname, "CNAME", ["sites.test"]);
    await platform.addDomain(project, hostname);
    await idle();
  };
  const reverify = async (hostname = "www.shop.test") => {
    const { service } = platform;
    const { status } = await service.ask("POST", `/projects/${project}/domains/${hostname}/verify`, { key: service.key });
    assert.equal(status, 200);
  };
  const orders = () => ordersAt(proxy);
  return { platform, proxy, project, idle, certificate, add, reverify, orders };
}

/** A TLS connection that is kept open, with the session that it could be resumed by. */
export async function openTls(platform: Platform, servername: string, options: ConnectionOptions = {}): Promise<TLSSocket> {
  const port = platform.service.publishing.addresses()!.https!.port;
  const socket = connect({ host: "127.0.0.1", port, servername, ca: platform.root, maxVersion: "TLSv1.2", ...options });
  socket.on("error", () => undefined);
  await once(socket, "secureConnect");
  return socket;
}
