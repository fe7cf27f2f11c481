// Makes the pictures of docs/images/: a real service with sample data, seen by a real browser. `npm run screenshots` runs it.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { startBrowser } from "../support/browser.ts";
import { pick } from "../support/dashboard-shop.ts";
import { now, openShop, publicUrl, sample, type Shop } from "./shop.ts";

const folder = fileURLToPath(new URL("../../docs/images/", import.meta.url));
const bytesMax = 160_000;

type Picture = {
  name: string;
  address: (shop: Shop) => string;
  colorScheme?: "dark";
  /** Of the window, in pixels. Default: 800. */
  height?: number;
  /** Brings the page to what is to be seen. */
  ready: (page: Page, shop: Shop) => Promise<unknown>;
};

const pictures: Picture[] = [
  { name: "animals", address: () => `${publicUrl}/dashboard/animals?sort=-name`, ready: showStock },
  { name: "import", address: () => `${publicUrl}/dashboard/import`, ready: previewSample },
  { name: "usage", address: () => `${publicUrl}/dashboard/usage`, ready: showUsage },
  { name: "usage-dark", address: () => `${publicUrl}/dashboard/usage`, colorScheme: "dark", ready: showUsage },
  {
    name: "domain",
    address: ({ project }) => `${publicUrl}/dashboard/projects/${project}/domains`,
    ready: (page) => page.getByText("Create this DNS record").waitFor(),
  },
  { name: "reference", address: () => `${publicUrl}/reference/listCategories`, ready: tryIt },
  {
    name: "shop",
    address: ({ site }) => site,
    height: 1_160,
    ready: (page) => page.getByRole("heading", { level: 1 }).waitFor(),
  },
];

const shop = await openShop();
const browser = await startBrowser([`--host-resolver-rules=${hostsOf(shop)}`]);
try {
  await mkdir(folder, { recursive: true });
  for (const picture of pictures) await take(picture);
} finally {
  await browser.close();
  await shop.platform.close();
}
// What the tests share brings their runner along, which would report that there was nothing to run.
process.exit();

/** The addresses of a service on its default ports lead to the free ports that this one has. */
function hostsOf({ platform: { service }, site }: Shop): string {
  const edge = `127.0.0.1:${service.publishing.addresses()?.http.port}`;
  return `MAP ${new URL(publicUrl).host} ${new URL(service.address).host}, MAP ${new URL(site).host} ${edge}`;
}

async function take({ name, address, colorScheme, height = 800, ready }: Picture): Promise<void> {
  const [cookie = "", value = ""] = shop.cookie.split("=", 2);
  const session = { name: cookie, value, domain: "localhost", path: "/", expires: -1, httpOnly: true, secure: false };
  const context = await browser.newContext({
    viewport: { width: 1280, height },
    colorScheme: colorScheme ?? "light",
    reducedMotion: "reduce",
    locale: "en-GB",
    timezoneId: "UTC",
    storageState: { cookies: [{ ...session, sameSite: "Lax" }], origins: [] },
  });
  const page = await context.newPage();
  await page.clock.setFixedTime(now);
  await page.addInitScript(hideDates);
  await page.goto(address(shop));
  await ready(page, shop);
  const picture = await page.screenshot({ animations: "disabled", caret: "hide" });
  await context.close();
  if (picture.length > bytesMax) throw new Error(`${name}.png has ${picture.length} bytes, more than ${bytesMax}`);
  await writeFile(join(folder, `${name}.png`), picture);
  console.log(`docs/images/${name}.png ${Math.round(picture.length / 1_000)} kB`);
}

/** Runs in the page: answers are dated by the machine's clock, and the service of the pictures is on another. */
function hideDates(): void {
  const get = Headers.prototype.get;
  const value = function (this: Headers, name: string): string | null {
    return name.toLowerCase() === "date" ? null : get.call(this, name);
  };
  Object.defineProperty(Headers.prototype, "get", { value });
}

async function showStock(page: Page): Promise<void> {
  const table = page.getByRole("table", { name: "Animals" });
  await table
    .getByRole("button", { name: /^One fewer of/ })
    .first()
    .waitFor();
}

async function previewSample(page: Page): Promise<void> {
  await page.locator("input[type=file]").setInputFiles(sample);
  await page.getByRole("combobox", { name: "Where the animals come from" }).fill("City shelter"); // the animals of the shop came from another one
  // the sample does not say whether animals without an outcome are for sale
  await pick(page, "Status for (empty)", "Available");
  await page.getByRole("button", { name: "Import 785 animals" }).waitFor();
  await page.evaluate("scrollTo(0, 0)");
}

async function showUsage(page: Page): Promise<void> {
  await page.getByRole("img", { name: /Requests in the last hour by minute: [\d,]+ in all/ }).waitFor();
  await page.getByRole("table", { name: "By key" }).waitFor();
}

async function tryIt(page: Page, { key }: Shop): Promise<void> {
  const panel = page.getByRole("region", { name: "Try it" });
  await panel.getByLabel("API key").fill(key);
  await panel.getByRole("button", { name: "Send" }).click();
  await panel.getByText("200 OK").waitFor();
  await panel.getByRole("heading", { name: "Try it" }).scrollIntoViewIfNeeded();
}
