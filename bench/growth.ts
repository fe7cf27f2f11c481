import { join } from "node:path";
import { measureAlternately, type Figure } from "./figures.ts";
import { cpuUsOfRequest, type Load } from "./load.ts";
import { anyOrder, anyPage, anyRead, pagePath } from "./requests.ts";
import { fillWithAnimals, makeFolder, openShop, type Shop } from "./shop.ts";

const whole = { many: 10_000_000, few: 100_000, rounds: 5, seconds: 3 };
const quick = { many: 200_000, few: 20_000, rounds: 3, seconds: 2 };
const connections = 64;
/** The most that a request of the large shop may cost, as a multiple of the same in the small one. */
const goal = "≤ 1.5";
const unit = "µs of CPU";

type Sized = { shop: Shop; animals: number };

const works = [
  { id: "growth-read", what: "`GET /pets/{id}`", scriptFor: anyRead },
  { id: "growth-page", what: `\`GET ${pagePath}\``, scriptFor: anyPage },
  { id: "growth-order", what: "`POST /store/orders`", scriptFor: anyOrder },
];

/** Compares what a read, a page and an order cost in a shop with very many animals and in a small one, whose files are in the system's cache. */
export async function* measureGrowth({ isQuick }: { isQuick: boolean }): AsyncGenerator<Figure> {
  const { many, few, rounds, seconds } = isQuick ? quick : whole;
  await using opened = new AsyncDisposableStack();
  const open = async (animals: number): Promise<Sized> => {
    const folder = makeFolder();
    opened.defer(() => folder.remove());
    fillWithAnimals(folder, animals);
    const shop = await openShop(folder);
    opened.defer(() => shop.stop());
    return { shop, animals };
  };
  const [large, small] = [await open(many), await open(few)];
  for (const { id, what, scriptFor } of works) {
    const measure = async ({ shop, animals }: Sized): Promise<number> => {
      const load: Load = {
        url: `${shop.url}/pets`,
        key: shop.key,
        connections,
        seconds,
        script: scriptFor(animals, join(shop.dataDir, "pages")),
      };
      return cpuUsOfRequest(shop.pid, load);
    };
    const measured = await measureAlternately(
      rounds,
      () => measure(large),
      () => measure(small),
    );
    const [ours, against] = [many, few].map((count) => count.toLocaleString("en"));
    yield { id, what: `CPU of ${what} with ${ours} animals / with ${against}`, ...measured, unit, goal };
  }
}
