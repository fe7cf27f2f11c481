import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { connect } from "node:tls";
import sql, { join as list } from "sql-template-tag";
import { throwAwayCertificate } from "../test/support/test-edge.ts";
import { encryptSecret, parseSecretsKeys } from "../src/publishing/certificates/secrets.ts";
import { openStorage } from "../src/app/storage.ts";
import { freePorts } from "../test/support/pebble.ts";
import { packSite } from "../test/support/sites.ts";
import { residentMiB } from "./cpu.ts";
import { byTurns, type Figure } from "./figures.ts";
import { makeFolder, openShop, type Shop, type ShopFolder } from "./shop.ts";

const handshakes = 4_000;
const clients = 8;
const rounds = 3;
const rowsAtOnce = 500;
const memoryMiB = 400;
const startMs = 2_000;

type Served = { shop: Shop; folder: ShopFolder; names: string[]; port: number };

/** What many custom domains cost: a handshake's CPU, memory, and the start. Reads `/proc`, so it needs Linux. */
export async function measureCustomDomains(): Promise<Figure[]> {
  const one = await serve(1);
  const many = await serve(10_000);
  try {
    for (let pass = 0; pass < 3; pass++) await shake(many, zipf(many.names)); // the caches as they are in operation, not at a start
    const figures = await byTurns(
      rounds,
      () => cpuOf(many, zipf(many.names)),
      () =>
        cpuOf(
          one,
          Array.from({ length: handshakes }, () => one.names[0]!),
        ),
    );
    const mib = residentMiB(many.shop.pid);
    return [
      { what: "CPU of a handshake, 10,000 domains by Zipf's law / one domain", ...figures, unit: "ms", goal: "≤ 1.25" },
      {
        what: "memory after these, 10,000 domains / 400 MiB",
        ours: mib,
        against: memoryMiB,
        unit: "MiB",
        ratio: mib / memoryMiB,
        goal: "≤ 1",
      },
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
  const what = "start with 100,000 domains / 2 s";
  return { what, ours: ms, against: startMs, unit: "ms", ratio: ms / startMs, goal: "≤ 1" };
}

/** A service with so many custom domains of one project, each with a certificate of its own row. */
async function serve(count: number): Promise<Served> {
  const folder = makeFolder();
  const [port = 0] = await freePorts(1);
  const env = { EDGE_HTTPS_PORT: String(port) };
  const first = await openShop(folder, env);
  const projectId = await publish(first);
  await first.stop();
  const names = Array.from({ length: count }, (_, index) => `www.shop-${index}.example`);
  await attach(folder, projectId, names);
  return { shop: await openShop(folder, env), folder, names, port };
}

async function publish(shop: Shop): Promise<number> {
  const project = (await (await shop.ask("POST", "/projects", { name: "Bench", slug: "bench" })).json()) as { id: number };
  const sent = await fetch(`${shop.url}/projects/${project.id}/deployments`, {
    method: "POST",
    headers: { authorization: `Bearer ${shop.key}`, "content-type": "application/gzip" },
    body: await packSite({ "index.html": "<h1>Bench</h1>", "petstore.json": "{}" }),
  });
  const { id } = (await sent.json()) as { id: number };
  for (let tries = 0; tries < 200; tries++) {
    const { status } = (await (await shop.ask("GET", `/projects/${project.id}/deployments/${id}`)).json()) as { status: string };
    if (status === "ready") return project.id;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("the deployment is not ready");
}

/** Writes the rows that a domain has once it is verified and certified; no authority makes 100,000 certificates for a measurement. */
async function attach({ dataDir, accountId }: ShopFolder, projectId: number, names: string[]): Promise<void> {
  const keys = parseSecretsKeys(readFileSync(join(dataDir, "secrets.key"), "utf8").trim());
  const { cert, key } = throwAwayCertificate(names[0]!);
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
          part.map(
            ({ name, id }) => sql`(${accountId}, ${id}, ${name}, ${cert}, ${encryptSecret(keys, key, name)}, ${now}, ${later}, ${later})`,
          ),
        )}`);
    });
  }
  await storage.close();
}

/** CPU ms of the service for a handshake with each of these names. */
async function cpuOf(served: Served, names: string[]): Promise<number> {
  const before = cpuMs(served.shop.pid);
  await shake(served, names);
  return (cpuMs(served.shop.pid) - before) / names.length;
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

/** Names drawn by Zipf's law: the n-th of them n times as rarely as the first. */
function zipf(names: string[]): string[] {
  const sums: number[] = [];
  for (let rank = 1; rank <= names.length; rank++) sums.push((sums.at(-1) ?? 0) + 1 / rank);
  return Array.from({ length: handshakes }, () => {
    const point = Math.random() * (sums.at(-1) ?? 0);
    return names[sums.findIndex((sum) => sum >= point)]!;
  });
}

/** User and system time of a process (proc(5)), in steps of 10 ms. */
function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
