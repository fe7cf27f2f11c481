import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePorts } from "../test/support/ports.ts";
import { measureAlternately, type Figure } from "./figures.ts";
import { cpuUsOfRequest } from "./load.ts";
import { npmProgram } from "./npm-program.ts";
import { buildPocketBase, idOf, openPocketBase } from "./pocketbase.ts";
import { spawnServer, stop } from "./processes.ts";
import { fillWithAnimals, makeFolder, openShop, untilAnswers, type Shop } from "./shop.ts";

const rounds = 5;
const connections = 16;
const animals = 1_000;
const unit = "µs of CPU";

/** Another server. `key` is what it checks, if it checks any. */
type Peer = { name: string; url: string; pid: number; key?: string; stop(): Promise<void> };

/** What a client asks of the service, and the same of a peer. */
type Work = { id: string; what: string; goal: string; path: string; body?: object; theirs: { path: string; body?: object } };

/**
 * Compares the CPU of reads, pages, orders and new animals with that of json-server, which checks no key, counts no requests and keeps all data in
 * memory, and with that of PocketBase, which checks a key and keeps its data in SQLite. Neither keeps stock, limits or events.
 */
export async function* measurePeers(): AsyncGenerator<Figure> {
  const jsonServer = npmProgram("json-server", "0.17.4", "lib/cli/bin.js");
  const folder = makeFolder();
  fillWithAnimals(folder, animals);
  const shop = await openShop(folder);
  try {
    yield* measurePeer(shop, await openJsonServer(jsonServer, folder.dataDir), jsonServerWork);
    if (buildPocketBase()) {
      const peer = await openPocketBase(folder.dataDir, animals);
      for await (const figure of measurePeer(shop, { ...peer, name: "PocketBase" }, pocketBaseWork)) yield { ...figure, needs: "Go" };
    }
  } finally {
    await shop.stop();
    folder.remove();
  }
}

const order = { petId: 1, quantity: 1 };
const pet = { name: "Rex", categoryId: 1, status: "available" };
const read = { what: "`GET /pets/{id}`", path: "/pets/500" };
const page = { what: "`GET /pets?limit=20`", path: "/pets?limit=20" };
const placed = { what: "`POST /store/orders`", path: "/store/orders", body: order };
const createdPet = { what: "`POST /pets`", path: "/pets", body: pet };

const jsonServerWork: Work[] = [
  { ...read, id: "json-server-read-cpu", goal: "≤ 0.33", theirs: { path: "/pets/500" } },
  { ...page, id: "json-server-page-cpu", goal: "≤ 0.6", theirs: { path: "/pets?_limit=20" } },
  { ...placed, id: "json-server-order-cpu", goal: "≤ 0.2", theirs: { path: "/orders", body: order } },
  { ...createdPet, id: "json-server-create-cpu", goal: "≤ 0.1", theirs: { path: "/pets", body: pet } },
];

const pocketBaseWork: Work[] = [
  { ...read, id: "pocketbase-read-cpu", goal: "≤ 1", theirs: { path: `/pets/records/${idOf(500)}` } },
  { ...page, id: "pocketbase-page-cpu", goal: "≤ 1", theirs: { path: "/pets/records?perPage=20&skipTotal=1" } },
  { ...placed, id: "pocketbase-order-cpu", goal: "≤ 1", theirs: { path: "/orders/records", body: { ...order, petId: idOf(1) } } },
];

async function* measurePeer(shop: Shop, peer: Peer, works: Work[]): AsyncGenerator<Figure> {
  try {
    for (const { id, what, goal, path, body, theirs } of works) {
      const bodyOf = (sent: object | undefined) => (sent === undefined ? {} : { body: JSON.stringify(sent) });
      const ours = { url: shop.url + path, key: shop.key, connections, ...bodyOf(body) };
      const against = {
        url: peer.url + theirs.path,
        connections,
        ...(peer.key !== undefined && { key: peer.key }),
        ...bodyOf(theirs.body),
      };
      const measured = await measureAlternately(
        rounds,
        () => cpuUsOfRequest(shop.pid, ours),
        () => cpuUsOfRequest(peer.pid, against),
      );
      yield { id, what: `CPU of ${what} / ${peer.name}`, ...measured, unit, goal };
    }
  } finally {
    await peer.stop();
  }
}

async function openJsonServer(program: string, dataDir: string): Promise<Peer> {
  const [port] = await freePorts(1);
  const file = join(dataDir, "json-server.json");
  const pets = Array.from({ length: animals }, (_, i) => ({ ...pet, id: i + 1, name: `Animal ${i + 1}` }));
  writeFileSync(file, JSON.stringify({ pets, orders: [] }));
  const child = spawnServer([process.execPath, program, "--quiet", "--host", "127.0.0.1", "--port", String(port), file], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const url = `http://127.0.0.1:${port}`;
  await untilAnswers(`${url}/pets/1`);
  return { name: "json-server", url, pid: child.pid ?? 0, stop: () => stop(child) };
}
