import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { createLru } from "../../platform/lru.ts";
import { slots } from "../../platform/jobs/fair-share.ts";
import { overloaded } from "../../platform/problem.ts";
import type { Catalogue } from "./catalogue.ts";
import { escaped, markup } from "./markup.ts";
import { policyOf } from "./layout.ts";
import type { RenderedPage, RenderStorefront, Shop } from "./storefront.ts";
import { addressOf, animalPage, listPage, notFoundPage } from "./pages.ts";

const animalsAtOnce = 24;
const categoriesMax = 60;
const sitemapMax = 30_000;
const queryMax = 100;
const cacheBytesMax = 32 * 1024 * 1024;
const atOnceMax = 4;
const waitingMax = 500;
const sitemapMs = 5 * 60_000;

/** The page at a path. Only pages with `isKept` are cached: arbitrary addresses must not evict the pages that visitors want. */
type Wanted =
  | { kind: "list"; category: number | undefined; before: number | undefined; q: string | undefined; key: string; isKept: boolean }
  | { kind: "animal"; id: number; key: string; isKept: true }
  | { kind: "sitemap" | "robots" | "icon"; key: string; isKept: true }
  | { kind: "nothing"; key: string; isKept: false };

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);

/** Renders storefronts from the catalogue, and keeps pages in memory until the catalogue changes. `clock` in ms. */
export function openRenderer(catalogue: Catalogue, clock: () => number): RenderStorefront {
  const pages = createLru<Promise<RenderedPage>>(cacheBytesMax);
  /** The pages that are being rendered. Concurrent requests for a page share one rendering. */
  const running = new Map<string, Promise<RenderedPage>>();
  const refusal = () => overloaded("Too many pages are rendered at once. Try again in a moment.");
  const inTurn = slots(atOnceMax, { waitingMax, refusal });

  return async (shop, path, query) => {
    const wanted = wantedOf(path, query);
    const version = wanted.kind === "sitemap" ? `${Math.floor(clock() / sitemapMs)}` : await catalogue.version(shop.accountId);
    const settings = JSON.stringify([shop.name, shop.origin, shop.settings]);
    const key = createHash("sha256").update(`${shop.accountId} ${version} ${wanted.key} ${settings}`).digest("base64url");
    const kept = pages.get(key) ?? running.get(key);
    if (kept !== undefined) return kept;
    const rendered = inTurn(() => render(catalogue, shop, wanted)).finally(() => running.delete(key));
    running.set(key, rendered);
    const page = await rendered;
    if (wanted.isKept && page.status === 200) pages.set(key, rendered, page.plain.length + page.br.length + page.gzip.length);
    return page;
  };
}

function wantedOf(path: string, query: string): Wanted {
  if (path === "robots.txt") return { kind: "robots", key: path, isKept: true };
  if (path === "sitemap.xml") return { kind: "sitemap", key: path, isKept: true };
  if (path === "favicon.ico") return { kind: "icon", key: path, isKept: true };
  const animal = /^animals\/([1-9]\d{0,14})$/.exec(path);
  if (animal !== null) return { kind: "animal", id: Number(animal[1]), key: path, isKept: true };
  if (path !== "") return { kind: "nothing", key: "", isKept: false };
  const given = new URLSearchParams(query.slice(0, 2_000));
  const number = (name: string): number | undefined => {
    const text = given.get(name);
    return text !== null && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined;
  };
  const [category, before] = [number("category"), number("before")];
  const q = (given.get("q") ?? "").replaceAll("\0", "").toWellFormed().trim().slice(0, queryMax).toWellFormed() || undefined;
  return {
    kind: "list",
    category,
    before,
    q,
    key: `list ${JSON.stringify([category, before, q])}`,
    isKept: before === undefined && q === undefined,
  };
}

async function render(catalogue: Catalogue, shop: Shop, wanted: Wanted): Promise<RenderedPage> {
  switch (wanted.kind) {
    case "robots":
      return packed(200, "text/plain; charset=utf-8", `User-agent: *\nAllow: /\nSitemap: ${shop.origin}/sitemap.xml\n`);
    case "icon":
      return packed(200, "image/svg+xml", iconOf(shop));
    case "sitemap":
      return packed(200, "application/xml; charset=utf-8", await sitemapOf(catalogue, shop));
    case "animal": {
      const animal = await catalogue.animal(shop.accountId, wanted.id);
      if (animal === undefined) return absent(shop);
      const categories = await catalogue.categories(shop.accountId);
      const category = categories.find(({ id }) => id === animal.categoryId);
      return page(shop, 200, animalPage(shop, animal, category).text);
    }
    case "list":
      return renderList(catalogue, shop, wanted);
    case "nothing":
      return absent(shop);
  }
}

async function renderList(catalogue: Catalogue, shop: Shop, wanted: Extract<Wanted, { kind: "list" }>): Promise<RenderedPage> {
  const { q, before } = wanted;
  const all = await catalogue.categories(shop.accountId);
  const category = all.find(({ id }) => id === wanted.category);
  if (wanted.category !== undefined && category === undefined) return absent(shop);
  const asked = { categoryId: category?.id, q, before };
  const found = await catalogue.animals(shop.accountId, asked, animalsAtOnce + 1);
  const animals = found.slice(0, animalsAtOnce);
  const next = q === undefined && found.length > animalsAtOnce ? animals.at(-1)?.id : undefined;
  const shown = all.slice(0, categoriesMax);
  const categories = category === undefined || shown.includes(category) ? shown : [...shown, category];
  return page(shop, 200, listPage(shop, { animals, categories, category, q, next, isFirst: before === undefined }).text);
}

const absent = (shop: Shop): Promise<RenderedPage> => page(shop, 404, notFoundPage(shop).text);

const page = (shop: Shop, status: number, text: string): Promise<RenderedPage> =>
  packed(status, "text/html; charset=utf-8", text, {
    "Content-Security-Policy": policyOf(shop),
    "Referrer-Policy": "strict-origin-when-cross-origin",
  });

async function packed(status: number, type: string, text: string, headers: Record<string, string> = {}): Promise<RenderedPage> {
  const plain = Buffer.from(text);
  const params = { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_SIZE_HINT]: plain.length };
  const [br, gz] = await Promise.all([compressBrotli(plain, { params }), compressGzip(plain)]);
  const etag = createHash("sha256").update(plain).digest("base64url").slice(0, 22);
  return { status, type, etag, plain, br, gzip: gz, headers };
}

async function sitemapOf(catalogue: Catalogue, { accountId, origin }: Shop): Promise<string> {
  const [categories, animals] = await Promise.all([catalogue.categories(accountId), catalogue.newest(accountId, sitemapMax)]);
  const paths = ["/", ...categories.map(({ id }) => addressOf({ category: id })), ...animals.map((id) => `/animals/${id}`)];
  const urls = paths.map((path) => `<url><loc>${escaped(origin + path)}</loc></url>`);
  return `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${urls.join("\n")}\n</urlset>\n`;
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
