import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { connect } from "node:tls";
import sql, { join as list } from "sql-template-tag";
import { openStorage } from "../src/app/storage.ts";
import { encryptSecret, parseSecretsKeys } from "../src/platform/secrets.ts";
import type { KeyPair } from "../src/publishing/edge/site.ts";
import { freePorts } from "../test/support/ports.ts";
import { packSite } from "../test/support/sites.ts";
import { throwAwayCertificate } from "../test/support/test-edge.ts";
import { cpuMsOf, residentMiB } from "./cpu.ts";
import { atMost, measureAlternately, type Figure } from "./figures.ts";
import { makeFolder, openShop, type Shop, type ShopFolder } from "./shop.ts";

const handshakes = 4_000;
const clients = 8;
const rounds = 3;
const rowsAtOnce = 500;
const memoryMiB = 400;
const startMs = 2_000;

export type Served = { shop: Shop; folder: ShopFolder; names: string[]; httpPort: number; port: number };
/** What a service serves. Default: a short page, with one certificate for all names. */
type Content = { files: Record<string, string | Buffer>; pairs: ReadonlyMap<string, KeyPair> };

/** Measures what many custom domains cost in handshake CPU, memory and start time. Reads `/proc`, so it needs Linux. */
export async function* measureCustomDomains(): AsyncGenerator<Figure> {
  const one = await serve(1);
  const many = await serve(10_000);
  try {
    for (let pass = 0; pass < 3; pass++) await shake(many, zipf(many.names)); // warms the caches, as in operation
    const figures = await measureAlternately(
      rounds,
      () => cpuOf(many, zipf(many.names)),
      () =>
        cpuOf(
          one,
          Array.from({ length: handshakes }, () => one.names[0]!),
        ),
    );
    yield* [
      {
        id: "handshake-many-domains",
        what: "CPU of a TLS handshake, 10,000 domains by Zipf's law / one domain",
        ...figures,
        unit: "ms",
        goal: "≤ 1.25",
      },
      atMost("domains-memory", "memory after these, 10,000 domains", residentMiB(many.shop.pid), memoryMiB, "MiB"),
      await measureStart(100_000),
    ];
  } finally {
    for (const { shop, folder } of [one, many]) {
      await shop.stop();
      folder.remove();
    }
  }
}

async function measureStart(domains: number): Promise<Figure> {
  const { shop, folder } = await serve(domains);
  await shop.stop();
  const started = performance.now();
  const again = await openShop(folder);
  const ms = performance.now() - started;
  await again.stop();
  folder.remove();
  return atMost("domains-start", "start with 100,000 domains", ms, startMs, "ms");
}

/** Starts a service with `count` custom domains of one project, each with its own certificate row. */
export async function serve(count: number, content?: Content): Promise<Served> {
  const folder = makeFolder();
  const [httpPort = 0, port = 0] = await freePorts(2);
  const env = { EDGE_HTTP_PORT: String(httpPort), EDGE_HTTPS_PORT: String(port) };
  const first = await openShop(folder, env);
  const projectId = await publish(first, content?.files);
  await first.stop();
  const names = Array.from({ length: count }, (_, index) => `www.shop-${index}.example`);
  const shared = throwAwayCertificate(names[0]!);
  await attach(folder, projectId, names, (name) => content?.pairs.get(name) ?? shared);
  return { shop: await openShop(folder, env), folder, names, httpPort, port };
}

/** Publishes a site below the platform domain as `bench`, of one page by default, and returns the id of its project. */
export async function publish(
  shop: Shop,
  files: Content["files"] = { "index.html": "<h1>Bench</h1>", "petstore.json": "{}" },
): Promise<number> {
  const project = (await (await shop.ask("POST", "/projects", { name: "Bench", slug: "bench" })).json()) as { id: number };
  const sent = await fetch(`${shop.url}/projects/${project.id}/deployments`, {
    method: "POST",
    headers: { authorization: `Bearer ${shop.key}`, "content-type": "application/gzip" },
    body: await packSite(files),
  });
  const { id } = (await sent.json()) as { id: number };
  for (let tries = 0; tries < 200; tries++) {
    const { status } = (await (await shop.ask("GET", `/projects/${project.id}/deployments/${id}`)).json()) as { status: string };
    if (status === "ready") return project.id;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("the deployment is not ready");
}

/** Writes the rows of domains that are verified and certified, because no authority issues 100,000 certificates for a measurement. */
async function attach(
  { dataDir, accountId }: ShopFolder,
  projectId: number,
  names: string[],
  pairOf: (name: string) => KeyPair,
): Promise<void> {
  const keys = parseSecretsKeys(readFileSync(join(dataDir, "secrets.key"), "utf8").trim());
  const storage = await openStorage({ dataDir, databaseUrl: "" }, "petstore bench", 2_000);
  const [now, later] = [Date.now(), Date.now() + 86_400_000];
  for (let from = 0; from < names.length; from += rowsAtOnce) {
    const part = names.slice(from, from + rowsAtOnce).map((name, place) => ({ name, id: from + place + 1 }));
    await storage.db.write(async (tx) => {
      await tx.query(sql`
        INSERT INTO domains (account_id, id, project_id, hostname, registrable_domain, kind, status, is_primary, problems, caa,
          proof_needed, next_check_at, certificate_id, certificate_status, certificate_issued_at, certificate_expires_at, version,
          created_at, verified_at)
        VALUES ${list(
          part.map(
            ({ name, id }) => sql`(${accountId}, ${id}, ${projectId}, ${name}, ${name.slice(4)}, 'subdomain',
          'verified', FALSE, '[]', 'allowed', FALSE, ${later}, ${id}, 'issued', ${now}, ${later}, 1, ${now}, ${now})`,
          ),
        )}`);
      await tx.query(sql`
        INSERT INTO certificates (account_id, id, hostname, chain, key, not_before, not_after, renew_at)
        VALUES ${list(
          part.map(({ name, id }) => {
            const { cert, key } = pairOf(name);
            return sql`(${accountId}, ${id}, ${name}, ${cert}, ${encryptSecret(keys, key, name)}, ${now}, ${later}, ${later})`;
          }),
        )}`);
    });
  }
  await storage.close();
}

/** CPU ms of the service for a handshake with each of these names. */
async function cpuOf(served: Served, names: string[]): Promise<number> {
  const before = cpuMsOf(served.shop.pid);
  await shake(served, names);
  return (cpuMsOf(served.shop.pid) - before) / names.length;
}

async function shake({ port }: Served, names: string[]): Promise<void> {
  const queue = names.values();
  const client = async (): Promise<void> => {
    for (const servername of queue) {
      const socket = connect({ host: "127.0.0.1", port, servername, rejectUnauthorized: false });
      await once(socket, "secureConnect");
      socket.destroy();
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
}

/** Draws names by Zipf's law: the n-th name comes n times as rarely as the first. */
function zipf(names: string[]): string[] {
  const sums: number[] = [];
  for (let rank = 1; rank <= names.length; rank++) sums.push((sums.at(-1) ?? 0) + 1 / rank);
  return Array.from({ length: handshakes }, () => {
    const point = Math.random() * (sums.at(-1) ?? 0);
    return names[sums.findIndex((sum) => sum >= point)]!;
  });
}
