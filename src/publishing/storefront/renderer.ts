import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { Bounds } from "../../platform/bounds.ts";
import { createCache, type Cache } from "../../platform/cache.ts";
import type { Coding } from "../../platform/http/negotiation.ts";
import type { FairShare } from "../../platform/jobs/fair-share.ts";
import { openSharedRuns, type SharedRuns } from "../../platform/jobs/runs.ts";
import { textOn } from "./colours.ts";
import type { FactValues } from "./facts.ts";
import { isFirst, listPage } from "./list-page.ts";
import { markup } from "./markup.ts";
import { animalPage, notFoundPage, textPage } from "./pages.ts";
import type { Card } from "./parts.ts";
import { type ListStart, type ListView, type RenderRequest, requestOf, shownFactNames } from "./requests.ts";
import { heroAnimal } from "./settings.ts";
import { styleFor } from "./sheet.ts";
import { type SitemapPages, makeOnce, openSitemaps, sitemapOf } from "./sitemap.ts";
import type { Catalogue, RenderedPage, RenderStorefront, Shop, ShownAnimal, ShownCategory } from "./storefront.ts";
import { fontAt } from "./themes.ts";

const animalsAtOnce = 24;
const categoriesMax = 60;
const relatedMax = 4;
/** How many values of a fact a list offers. */
const valuesMax = 100;
const dayMs = 24 * 60 * 60_000;
/** How long an animal is new. */
const newDays = 14;
/** If more than one in this many animals of a page is new, none is shown as new. */
const newShareMax = 2;
const cacheBytesMax = 32 * 1024 * 1024;
/** How many categories and arrivals, and how many values of facts, are kept of all accounts together. */
const shelvesKept = 20_000;
const valuesKept = 20_000;

/** What the pages of a shop share. `arrivals`: when the newest animals were added, by identifier. */
type Shelf = { categories: ShownCategory[]; arrivals: Map<number, number> };

type State = {
  catalogue: Catalogue;
  pages: Cache<string, RenderedPage>;
  /** The pages that are being rendered. Concurrent requests for a page share one rendering. */
  running: SharedRuns<string, RenderedPage>;
  shelves: Cache<string, Promise<Shelf>>;
  /** The values to filter by, of each category and of all. */
  facts: Cache<string, Promise<FactValues[]>>;
  clock: () => number;
  places: FairShare<string>;
};

/** One page to render: for which version of the catalogue, and in which coding. `listed`: what a sitemap lists. */
type Job = {
  shop: Shop;
  wanted: RenderRequest;
  version: string;
  coding: Coding | undefined;
  listed: SitemapPages | undefined;
  isPreview: boolean;
};

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);

/**
 * Renders storefronts from the catalogue in turns by site and address, and keeps pages in memory until what they show changes (decision 0076).
 *
 * @param clock in ms
 */
export function openRenderer(catalogue: Catalogue, clock: () => number, bounds: Pick<Bounds, "queue">): RenderStorefront {
  const places = bounds.queue<string>("rendering");
  const pages = createCache<string, RenderedPage>(cacheBytesMax);
  const state: State = {
    catalogue,
    pages,
    running: openSharedRuns(),
    shelves: createCache(shelvesKept),
    facts: createCache(valuesKept),
    clock,
    places,
  };
  const list = openSitemaps(catalogue, clock, places);

  return async (shop, { path, query, coding, turn, isPreview = false }) => {
    const wanted = requestOf(path, query);
    if (wanted.kind === "font") {
      const bytes = fontAt(wanted.path);
      if (bytes !== undefined) return fontFile(bytes);
    }
    const listed = wanted.kind === "sitemap" ? await list(shop.accountId, turn) : undefined;
    const version = listed?.version ?? (await catalogue.version(shop.accountId));
    const today = Math.floor(clock() / dayMs); // what is new today is not tomorrow
    const name = `${shop.accountId} ${version} ${today} ${coding} ${wanted.key} ${settingsText(shop)}`;
    const key = createHash("sha256").update(name).digest("base64url");
    const job = { shop, wanted, version, coding, listed, isPreview };
    return makeOnce({ key, turn, running: state.running, places, kept: () => pages.get(key), make: () => renderAndKeep(state, key, job) });
  };
}

async function renderAndKeep(state: State, key: string, job: Job): Promise<RenderedPage> {
  const page = await render(state, job);
  const { kind, isKept } = job.wanted;
  const bytes = Buffer.isBuffer(page.body) ? page.body.length : 0;
  if (isKept && !job.isPreview && bytes > 0 && (page.status === 200 || kind === "nothing")) state.pages.set(key, page, bytes);
  return page;
}

