import type { Price } from "../../platform/currencies.ts";
import type { Coding } from "../../platform/http/negotiation.ts";
import type { ListStatus, ShownFact, ShownFactName, ShownFacts } from "./requests.ts";
import type { StorefrontSettings } from "./settings.ts";

/** A built-in storefront of an account. */
export type Storefront = { accountId: number; name: string; settings: StorefrontSettings };

/** A storefront as its pages need it. `origin` is the one that search engines should list. */
export type Shop = Storefront & { origin: string };

/** A body that is made while it is sent. */
export type StreamedBody = { bytes: number; chunks: () => AsyncIterable<Buffer> };

/** A page in one coding. `etag`: the same for all codings. */
export type RenderedPage = {
  status: number;
  type: string;
  etag: string;
  coding: Coding | undefined;
  body: Buffer | StreamedBody;
  headers: Record<string, string>;
};

/**
 * What a visitor asks for. `coding`: the one that the client prefers. `turn`: whose turns the request takes, as `12 192.0.2.1`. `isPreview`: the shop
 * has settings that no visitor sees, so its page is not kept.
 */
export type PageRequest = { path: string; query: string; coding: Coding | undefined; turn: string; isPreview?: true };

/**
 * Renders a page of a shop. Returns a page for every path: the 404 page for an unknown one.
 *
 * @throws Problem `unavailable` if the page gets no turn
 */
export type RenderStorefront = (shop: Shop, request: PageRequest) => Promise<RenderedPage>;

/** The parts of an account's catalogue that a storefront reads. */
export type Catalogue = {
  /** Changes when anything does that a storefront shows of the catalogue, and not with orders or stock that change nothing visible. */
  version: (accountId: number) => Promise<string>;
  categories: (accountId: number) => Promise<ShownCategory[]>;
  /** Up to `limit` animals that are not sold. */
  animals: (accountId: number, wanted: AnimalsRequest, limit: number) => Promise<ShownAnimal[]>;
  animal: (accountId: number, id: number) => Promise<ShownAnimal | undefined>;
  /** Up to `most` values of a fact among animals that are not sold, of a category or of all, in alphabetical order. `isComplete`: whether these are all. */
  valuesOf: (
    accountId: number,
    wanted: { name: ShownFactName; categoryId?: number | undefined },
    most: number,
  ) => Promise<{ values: string[]; isComplete: boolean }>;
  /** The identifiers of the newest animals that are not sold. */
  newest: (accountId: number, limit: number) => Promise<number[]>;
  /** The identifiers of the animals that were added last, at most a few, and when, in ms. */
  arrivals: (accountId: number) => Promise<{ id: number; at: number }[]>;
};

/** `isEmpty`: it has no animal that is not sold, so that no page leads to it. */
export type ShownCategory = { id: number; name: string; isEmpty: boolean };
export type ShownPhoto = {
  id: number;
  alt: string;
  focus: { x: number; y: number } | null;
  forms: { type: string; width: number; height: number; hash: string }[];
};
export type ShownAnimal = {
  id: number;
  name: string;
  categoryId: number;
  status: "available" | "pending" | "sold";
  description: string | null;
  price: Price | null;
  facts: ShownFacts;
  photos: ShownPhoto[];
};

/** Default: all that are not sold. The newest come first; `before`: only animals with a lower identifier; `fact`: only those with this fact. */
type ById = { before?: number | undefined; fact?: ShownFact | undefined };
/** By name. `q`: only animals whose names begin with it; `after`: those after this name. */
type ByName = { q?: string | undefined; after?: { name: string; id: number } | undefined };
export type AnimalsRequest = { categoryId?: number | undefined; status?: ListStatus | undefined } & (
  | ({ sort: "newest" } & ById)
  | ({ sort: "name" } & ByName)
);
