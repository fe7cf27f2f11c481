import { openStorage } from "../../src/app/storage.ts";
import { atMost, type Figure } from "../figures.ts";
import { createAccount, fillWithAnimals, makeFolder, openShop, type Shop } from "../shop.ts";
import { prepareAttacker, sendArchives, sendBatches, sendChanges, sendPictures, type Attacker } from "./attackers.ts";
import { animals, othersOf, type Others } from "./others.ts";
import { signInOwners } from "./owners.ts";

const rounds = 3;
const attackers = 5;
const owners = 10;

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
  {
    id: "pictures",
    what: "one account uploads pictures of 50 megapixels",
    run: (shop, [first], isOver) => sendPictures(shop, first!, isOver),
    ordersMs: 500,
  },
  {
    id: "everything",
    what: "five accounts do all of these and upload archives",
    run: (shop, [first, second, third, fourth, fifth], isOver) =>
      Promise.all([
        sendBatches(shop, first!, isOver),
        sendBatches(shop, second!, isOver),
        sendChanges(shop, third!, isOver),
        sendPictures(shop, fourth!, isOver),
        sendArchives(shop, fifth!, isOver),
      ]),
    ordersMs: 1_000,
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
    for (const [index, { key }] of accounts.entries()) all.push(await prepareAttacker(shop, key, cookies[index]!));
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