async function render(state: State, job: Job): Promise<RenderedPage> {
  const { shop, wanted, coding, listed } = job;
  switch (wanted.kind) {
    case "robots":
      return packed(job, 200, "text/plain; charset=utf-8", `User-agent: *\nAllow: /\nSitemap: ${shop.origin}/sitemap.xml\n`);
    case "icon":
      return packed(job, 200, "image/svg+xml", iconOf(shop));
    case "sitemap":
      return sitemapOf({ origin: shop.origin, slugs: (shop.settings.pages ?? []).map(({ slug }) => slug) }, listed!, coding);
    case "animal":
      return renderAnimal(state, job, wanted.id);
    case "page": {
      const found = shop.settings.pages?.find(({ slug }) => slug === wanted.slug);
      return found === undefined ? absent(job) : page(job, 200, textPage(shop, found).text);
    }
    case "list":
      return renderList(state, job, wanted.view);
    case "font":
    case "nothing":
      return absent(job);
  }
}

async function renderAnimal(state: State, job: Job, id: number): Promise<RenderedPage> {
  const { shop } = job;
  const animal = await state.catalogue.animal(shop.accountId, id);
  if (animal === undefined) return absent(job);
  const shelf = await shelfOf(state, job);
  const { categoryId } = animal;
  const others = await state.catalogue.animals(shop.accountId, { categoryId, status: "available", sort: "newest" }, relatedMax + 1);
  const related = others.filter((one) => one.id !== id).slice(0, relatedMax);
  const [card, ...cards] = cardsOf(state, shelf, [animal, ...related]);
  return page(job, 200, animalPage(shop, card!, cards).text);
}

async function renderList(state: State, job: Job, view: ListView): Promise<RenderedPage> {
  const { shop } = job;
  const shelf = await shelfOf(state, job);
  const category = shelf.categories.find(({ id }) => id === view.category);
  if (view.category !== undefined && category === undefined) return absent(job);
  const found = await findAnimals(state, shop.accountId, view);
  const animals = found.slice(0, animalsAtOnce);
  const last = found.length > animalsAtOnce ? animals.at(-1) : undefined;
  const shown = shelf.categories.filter(({ isEmpty }) => !isEmpty).slice(0, categoriesMax);
  const categories = category === undefined || shown.includes(category) ? shown : [...shown, category];
  const chosen = isFirst(view) ? await chosenAnimal(state, shop) : [];
  const cards = cardsOf(state, shelf, view.sort === "newest" ? picturedFirst(animals) : animals);
  const [hero] = cardsOf(state, shelf, chosen);
  const facts = view.q === undefined ? await factsOf(state, job, category?.id) : []; // a search offers no filters
  const next = last && startAfter(last, view);
  return page(job, 200, listPage(shop, { cards, categories, category, facts, view, chosen: hero, next }).text);
}

/** Returns the animal that the shop chose for the top of its first page, with one photo; none if the animal is gone, is sold or has no photo. */
async function chosenAnimal({ catalogue }: State, { accountId, settings }: Shop): Promise<ShownAnimal[]> {
  const wanted = heroAnimal(settings.hero);
  const animal = wanted && (await catalogue.animal(accountId, wanted.id));
  if (animal === undefined || animal.status === "sold") return [];
  const photo = animal.photos.find(({ id }) => id === wanted?.photoId) ?? animal.photos[0];
  return photo === undefined ? [] : [{ ...animal, photos: [photo] }];
}

/** Reads one animal more than a page has. Among the newest, those that can be bought come before those that are reserved. */
async function findAnimals({ catalogue }: State, accountId: number, view: ListView): Promise<ShownAnimal[]> {
  const { category: categoryId, status, q, fact, start } = view;
  const limit = animalsAtOnce + 1;
  if (view.sort === "name") {
    const after = start !== undefined && "name" in start ? start : undefined;
    return catalogue.animals(accountId, { categoryId, status, sort: "name", q, after }, limit);
  }
  const from = start !== undefined && "status" in start ? start : undefined;
  const newest = (wanted: "available" | "pending", count: number): Promise<ShownAnimal[]> => {
    const before = from?.status === wanted ? from.id : undefined;
    return catalogue.animals(accountId, { categoryId, status: wanted, sort: "newest", fact, before }, count);
  };
  const isPast = status === "pending" || from?.status === "pending";
  const available = isPast ? [] : await newest("available", limit);
  const missing = limit - available.length;
  return status === "available" || missing === 0 ? available : [...available, ...(await newest("pending", missing))];
}

function startAfter({ id, name, status }: ShownAnimal, { sort }: ListView): ListStart {
  return sort === "name" ? { name, id } : { status: status === "pending" ? "pending" : "available", id };
}

