import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { Bounds } from "../../platform/bounds.ts";
import { createCache, type Cache } from "../../platform/cache.ts";
import type { Coding } from "../../platform/http/negotiation.ts";
import type { FairShare } from "../../platform/jobs/fair-share.ts";
import { openSharedRuns, type SharedRuns } from "../../platform/jobs/runs.ts";
import { policyOf } from "./layout.ts";
import { markup } from "./markup.ts";
import { animalPage, listPage, notFoundPage } from "./pages.ts";
import { type SitemapPages, makeOnce, openSitemaps, sitemapOf } from "./sitemap.ts";
import {
  type Catalogue,
  type RenderedPage,
  type RenderStorefront,
  type Shop,
  type ShownCategory,
  type ShownFact,
  shownFactNames,
} from "./storefront.ts";

const animalsAtOnce = 24;
const categoriesMax = 60;
const queryMax = 100;
const cacheBytesMax = 32 * 1024 * 1024;
/** How many categories are kept, of all accounts together. */
const categoriesKept = 20_000;

type ListQuery = { category: number | undefined; before: number | undefined; q: string | undefined; fact: ShownFact | undefined };

/** The page at a path. Only pages with `isKept` are cached: arbitrary addresses must not evict the pages that visitors want. */
type RenderRequest =
  | (ListQuery & { kind: "list"; key: string; isKept: boolean })
  | { kind: "animal"; id: number; key: string; isKept: true }
  | { kind: "sitemap" | "robots" | "icon" | "nothing"; key: string; isKept: true };

type State = {
  catalogue: Catalogue;
  pages: Cache<string, RenderedPage>;
  /** The pages that are being rendered. Concurrent requests for a page share one rendering. */
  running: SharedRuns<string, RenderedPage>;
  categories: Cache<string, Promise<ShownCategory[]>>;
  places: FairShare<string>;
};

/** One page to render: for which version of the catalogue, and in which coding. `listed`: what a sitemap lists. */
type Job = { shop: Shop; wanted: RenderRequest; version: string; coding: Coding | undefined; listed: SitemapPages | undefined };

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
  const state: State = { catalogue, pages, running: openSharedRuns(), categories: createCache(categoriesKept), places };
  const list = openSitemaps(catalogue, clock, places);

  return async (shop, { path, query, coding, turn }) => {
    const wanted = wantedOf(path, query);
    const listed = wanted.kind === "sitemap" ? await list(shop.accountId, turn) : undefined;
    const version = listed?.version ?? (await catalogue.version(shop.accountId));
    const settings = JSON.stringify([shop.name, shop.origin, shop.settings]);
    const name = `${shop.accountId} ${version} ${coding} ${wanted.key} ${settings}`;
    const key = createHash("sha256").update(name).digest("base64url");
    const job = { shop, wanted, version, coding, listed };
    return makeOnce({ key, turn, running: state.running, places, kept: () => pages.get(key), make: () => renderAndKeep(state, key, job) });
  };
}

async function renderAndKeep(state: State, key: string, job: Job): Promise<RenderedPage> {
  const page = await render(state, job);
  const { kind, isKept } = job.wanted;
  const bytes = Buffer.isBuffer(page.body) ? page.body.length : 0;
  if (isKept && bytes > 0 && (page.status === 200 || kind === "nothing")) state.pages.set(key, page, bytes);
  return page;
}

