import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { apiOperations, dashboardOperations } from "../../src/app/operations.ts";
import { openStorage } from "../../src/app/storage.ts";
import { dashboardPrefix, prefix } from "../../src/platform/http/api-surfaces.ts";
import type { DescribedOperation } from "../../src/platform/http/operation.ts";
import { freePorts } from "../../test/support/ports.ts";
import { packSite } from "../../test/support/sites.ts";
import { throwAwayCertificate } from "../../test/support/test-edge.ts";
import { makeFolder, openShop, type Shop } from "../shop.ts";
import type { Place } from "./connection.ts";
import { signInOwners } from "./owners.ts";
import type { Target } from "./requests.ts";

/** A service with some data of each kind, and the targets of requests to it. */
export type Scene = {
  shop: Shop;
  origin: string;
  api: Place;
  edge: Place & { servername: string };
  /** Targets without a key or session. */
  open: Target[];
  /** Targets with a key or session. */
  keyed: Target[];
  close(): Promise<void>;
};

const slug = "bench";
const people = 100;
const bodyBytesUsual = 65_536;
/** A file that an answer keeps in memory while its client does not read it. */
export const largeFile = "/large.txt";
/** Operations that end the caller's session, or are uploads and batches, which are measured separately. */
const apart = new Set(["signOut", "endOtherSessions", "createDeployment", "createPetsBatch"]);

export async function openScene(): Promise<Scene> {
  const servername = `${slug}.petstore.localhost`;
  const [edgePort = 0] = await freePorts(1);
  const folder = makeFolder();
  const { cert, key } = throwAwayCertificate("*.petstore.localhost");
  const files = { EDGE_CERT_FILE: join(folder.dataDir, "wildcard.pem"), EDGE_KEY_FILE: join(folder.dataDir, "wildcard.key") };
  writeFileSync(files.EDGE_CERT_FILE, cert);
  writeFileSync(files.EDGE_KEY_FILE, key, { mode: 0o600 });
  const cookies = await signInPeople(folder.dataDir, folder.accountId);
  const env = { ...files, EDGE_HTTPS_PORT: String(edgePort), TRUSTED_PROXIES: "127.0.0.0/8", DNS_SERVERS: "127.0.0.1:9" };
  const shop = await openShop(folder, env);
  await fillShop(shop);
  const { origin, port } = new URL(shop.url);
  const ofDashboard: DescribedOperation[] = [...apiOperations, ...dashboardOperations];
  const withKey: [string, string][] = [["Authorization", `Bearer ${shop.key}`]];
  const keyed = (list: DescribedOperation[], base: string, headers: () => [string, string][]) =>
    list
      .filter(({ operationId, scope }) => scope !== null && !apart.has(operationId))
      .map((operation) => targetOf(operation, base, headers()));
  let nth = 0;
  const asPerson = (): [string, string][] => [
    ["Cookie", cookies[nth++ % cookies.length]!],
    ["Origin", origin],
  ];
  return {
    shop,
    origin,
    api: { port: Number(port) },
    edge: { port: edgePort, servername },
    open: [
      ...apiOperations.map((operation) => targetOf(operation, prefix, [])),
      ...ofDashboard.map((operation) => targetOf(operation, dashboardPrefix, [["Origin", origin]])),
      ...pages.map((path) => pageTarget("api", path)),
      ...["/", "/page.html", "/index.html", "/missing"].map((path) => pageTarget("edge", path)),
    ],
    keyed: [
      ...keyed(apiOperations, prefix, () => withKey),
      ...Array.from({ length: 3 }, () => keyed(ofDashboard, dashboardPrefix, asPerson)).flat(),
    ],
    close: async () => {
      await shop.stop();
      folder.remove();
    },
  };
}

const pages = [
  "/",
  "/reference",
  "/reference/listPets",
  "/sign-in",
  "/dashboard/animals",
  "/openapi.json",
  "/openapi.yaml",
  "/healthz",
  "/v1/",
  "/nothing",
];

function pageTarget(listener: Target["listener"], path: string): Target {
  const nothing = { queryNames: [], sample: undefined, mediaType: "", bodyBytesMax: 0, headers: [] };
  return { name: `${listener} ${path}`, listener, method: "GET", path, ...nothing };
}

function targetOf(operation: DescribedOperation, base: string, headers: Target["headers"]): Target {
  const { method, path, query, body, example, mediaTypes = ["application/json"] } = operation;
  const properties = propertiesOf(body);
  const sample = example?.body ?? Object.fromEntries(properties.map((name) => [name, "a@shop.example"]));
  return {
    name: `${method} ${base}${path}`,
    listener: "api",
    method,
    path: base + path,
    queryNames: propertiesOf(query),
    sample: operation.body ? sample : undefined,
    mediaType: mediaTypes[0]!,
    bodyBytesMax: operation.bodyBytesMax ?? bodyBytesUsual,
    headers,
  };
}

function propertiesOf(schema: object | undefined): string[] {
  return Object.keys((schema && "properties" in schema && schema.properties) || {});
}

/** Signs in many members, because each may make 300 calls a minute. Returns their cookies. */
async function signInPeople(dataDir: string, accountId: number): Promise<string[]> {
  const storage = await openStorage({ dataDir, databaseUrl: "" }, "petstore bench", 2_000);
  const cookies = await signInOwners(storage.db, accountId, people);
  await storage.close();
  return cookies;
}

async function fillShop(shop: Shop): Promise<void> {
  const make = async (method: string, path: string, body: unknown): Promise<void> => {
    const { status } = await shop.ask(method, path, body);
    if (status >= 300) throw new Error(`${method} ${path} answered ${status}`);
  };
  await make("POST", "/categories", { name: "Dogs" });
  for (let i = 0; i < 5; i++)
    await make(
      "POST",
      "/pets/batch",
      Array.from({ length: 200 }, (_, n) => ({ name: `Rex ${n}`, categoryId: 1 })),
    );
  await make("PUT", "/store/inventory/1", { quantity: 1_000_000_000 });
  await make("POST", "/store/orders", { petId: 1 });
  await make("POST", "/projects", { name: "Bench", slug });
  const noise = Array.from({ length: 200_000 }, (_, i) => ((i * 2_654_435_761) >>> 0).toString(36)).join("");
  const sent = await fetch(`${shop.url}/projects/1/deployments`, {
    method: "POST",
    headers: { authorization: `Bearer ${shop.key}`, "content-type": "application/gzip" },
    body: await packSite({
      "index.html": "<h1>Bench</h1>",
      "page.html": `<p>${noise.slice(0, 50_000)}`,
      [largeFile.slice(1)]: noise,
      "petstore.json": "{}",
    }),
  });
  if (sent.status !== 202) throw new Error(`the site was refused: ${sent.status}`);
  for (let tries = 0; tries < 200; tries++) {
    const { status } = (await (await shop.ask("GET", "/projects/1/deployments/1")).json()) as { status: string };
    if (status === "ready") return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("the deployment is not ready");
}
