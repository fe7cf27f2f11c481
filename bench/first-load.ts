import type { BrowserContext } from "playwright-core";
import { startBrowser } from "../test/support/browser.ts";
import { idle } from "../test/support/weight.ts";
import { signIn } from "./dashboard.ts";
import { atMost, type Figure } from "./figures.ts";
import { fillWithAnimals, makeFolder, openShop, type Shop } from "./shop.ts";

/** A slow phone network: 1.6 Mbit/s down, 750 kbit/s up, 150 ms. */
const network = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 93_750 };
const animals = 1_000;
const ofStore = ["animals", "categories", "orders", "reservations", "inventory", "import"];
const ofPublishing = ["projects", "projects/1", "projects/1/versions", "projects/1/settings", "projects/1/domains"];
const ofDashboard = ["", ...ofStore, ...ofPublishing, "usage", "keys", "webhooks", "activity", "account"];
const ofReference = ["", "/createPet", "/all", "/guides/errors"];

/** The time of the largest paint (ms), and by how much the page moved (https://web.dev/articles/cls). */
type FirstLoad = { paintedMs: number; shift: number };

/** Opens each page of the dashboard and the reference with an empty cache over a slow network. */
export async function* measureFirstLoads({ isQuick }: { isQuick: boolean }): AsyncGenerator<Figure> {
  const rounds = isQuick ? 1 : 5;
  const folder = makeFolder();
  fillWithAnimals(folder, animals);
  const shop = await openShop(folder);
  const browser = await startBrowser();
  try {
    await fillPages(shop);
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    await signIn(page, shop, folder);
    await page.close();
    const { origin } = new URL(shop.url);
    const pages = [...ofDashboard.map((path) => `/dashboard/${path}`), ...ofReference.map((path) => `/reference${path}`)];
    const shifts: number[] = [];
    for (const path of pages) {
      const loads: FirstLoad[] = [];
      for (let round = 0; round < rounds; round++) loads.push(await firstLoad(context, origin + path));
      shifts.push(Math.max(...loads.map(({ shift }) => shift)));
      const id = `pages-lcp${path.replaceAll("/", "-").replace(/-$/, "").toLowerCase()}`;
      const painted = loads.map(({ paintedMs }) => paintedMs);
      yield atMost(id, `largest paint of \`${path}\` at its first load, with 1.6 Mbit/s and 150 ms`, painted, 2_000, "ms");
    }
    yield atMost("pages-cls", "the most that one of these pages moves (CLS)", Math.max(...shifts), 0.02, "CLS");
  } finally {
    await browser.close();
    await shop.stop();
    folder.remove();
  }
}

/** Fills the pages that show other things than animals. */
async function fillPages(shop: Shop): Promise<void> {
  await Promise.all(Array.from({ length: 30 }, (_, index) => shop.ask("POST", "/store/orders", { petId: index + 1 })));
  await shop.ask("POST", "/projects", { name: "Shop", slug: "shop" });
  await shop.ask("POST", "/webhooks", { url: "https://hooks.example.com/shop" });
}

const watch = `(() => {
  globalThis.seen = { paintedMs: 0, shift: 0 };
  new PerformanceObserver((list) => list.getEntries().forEach(({ startTime }) => (seen.paintedMs = startTime)))
    .observe({ type: "largest-contentful-paint", buffered: true });
  new PerformanceObserver((list) => list.getEntries().forEach(({ value }) => (seen.shift += value))).observe({ type: "layout-shift", buffered: true });
})()`;

/** Loads a page, and reads its figures one second after the page's `idle` mark, which it sets when it has finished loading. */
async function firstLoad(context: BrowserContext, url: string): Promise<FirstLoad> {
  const page = await context.newPage();
  try {
    const session = await context.newCDPSession(page);
    await session.send("Network.enable");
    await session.send("Network.clearBrowserCache");
    await session.send("Network.emulateNetworkConditions", network);
    await page.addInitScript(watch);
    await page.goto(url);
    await page.evaluate(idle);
    await page.waitForTimeout(1_000);
    return await page.evaluate<FirstLoad>("seen");
  } finally {
    await page.close();
  }
}
