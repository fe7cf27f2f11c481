import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Domain } from "../src/publishing/domains/domains.ts";
import { startAcmeProxy, type AcmeProxy, type Interception, type ProxiedRequest } from "./support/acme-proxy.ts";
import { settingsFor } from "./support/authorities.ts";
import { ordersAt } from "./support/certifying.ts";
import { startDnsServer } from "./support/dns-server.ts";
import { someOf } from "./support/fault-runs.ts";
import { temporaryFolder } from "./support/folder.ts";
import { startPebble } from "./support/pebble.ts";
import { freePorts } from "./support/ports.ts";
import { addressOf, createAccount, spawnServer, type ServerProcess } from "./support/process.ts";
import { ask } from "./support/service.ts";
import { packSite } from "./support/sites.ts";
import { until } from "./support/until.ts";

/** When the process is killed: as the authority gets a request, or with its answer on the way. */
type Moment = [name: string, when: "before" | "after", matches: (request: ProxiedRequest) => boolean, ordersMax?: number];
const at = (path: string) => (request: ProxiedRequest) => request.path.startsWith(path);

const moments: Moment[] = [
  ["before the order is made", "before", at("/order-plz")],
  ["as the order has come back and its authorization is asked for", "before", at("/authZ/")],
  ["as the challenge is to be answered", "before", at("/chalZ/")],
  // No process answers while the authority checks the name, so the authority may give this order up.
  ["once the challenge was answered", "after", at("/chalZ/"), 2],
  ["as it is to be finalized", "before", at("/finalize-order/")],
  ["once it was finalized", "after", at("/finalize-order/")],
  ["as the certificate is to be fetched", "before", at("/certZ/")],
  ["with the certificate on its way back", "after", at("/certZ/")],
];

test("a process that is killed between any two steps of an order resumes it by its URL: one order, one certificate", async (t) => {
  const scene = await openScene(t);
  for (const [index, [name, when, matches, ordersMax = 1]] of someOf(moments, 2).entries()) {
    await t.test(`killed ${name}`, async () => {
      const hostname = `www.k${index}.test`;
      scene.dns.set(hostname, "CNAME", ["sites.test"]);
      const killed = Promise.withResolvers<void>();
      const before = ordersAt(scene.proxy);
      const fault = (request: ProxiedRequest): "hang up" | undefined => {
        if (!matches(request)) return undefined;
        scene.server().kill("SIGKILL");
        killed.resolve();
        return "hang up";
      };
      scene.proxy.intercept = faultAt(when, fault);
      assert.equal((await scene.ask("POST", "", { hostname })).status, 201);
      await killed.promise;
      await scene.server().ended;
      scene.proxy.intercept = {};
      const certificatesBefore = certificatesAt(scene.proxy);
      await scene.start();
      const issued = await scene.untilIssued(hostname);
      assert.equal(issued.certificate.problem, null);
      const orders = ordersAt(scene.proxy) - before;
      assert.ok(orders >= 1 && orders <= ordersMax, `${orders} orders`);
      assert.equal(certificatesAt(scene.proxy) - certificatesBefore, 1, "certificates taken");
    });
  }
});

function faultAt(when: "before" | "after", fault: (request: ProxiedRequest) => "hang up" | undefined): Interception {
  // The authority ignored a request whose nonce it refused; it is sent again.
  return when === "before" ? { before: fault } : { after: (request, answer) => (answer.status < 300 && fault(request)) || answer };
}

const certificatesAt = ({ requests }: AcmeProxy): number =>
  requests.filter(({ path, status }) => path.startsWith("/certZ/") && status === 200).length;

/** A real server process at an authority, with a deployed project; started again on the same data and ports. */
async function openScene(t: TestContext) {
  const dataDir = temporaryFolder(t);
  const [httpPort, httpsPort] = await freePorts(2);
  const dns = await startDnsServer();
  t.after(() => dns.close());
  dns.set("sites.test", "A", ["127.0.0.1"]);
  const pebble = await startPebble({ dns: dns.address, httpPort: httpPort!, tlsPort: httpsPort! });
  t.after(() => pebble.stop());
  const proxy = await startAcmeProxy(pebble);
  t.after(() => proxy.close());
  const key = await createAccount(dataDir);
  const env = {
    PLATFORM_DOMAIN: "sites.test",
    EDGE_HTTP_PORT: String(httpPort),
    EDGE_HTTPS_PORT: String(httpsPort),
    ...settingsFor({ dns, pebble }, proxy.directoryUrl),
  };
  let server: ServerProcess;
  let address = "";
  const start = async (): Promise<void> => {
    server = spawnServer(t, dataDir, env);
    address = await addressOf(server);
  };
  await start();

  const send = <T>(method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    ask<T>(`${address}/v1${path}`, method, { key, ...(body !== undefined && { body }), ...(headers && { headers }) });
  const project = await send<{ id: number }>("POST", "/projects", { name: "Rex", slug: "rex" });
  const site = await packSite({ "index.html": "<h1>Rex</h1>", "petstore.json": "{}" });
  const base = `/projects/${project.body.id}`;
  await send("POST", `${base}/deployments`, site, { "content-type": "application/gzip" });
  await until(async () => (await send<{ deploymentId: number | null }>("GET", base)).body.deploymentId !== null);

  return {
    dns,
    proxy,
    start,
    server: () => server,
    ask: (method: string, path: string, body?: unknown) => send<Domain>(method, `${base}/domains${path}`, body),
    async untilIssued(hostname: string): Promise<Domain> {
      let domain: Domain | undefined;
      await until(async () => {
        domain = (await send<Domain>("GET", `${base}/domains/${hostname}`)).body;
        return domain.certificate.status === "issued";
      });
      return domain!;
    },
  };
}