function wantedOf(path: string, query: string): RenderRequest {
  if (path === "robots.txt") return { kind: "robots", key: path, isKept: true };
  if (path === "sitemap.xml") return { kind: "sitemap", key: path, isKept: true };
  if (path === "favicon.ico") return { kind: "icon", key: path, isKept: true };
  const animal = /^animals\/([1-9]\d{0,14})$/.exec(path);
  if (animal !== null) return { kind: "animal", id: Number(animal[1]), key: path, isKept: true };
  if (path !== "") return { kind: "nothing", key: "", isKept: true };
  const given = new URLSearchParams(query.slice(0, 2_000));
  const number = (name: string): number | undefined => {
    const text = given.get(name);
    return text !== null && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined;
  };
  const [category, before] = [number("category"), number("before")];
  const text = (name: string): string | undefined =>
    (given.get(name) ?? "").replaceAll("\0", "").toWellFormed().trim().slice(0, queryMax).toWellFormed() || undefined;
  const q = text("q");
  const [fact] =
    q === undefined ? shownFactNames.flatMap((name): ShownFact[] => (text(name) === undefined ? [] : [{ name, value: text(name)! }])) : [];
  return {
    kind: "list",
    category,
    before,
    q,
    fact,
    key: `list ${JSON.stringify([category, before, q, fact])}`,
    isKept: before === undefined && q === undefined && fact === undefined,
  };
}

async function render(state: State, job: Job): Promise<RenderedPage> {
  const { shop, wanted, coding, listed } = job;
  switch (wanted.kind) {
    case "robots":
      return packed(job, 200, "text/plain; charset=utf-8", `User-agent: *\nAllow: /\nSitemap: ${shop.origin}/sitemap.xml\n`);
    case "icon":
      return packed(job, 200, "image/svg+xml", iconOf(shop));
    case "sitemap":
      return sitemapOf(shop.origin, listed!, coding);
    case "animal": {
      const animal = await state.catalogue.animal(shop.accountId, wanted.id);
      if (animal === undefined) return absent(job);
      const categories = await categoriesOf(state, job);
      const category = categories.find(({ id }) => id === animal.categoryId);
      return page(job, 200, animalPage(shop, animal, category).text);
    }
    case "list":
      return renderList(state, job, wanted);
    case "nothing":
      return absent(job);
  }
}

async function renderList(
  state: State,
  job: Job,
  { q, before, fact, category: wanted }: Extract<RenderRequest, { kind: "list" }>,
): Promise<RenderedPage> {
  const { shop } = job;
  const all = await categoriesOf(state, job);
  const category = all.find(({ id }) => id === wanted);
  if (wanted !== undefined && category === undefined) return absent(job);
  const asked = { categoryId: category?.id, q, fact, before };
  const found = await state.catalogue.animals(shop.accountId, asked, animalsAtOnce + 1);
  const animals = found.slice(0, animalsAtOnce);
  const next = q === undefined && found.length > animalsAtOnce ? animals.at(-1)?.id : undefined;
  const shown = all.slice(0, categoriesMax);
  const categories = category === undefined || shown.includes(category) ? shown : [...shown, category];
  return page(job, 200, listPage(shop, { animals, categories, category, q, fact, next, isFirst: before === undefined }).text);
}

/** The categories by name, which are read and sorted once for a version: a search must not cost more in a shop that has many. */
function categoriesOf({ catalogue, categories }: State, { shop: { accountId }, version }: Job): Promise<ShownCategory[]> {
  const key = `${accountId} ${version}`;
  const known = categories.get(key);
  if (known !== undefined) return known;
  const read = categories.set(key, catalogue.categories(accountId));
  read.then(
    (found) => categories.set(key, read, 1 + found.length),
    () => categories.delete(key),
  );
  return read;
}

const absent = (job: Job): Promise<RenderedPage> => page(job, 404, notFoundPage(job.shop).text);

const page = (job: Job, status: number, text: string): Promise<RenderedPage> =>
  packed(job, status, "text/html; charset=utf-8", text, {
    "Content-Security-Policy": policyOf(job.shop),
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

/** The first letter of the name on the shop's colour. */
function iconOf({ name, settings: { colour } }: Shop): string {
  const [letter = "·"] = name.match(/[\p{L}\p{N}]/u) ?? [];
  return markup`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64">
    <rect width="64" height="64" rx="16" fill="${colour}" />
    <text x="32" y="45" font-family="system-ui,sans-serif" font-size="38" font-weight="700" text-anchor="middle" fill="#fff">
      ${letter.toUpperCase()}
    </text>
  </svg>`.text;
}
