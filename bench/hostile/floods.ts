import { openStorage } from "../../src/app/storage.ts";
import { atMost, type Figure } from "../figures.ts";
import { createAccount, fillWithAnimals, makeFolder, openShop, type Shop } from "../shop.ts";
import { signInOwners } from "./owners.ts";
import { animals, othersOf, type Others } from "./others.ts";

const rounds = 3;
const attackers = 5;
const sendersEach = 8;
const owners = 10;
const pets = 1_000;
const words = 33;
const pauseMs = 20;

/** An account that floods the service. */
type Attacker = { key: string; cookies: string[]; petIds: number[] };
type Attack = (shop: Shop, attackers: readonly Attacker[], isOver: () => boolean) => Promise<unknown>;

const attacks: { id: string; what: string; run: Attack; ordersMs: number }[] = [
  {
    id: "batches",
    what: "one account sends batches of 1 MiB",
    run: (shop, [first], isOver) => sendBatches(shop, first!, isOver),
    ordersMs: 500,
  },
  {
    id: "five-batches",
    what: "five accounts send batches of 1 MiB",
    run: (shop, all, isOver) => Promise.all(all.map((attacker) => sendBatches(shop, attacker, isOver))),
    ordersMs: 1_000,
  },
  {
    id: "changes",
    what: "one account changes 1,000 animals at once in its dashboard, many times",
    run: (shop, [first], isOver) => sendChanges(shop, first!, isOver),
    ordersMs: 500,
  },
];

/** Measures what others see while accounts keep the writer busy: the 99th percentile of another account's reads and orders, and `/healthz`. */
export async function* measureFloods(): AsyncGenerator<Figure> {
  const folder = makeFolder();
  fillWithAnimals(folder, animals);
  const accounts = Array.from({ length: attackers }, () => createAccount(folder.dataDir, {}));
  const storage = await openStorage({ dataDir: folder.dataDir, databaseUrl: "" }, "petstore bench", 2_000);
  const cookies = [];
  for (const { account } of accounts) cookies.push(await signInOwners(storage.db, account.id, owners));
  await storage.close();
  const shop = await openShop(folder);
  try {
    const all: Attacker[] = [];
    for (const [index, { key }] of accounts.entries()) all.push(await prepare(shop, key, cookies[index]!));
    for (const { id, what, run, ordersMs } of attacks) {
      const seen: Others[] = [];
      for (let round = 0; round < rounds; round++) seen.push(await othersOf(shop, (isOver) => run(shop, all, isOver)));
      const of = (figure: keyof Others): number[] => seen.map((others) => others[figure]);
      yield* [
        atMost(`hostile-${id}-reads`, `p99 of another account's reads while ${what}`, of("reads"), 100, "ms"),
        atMost(`hostile-${id}-orders`, `p99 of another account's orders while ${what}`, of("orders"), ordersMs, "ms"),
        atMost(`hostile-${id}-wait`, `longest wait of \`/healthz\` while ${what}`, of("healthz"), 100, "ms"),
      ];
    }
  } finally {
    await shop.stop();
    folder.remove();
  }
}

/** Gives an attacker a category and 1,000 pets. */
async function prepare(shop: Shop, key: string, cookies: string[]): Promise<Attacker> {
  const { id } = (await (await shop.ask("POST", "/categories", { name: "Dogs" }, key)).json()) as { id: number };
  const made = await shop.ask("POST", "/pets/batch", named(id), key);
  if (made.status !== 201) throw new Error(`a batch was answered with ${made.status}`);
  return { key, cookies, petIds: ((await made.json()) as { id: number }[]).map((pet) => pet.id) };
}

/** Sends batches of new pets on several connections, every second one as a dry run. */
async function sendBatches(shop: Shop, { key, petIds }: Attacker, isOver: () => boolean): Promise<void> {
  const [first] = petIds;
  const pet = (await (await shop.ask("GET", `/pets?id=${first}`, undefined, key)).json()) as { categoryId: number }[];
  const body = JSON.stringify(named(pet[0]!.categoryId, 200));
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const send = async (sender: number): Promise<void> => {
    for (let i = sender; !isOver(); i++)
      await sendOnce(`${shop.url}/pets/batch`, { ...headers, ...(i % 2 === 0 && { prefer: "dry-run" }) }, body);
  };
  await Promise.all(Array.from({ length: sendersEach }, (_, sender) => send(sender)));
}

/** Renames all of its pets at once, as several owners of the account. */
async function sendChanges(shop: Shop, { cookies, petIds }: Attacker, isOver: () => boolean): Promise<void> {
  const { origin } = new URL(shop.url);
  const send = async (cookie: string, owner: number): Promise<void> => {
    for (let i = owner; !isOver(); i += owners) {
      const changes = petIds.map((id) => ({ id, name: nameOf(id + i) }));
      await sendOnce(
        `${origin}/dashboard/v1/pets/changes`,
        { cookie, origin, "content-type": "application/json" },
        JSON.stringify({ changes }),
      );
    }
  };
  await Promise.all(cookies.map(send));
}

/** Sends a request, and waits a moment if it was refused. */
async function sendOnce(url: string, headers: Record<string, string>, body: string): Promise<void> {
  const { status } = await fetch(url, { method: "POST", headers, body }).then(async (answer) => (await answer.arrayBuffer(), answer));
  if (status >= 400) await new Promise((resolve) => setTimeout(resolve, pauseMs));
}

function named(categoryId: number, length = 100): object[] {
  return Array.from({ length: pets }, (_, i) => ({ name: nameOf(i).slice(0, length), categoryId }));
}

/** A name of 33 words. */
function nameOf(seed: number): string {
  return Array.from({ length: words }, (_, i) => (((seed + 1) * 7_919 * (i + 1)) % 46_656).toString(36).padStart(5, "a")).join(" ");
}
