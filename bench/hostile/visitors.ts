import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { freePorts } from "../../test/support/ports.ts";
import { packSite } from "../../test/support/sites.ts";
import { atMost, ofPairs, type Figure } from "../figures.ts";
import { spawnLoad } from "../processes.ts";
import { createAccount, fillWithAnimals, makeFolder, openShop, type Shop } from "../shop.ts";
import { openProbe } from "./probing.ts";

/** What one process of visitors does: `connections` send one request after another, with a pause of `everyMs`, from each of the addresses in turn. */
export type VisitorLoad = {
  port: number;
  /** Visited in turn. */
  hosts: string[];
  /** A `*` in it becomes another text each time. */
  path: string;
  connections: number;
  addresses: string[];
  everyMs: number;
  seconds: number;
  headers: Record<string, string>;
  /** The process of the service, if waits for a busy processor do not count. */
  pid?: number;
};

/** How many answers had which status (0: none), and how long they took (ms). */
export type Visits = { statuses: Record<string, number>; p50: number; p99: number; longest: number };

/** A service with the storefronts of two accounts. */
type Streets = {
  shop: Shop;
  port: number;
  /** The hosts of the storefronts that are attacked, all with one catalogue. */
  attacked: string[];
  /** The host of the other account's storefront. */
  other: string;
  close(): Promise<void>;
};

const domain = "petstore.localhost";
const readyTries = 400;

const rounds = 3;
const secondsEach = 8;

/** Measures what visitors of one account's storefronts do to those of another account. @throws if a visitor of the other is refused */
export async function* measureVisits(): AsyncGenerator<Figure> {
  const streets = await openStreets({ animals: 30_000, addresses: 24 });
  try {
    const one = { ...streets, attacked: streets.attacked.slice(0, 1) };
    const pairs: [number, number][] = [];
    for (let round = 0; round < rounds; round++) {
      const attack = { connections: 1_000, addresses: ["127.0.0.2"], path: "/?q=*" };
      const { idle, during, attacker, lines } = await measureVisitors(one, attack, "/?q=cat*", secondsEach);
      if (Object.keys(during.statuses).join() !== "200")
        throw new Error(`the other storefront answered ${JSON.stringify(during.statuses)}`);
      console.error(`visitors: the attacker got ${JSON.stringify(attacker.statuses)}, and the service logged ${lines} lines`);
      pairs.push([during.p99, idle.p99]);
    }
    const what = "p99 of a search at a storefront while a visitor of another has 1,000 connections / the same without";
    yield { id: "hostile-visitors", what, ...ofPairs(pairs), unit: "ms", goal: "≤ 5" };
    const { healthzMs } = await measureSitemaps(streets, { perSecond: 16, seconds: secondsEach });
    yield atMost(
      "hostile-sitemaps",
      "longest wait of `/healthz` while 16 sitemaps of 30,000 animals a second are read at 24 addresses",
      healthzMs,
      50,
      "ms",
    );
  } finally {
    await streets.close();
  }
}

/** Opens the service. `animals`: in the attacked catalogue; `addresses`: of its storefront. */
async function openStreets({ animals, addresses }: { animals: number; addresses: number }): Promise<Streets> {
  const folder = makeFolder();
  fillWithAnimals(folder, animals);
  const other = createAccount(folder.dataDir, {});
  const [port = 0] = await freePorts(1);
  const shop = await openShop(folder, { EDGE_HTTP_PORT: String(port) });
  const attacked = ["attacked", ...Array.from({ length: addresses - 1 }, (_, index) => `attacked-${index + 2}`)];
  for (const slug of attacked) await publishStorefront(shop, slug, shop.key);
  const { id } = (await (await shop.ask("POST", "/categories", { name: "Cats" }, other.key)).json()) as { id: number };
  for (let i = 0; i < 30; i++) await shop.ask("POST", "/pets", { name: `Cat ${i}`, categoryId: id }, other.key);
  await publishStorefront(shop, "other", other.key);
  return {
    shop,
    port,
    attacked: attacked.map((slug) => `${slug}.${domain}`),
    other: `other.${domain}`,
    close: async () => {
      await shop.stop();
      folder.remove();
    },
  };
}

