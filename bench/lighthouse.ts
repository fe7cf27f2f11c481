import sharp from "sharp";
import { browserProgram } from "../test/support/browser.ts";
import { freePorts } from "../test/support/ports.ts";
import { packSite } from "../test/support/sites.ts";
import { visitSite } from "../test/support/storefront.ts";
import { until } from "../test/support/until.ts";
import { atLeast, type Figure } from "./figures.ts";
import { npmProgram } from "./npm-program.ts";
import { runLoad } from "./processes.ts";
import { makeFolder, openShop, type Shop } from "./shop.ts";

const version = "13.5.0";
const rounds = 5;
/** The least scores. */
const goals = { performance: 95, accessibility: 100, "best-practices": 100, seo: 100 };
type Category = keyof typeof goals;
type Scores = Record<Category, number>;

const pages = { storefront: "/", animal: "/animals/1" };
const names = ["Rex", "Luna", "Bella", "Max", "Charlie", "Milo", "Nala", "Oscar", "Ruby", "Sam", "Toby", "Zoe"];
const storefront = {
  tagline: "Animals who look for a home",
  about: "A small shelter.",
  contact: { email: "shop@example.com", phone: "+49 30 1234567", address: "Main Street 1" },
  reservations: { enabled: true },
};

/** Lets Lighthouse (https://developer.chrome.com/docs/lighthouse) rate the pages of a storefront as a phone loads them. */
export async function* measureLighthouse(): AsyncGenerator<Figure> {
  const program = npmProgram("lighthouse", version, "cli/index.js");
  const folder = makeFolder();
  const [edgePort] = await freePorts(1);
  const shop = await openShop(folder, { EDGE_HTTP_PORT: String(edgePort), PLATFORM_DOMAIN: "petstore.localhost" });
  try {
    const address = await publishStorefront(shop);
    for (const [page, path] of Object.entries(pages)) {
      const rated: Scores[] = [];
      for (let round = 0; round < rounds; round++) rated.push(await rate(program, address + path));
      for (const [category, least] of Object.entries(goals) as [Category, number][]) {
        const scores = rated.map((scoresOf) => scoresOf[category]);
        yield atLeast(`lighthouse-${page}-${category}`, `Lighthouse of the ${page} page on a phone: ${category}`, scores, least, "points");
      }
    }
  } finally {
    await shop.stop();
    folder.remove();
  }
}

/** Publishes a storefront with an animal for each name, each with a photo of a camera's size. Returns its address. */
async function publishStorefront(shop: Shop): Promise<string> {
  await shop.ask("POST", "/categories", { name: "Dogs" });
  for (const [index, name] of names.entries()) {
    const id = index + 1;
    await shop.ask("POST", "/pets", { name, categoryId: 1 });
    const facts = { species: "Dog", breed: "Beagle" };
    await shop.ask("PUT", `/pets/${id}/profile`, {
      description: `${name} is friendly.`,
      price: { amount: 25_000 + id, currency: "EUR" },
      facts,
    });
    await send(shop, `/pets/${id}/profile/photos?alt=${name}`, "image/jpeg", await photo(index));
  }
  const project = (await (await shop.ask("POST", "/projects", { name: "Happy Paws", slug: "happy" })).json()) as {
    id: number;
    url: string;
  };
  const site = await packSite({ "petstore.json": JSON.stringify({ name: "Happy Paws", storefront }) });
  await send(shop, `/projects/${project.id}/deployments`, "application/gzip", site);
  await until(async () => (await visitSite(project.url)).body.includes("/animals/1"));
  return project.url.replace(/\/$/, "");
}

/** A picture that compresses about as well as one of a camera. */
function photo(index: number): Promise<Buffer> {
  const background = { r: 40 + index * 15, g: 120, b: 200 - index * 12 };
  const noise = { type: "gaussian", mean: 128, sigma: 20 } as const;
  return sharp({ create: { width: 1_600, height: 1_200, channels: 3, background, noise } })
    .blur(6)
    .jpeg()
    .toBuffer();
}

async function send({ url, key }: Shop, path: string, type: string, body: Uint8Array): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, "content-type": type };
  const { status } = await fetch(url + path, { method: "POST", headers, body: Buffer.from(body) });
  if (status >= 300) throw new Error(`POST ${path} was answered with ${status}`);
}

async function rate(program: string, url: string): Promise<Scores> {
  const flags = process.getuid?.() === 0 ? ["--chrome-flags=--no-sandbox"] : [];
  const command = [process.execPath, program, url, "--quiet", "--output=json", ...flags];
  const { categories } = JSON.parse(await runLoad(command, { CHROME_PATH: browserProgram() })) as {
    categories: Record<Category, { score: number }>;
  };
  const scores = Object.keys(goals).map((category) => [category, Math.round(categories[category as Category].score * 100)]);
  return Object.fromEntries(scores) as Scores;
}
