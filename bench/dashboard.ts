import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Page } from "playwright-core";
import { startBrowser } from "../test/support/browser.ts";
import { atMost, median, ofPairs, type Figure } from "./figures.ts";
import { makeFolder, openShop, type Shop, type ShopFolder } from "./shop.ts";

/** A member may make 300 calls a minute, so 60 pages of 100 animals leave enough calls to read their stock. */
const pages = 60;
const beginning = 20;
const raises = 5;

/**
 * Scrolls through a million animals in a browser. Measures what another page costs far down, how many rows are in the document, and how long a
 * change of many prices takes.
 */
export async function* measureDashboard(): AsyncGenerator<Figure> {
  const folder = makeFolder();
  const database = new DatabaseSync(join(folder.dataDir, "petstore.db"));
  fill(database, folder.accountId);
  database.close();
  const shop = await openShop(folder);
  const browser = await startBrowser();
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    await signIn(page, shop, folder);
    await page.goto(`${new URL(shop.url).origin}/dashboard/animals`);
    await page.getByRole("table", { name: "Animals" }).getByRole("link").first().waitFor();
    const stalls: number[] = [];
    let rowsMost = 0;
    for (let count = 1; count <= pages; count++) {
      stalls.push(await scrollToNextPage(page, count * 100 + 1));
      rowsMost = Math.max(rowsMost, await page.locator("tbody tr").count());
    }
    const [first, last] = [median(stalls.slice(0, beginning)), median(stalls.slice(-beginning))];
    yield* [
      {
        id: "dashboard-frame",
        what: `the longest frame while a page of animals comes in the dashboard, after ${(pages - beginning) * 100} of 1,000,000 / at the beginning`,
        ...ofPairs([[last, first]]),
        unit: "ms",
        goal: "≤ 1.5",
      },
      atMost("dashboard-rows", `most rows in the document on the way through ${pages * 100} animals`, rowsMost, 100, "rows"),
      atMost("dashboard-prices", "the prices of 1,000 animals raised by 5 % at once", await raisePrices(page), 2_000, "ms"),
    ];
  } finally {
    await browser.close();
    await shop.stop();
    folder.remove();
  }
}

/** Scrolls to the end of the rows, and returns the longest time between two frames until the animal `id` is in the document. */
async function scrollToNextPage(page: Page, id: number): Promise<number> {
  await page.evaluate(`(() => {
    let last = performance.now();
    globalThis.longest = 0;
    const tick = (now) => {
      globalThis.longest = Math.max(globalThis.longest, now - last);
      last = now;
      globalThis.frame = requestAnimationFrame(tick);
    };
    cancelAnimationFrame(globalThis.frame);
    globalThis.frame = requestAnimationFrame(tick);
  })()`);
  await page.keyboard.press("End");
  await page.locator(`tbody a[href$="/animals/${id}"]`).waitFor({ state: "attached" });
  return page.evaluate<number>("globalThis.longest");
}

/** Prices 1,000 animals, and then raises their prices a few times. Returns how long (ms) each raise took. */
async function raisePrices(page: Page): Promise<number[]> {
  const took: number[] = [];
  for (let raise = 0; raise <= raises; raise++) {
    const change = raise === 0 ? { price: { amount: 49_000, currency: "EUR" } } : { pricePermille: 50 };
    const changes = Array.from({ length: 1_000 }, (_, index) => ({ id: index + 1, ...change }));
    const startedAt = performance.now();
    const answer = await page.request.post(`${new URL(page.url()).origin}/dashboard/v1/pets/changes`, {
      data: { changes },
      headers: { origin: new URL(page.url()).origin },
    });
    if (raise > 0) took.push(performance.now() - startedAt);
    const { results } = (await answer.json()) as { results?: { outcome: string }[] };
    if (results?.every(({ outcome }) => outcome === "changed") !== true) throw new Error(`prices were not raised: ${answer.status()}`);
  }
  return took;
}

/** Signs an owner in, who then sees the home page. */
export async function signIn(page: Page, shop: Shop, { dataDir, accountId }: ShopFolder): Promise<void> {
  const entry = join(import.meta.dirname, "..", "bin", "petstore.mjs");
  const args = [entry, "members", "invite", "--account", String(accountId), "--email", "bench@shop.example", "--role", "owner", "--json"];
  const invited = execFileSync(process.execPath, args, { env: { ...process.env, DATA_DIR: dataDir }, encoding: "utf8" });
  const { link } = JSON.parse(invited) as { link: string };
  await page.goto(new URL(shop.url).origin + new URL(link).pathname + new URL(link).hash);
  await page.getByRole("button", { name: "Sign in with this link" }).click();
  await page.getByRole("textbox", { name: "New password" }).fill("a good long password");
  await page.getByRole("button", { name: "Save and continue" }).click();
  await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
}

/** Puts a million animals into an empty shop. */
function fill(database: DatabaseSync, accountId: number): void {
  database.exec(`
    PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF; BEGIN;
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10)
    INSERT INTO categories SELECT ${accountId}, i, 'Category ' || i, 'category ' || i, NULL, 1 FROM n;
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000),
      made AS (SELECT i, 'Name ' || (i * 7919 % 200000) AS name FROM n)
    INSERT INTO pets (account_id, id, name, name_key, category_id, status, version) SELECT ${accountId}, i, name, lower(name), 1 + i % 10,
      CASE i * 31 % 7 WHEN 0 THEN 'pending' WHEN 1 THEN 'sold' ELSE 'available' END, 1 FROM made;
    COMMIT;`);
}
