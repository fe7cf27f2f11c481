import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { constants, createBrotliCompress, createGzip } from "node:zlib";
import { createCache } from "../../platform/cache.ts";
import { openTurns } from "../../platform/event-loop.ts";
import type { Coding } from "../../platform/http/negotiation.ts";
import { type FairShare, runInTurn } from "../../platform/jobs/fair-share.ts";
import { openSharedRuns, type SharedRuns } from "../../platform/jobs/runs.ts";
import { escaped } from "./markup.ts";
import { addressOf } from "./requests.ts";
import type { Catalogue, RenderedPage } from "./storefront.ts";

const animalsMax = 30_000;
/** For how long (ms) a list is used although the catalogue has changed. */
const reuseMs = 60_000;
/** How many addresses are kept, of all accounts together. An address takes about 50 bytes. */
const addressesMax = 500_000;
/** Addresses in one step: about 16 KiB of the sitemap, which take well under a millisecond. */
const stepSize = 200;

/** The paths that the sitemaps of an account list, the same at each of its hosts: escaped, with the sum of their lengths and a digest. */
export type SitemapPages = { version: string; paths: string[]; pathBytes: number; digest: string };

/**
 * Returns the function that lists an account's sitemap: once for a version of the catalogue, at most once a minute, and in turns by site and
 * address.
 *
 * @param clock in ms
 */
export function openSitemaps(
  catalogue: Catalogue,
  clock: () => number,
  places: FairShare<string>,
): (accountId: number, turn: string) => Promise<SitemapPages> {
  const lists = createCache<number, SitemapPages & { madeAt: number }>(addressesMax);
  const running = openSharedRuns<string, SitemapPages>();
  const isNew = (madeAt: number): boolean => Math.abs(clock() - madeAt) < reuseMs;

  async function list(accountId: number, version: string): Promise<SitemapPages> {
    const categories = await catalogue.categories(accountId);
    const animals = await catalogue.newest(accountId, animalsMax);
    const paths = [
      "/",
      ...categories.filter(({ isEmpty }) => !isEmpty).map(({ id }) => escaped(addressOf({ category: id }))),
      ...animals.map((id) => `/animals/${id}`),
    ];
    return lists.set(accountId, { version, paths, ...(await summed(paths)), madeAt: clock() }, paths.length);
  }

  return async (accountId, turn) => {
    const key = `${accountId}`;
    const last = lists.get(accountId);
    if (last !== undefined && isNew(last.madeAt)) return last;
    const version = await catalogue.version(accountId);
    const kept = (): SitemapPages | undefined => {
      const known = lists.get(accountId);
      return known !== undefined && (known.version === version || isNew(known.madeAt)) ? known : undefined;
    };
    return makeOnce({ key, turn, places, running, kept, make: () => list(accountId, version) });
  };
}

async function summed(paths: readonly string[]): Promise<Pick<SitemapPages, "pathBytes" | "digest">> {
  const giveTurn = openTurns();
  const digest = createHash("sha256");
  let pathBytes = 0;
  for (let at = 0; at < paths.length; at += stepSize) {
    await giveTurn();
    const step = paths.slice(at, at + stepSize).join("");
    pathBytes += step.length;
    digest.update(step);
  }
  return { pathBytes, digest: digest.digest("base64url") };
}

/**
 * The sitemap of a shop. Without a coding it is made while it is sent: it has up to 3 MB, and each of the account's hosts has its own.
 *
 * @param slugs the pages of the shop's own
 */
export async function sitemapOf(
  { origin, slugs }: { origin: string; slugs: string[] },
  listed: SitemapPages,
  coding: Coding | undefined,
): Promise<RenderedPage> {
  const { paths, pathBytes, digest } = listed;
  const shown = escaped(origin);
  const begin = head + slugs.map((slug) => `${before}${shown}/pages/${slug}${after}`).join("");
  const etag = createHash("sha256").update(`${digest} ${begin}`).update(origin).digest("base64url").slice(0, 22);
  const page = { status: 200, type: "application/xml; charset=utf-8", etag, coding, headers: {} };
  if (coding === undefined) {
    const each = before.length + shown.length + after.length;
    const bytes = begin.length + paths.length * each + pathBytes + tail.length;
    return { ...page, body: { bytes, chunks: () => chunksOf(begin, shown, paths) } };
  }
  const params = { [constants.BROTLI_PARAM_QUALITY]: 5 };
  const compressor = coding === "br" ? createBrotliCompress({ params }) : createGzip();
  return {
    ...page,
    body: Buffer.concat(
      await Readable.from(chunksOf(begin, shown, paths))
        .compose(compressor)
        .toArray(),
    ),
  };
}

const head = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n';
const tail = "</urlset>\n";
/** All of it is ASCII, so that characters are bytes. */
const [before, after] = ["<url><loc>", "</loc></url>\n"];

/** Makes one chunk in each turn of the event loop: a socket may take all chunks without a turn, and many sitemaps may be sent at once. */
async function* chunksOf(begin: string, origin: string, paths: readonly string[]): AsyncGenerator<Buffer> {
  for (let at = 0; at < paths.length; at += stepSize) {
    await nextTurn();
    let chunk = at === 0 ? begin : "";
    for (const path of paths.slice(at, at + stepSize)) chunk += before + origin + path + after;
    yield Buffer.from(at + stepSize < paths.length ? chunk : chunk + tail);
  }
}

/** What `makeOnce` makes, and in whose turn. */
type SitemapCache<V> = {
  key: string;
  turn: string;
  places: FairShare<string>;
  /** What is being made, by key. */
  running: SharedRuns<string, V>;
  /** Returns the value if it was made before and can still be used. */
  kept: () => V | undefined;
  make: () => Promise<V>;
};

/**
 * Returns the kept value, or makes one in the visitor's turn. Concurrent requests share a value that is being made, but not one that still waits
 * for its turn, which may be long in coming if its visitor has much waiting. Each begins in a turn of the event loop, because with an embedded
 * database nothing else would run between a page and the next.
 *
 * @throws Problem `unavailable` if it gets no turn
 */
export async function makeOnce<V>({ key, turn, places, running, kept, make }: SitemapCache<V>): Promise<V> {
  const found = (): V | Promise<V> | undefined => kept() ?? running.get(key);
  const inTurn = async (): Promise<V> => {
    await nextTurn();
    return kept() ?? running.run(key, make);
  };
  return found() ?? runInTurn(places, turn, inTurn);
}