async function publishStorefront(shop: Shop, slug: string, key: string): Promise<void> {
  const { id } = (await (await shop.ask("POST", "/projects", { name: slug, slug }, key)).json()) as { id: number };
  const sent = await fetch(`${shop.url}/projects/${id}/deployments`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/gzip" },
    body: await packSite({ "petstore.json": JSON.stringify({ name: slug, storefront: {} }) }),
  });
  const deployment = (await sent.json()) as { id: number };
  for (let tries = 0; tries < readyTries; tries++) {
    const { status } = (await (await shop.ask("GET", `/projects/${id}/deployments/${deployment.id}`, undefined, key)).json()) as {
      status: string;
    };
    if (status === "ready") return;
    await sleep(25);
  }
  throw new Error(`the storefront ${slug} is not ready`);
}

/** What a visitor of the other site sees without the attack and with it, what the attacker gets, and how many lines the service logged. */
type UnderAttack = { idle: Visits; during: Visits; attacker: Visits; healthzMs: number; lines: number };

type Attack = { connections: number; addresses: string[]; path: string; headers?: Record<string, string> };

/** Reads the other site (`reads`: its path), first alone and then while the attack runs. */
async function measureVisitors(streets: Streets, attack: Attack, reads: string, seconds: number): Promise<UnderAttack> {
  const { shop, port, attacked, other } = streets;
  const reader: VisitorLoad = {
    port,
    hosts: [other],
    path: reads,
    connections: 2,
    addresses: ["127.0.0.1"],
    everyMs: 10,
    seconds,
    headers: { "accept-encoding": "br" },
    pid: shop.pid,
  };
  await (
    await visit({ ...reader, seconds: 1 })
  ).ended;
  const idle = await (await visit(reader)).ended;
  const linesBefore = linesOf(shop);
  const attacking = await visit({ headers: {}, ...attack, port, hosts: attacked, everyMs: 0, seconds: 2 * seconds });
  const probe = await openProbe(new URL(shop.url).origin, shop.pid);
  const during = await (await visit(reader)).ended;
  const healthzMs = await probe.end();
  return { idle, during, attacker: await attacking.ended, healthzMs, lines: linesOf(shop) - linesBefore };
}

/** Reads the sitemap of every address of the attacked catalogue `perSecond` times a second, and returns the longest wait for `/healthz` (ms). */
async function measureSitemaps(
  { shop, port, attacked }: Streets,
  { perSecond, seconds, headers = {} }: { perSecond: number; seconds: number; headers?: Record<string, string> },
): Promise<{ visits: Visits; healthzMs: number }> {
  const probe = await openProbe(new URL(shop.url).origin, shop.pid);
  const load = { path: "/sitemap.xml", connections: perSecond, addresses: ["127.0.0.2"], everyMs: 1_000, seconds, headers };
  const { ended } = await visit({ ...load, port, hosts: attacked });
  return { visits: await ended, healthzMs: await probe.end() };
}

/** Starts visitors. Resolves when each connection has had an answer. */
async function visit(load: VisitorLoad): Promise<{ ended: Promise<Visits> }> {
  const child = spawnLoad([process.execPath, join(import.meta.dirname, "visitor.ts")], {
    env: { ...process.env, LOAD: JSON.stringify(load) },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines = createInterface(child.stdout!)[Symbol.asyncIterator]();
  await lines.next();
  return { ended: lines.next().then(({ value }) => JSON.parse(String(value)) as Visits) };
}

/** The warnings and errors that the service has logged. */
function linesOf({ dataDir }: Shop): number {
  return readFileSync(join(dataDir, "log"), "utf8")
    .split("\n")
    .filter((line) => /"level":[4-6]0/.test(line)).length;
}