/** Within a page, animals with a photo come before those without, and among each of them the reserved ones last. */
function picturedFirst(animals: ShownAnimal[]): ShownAnimal[] {
  const rank = ({ status, photos }: ShownAnimal): number => (photos.length === 0 ? 1 : 0) + (status === "pending" ? 2 : 0);
  return animals.toSorted((a, b) => rank(a) - rank(b));
}

function cardsOf({ clock }: State, { categories, arrivals }: Shelf, animals: ShownAnimal[]): Card[] {
  const since = (Math.floor(clock() / dayMs) - newDays) * dayMs;
  const isNew = ({ id }: ShownAnimal): boolean => (arrivals.get(id) ?? 0) >= since;
  const tellsApart = animals.filter(isNew).length * newShareMax <= animals.length; // where most are new, "New" says nothing
  return animals.map((animal) => ({
    animal,
    category: categories.find(({ id }) => id === animal.categoryId),
    isNew: tellsApart && isNew(animal),
  }));
}

/** The categories by name, which are read and sorted once for a version, with what the pages share besides: a search must not cost more in a shop that has many. */
function shelfOf({ catalogue, shelves }: State, { shop: { accountId }, version }: Job): Promise<Shelf> {
  const read = async (): Promise<Shelf> => {
    const categories = await catalogue.categories(accountId);
    const arrivals = await catalogue.arrivals(accountId);
    return { categories, arrivals: new Map(arrivals.map(({ id, at }) => [id, at])) };
  };
  return readOnce(shelves, `${accountId} ${version}`, read, ({ categories, arrivals }) => categories.length + arrivals.size);
}

/** The values to filter by that animals of a category have, or those of all. Facts with one value tell no animals apart. */
function factsOf(
  { catalogue, facts }: State,
  { shop: { accountId }, version }: Job,
  categoryId: number | undefined,
): Promise<FactValues[]> {
  const read = async (): Promise<FactValues[]> => {
    const found: FactValues[] = [];
    for (const name of shownFactNames) found.push({ name, ...(await catalogue.valuesOf(accountId, { name, categoryId }, valuesMax)) });
    return found.filter(({ values }) => values.length > 1);
  };
  return readOnce(facts, `${accountId} ${version} ${categoryId}`, read, (found) =>
    found.reduce((sum, { values }) => sum + values.length, 0),
  );
}

/** Reads a value, and keeps it by its key with a weight. Requests that come meanwhile share the reading. */
function readOnce<T>(cache: Cache<string, Promise<T>>, key: string, read: () => Promise<T>, countOf: (value: T) => number): Promise<T> {
  const known = cache.get(key);
  if (known !== undefined) return known;
  const reading = cache.set(key, read());
  reading.then(
    (value) => cache.set(key, reading, 1 + countOf(value)),
    () => cache.delete(key),
  );
  return reading;
}

const absent = (job: Job): Promise<RenderedPage> => page(job, 404, notFoundPage(job.shop).text);

const page = (job: Job, status: number, text: string): Promise<RenderedPage> =>
  packed(job, status, "text/html; charset=utf-8", text, {
    "Content-Security-Policy": styleFor(job.shop.settings).policy,
    "Referrer-Policy": "strict-origin-when-cross-origin",
  });

async function packed(
  { coding }: Job,
  status: number,
  type: string,
  text: string,
  headers: Record<string, string> = {},
): Promise<RenderedPage> {
  const plain = Buffer.from(text);
  const etag = createHash("sha256").update(plain).digest("base64url").slice(0, 22);
  const params = { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_SIZE_HINT]: plain.length };
  const body = coding === "br" ? await compressBrotli(plain, { params }) : coding === "gzip" ? await compressGzip(plain) : plain;
  return { status, type, etag, coding, body, headers };
}

/** A font never changes at its address, and is compressed already. */
function fontFile(body: Buffer): RenderedPage {
  const headers = { "Cache-Control": "public, max-age=31536000, immutable" };
  return { status: 200, type: "font/woff2", etag: "font", coding: undefined, body, headers };
}

const texts = new WeakMap<Shop["settings"], string>();

/** The settings as one short text, which is made once for each deployment that is in memory. */
function settingsText({ name, origin, settings }: Shop): string {
  let text = texts.get(settings);
  if (text === undefined) texts.set(settings, (text = createHash("sha256").update(JSON.stringify(settings)).digest("base64url")));
  return JSON.stringify([name, origin, text]);
}

/** The first letter of the name on the shop's colour. */
function iconOf({ name, settings: { colour } }: Shop): string {
  const [letter = "·"] = name.match(/[\p{L}\p{N}]/u) ?? [];
  return markup`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64">
    <rect width="64" height="64" rx="16" fill="${colour}" />
    <text x="32" y="45" font-family="system-ui,sans-serif" font-size="38" font-weight="700" text-anchor="middle" fill="${textOn(colour)}">
      ${letter.toUpperCase()}
    </text>
  </svg>`.text;
}
