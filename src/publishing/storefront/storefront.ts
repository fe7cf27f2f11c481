import type { Coding } from "../../platform/http/negotiation.ts";

/**
 * The settings of a built-in storefront, the `storefront` of a `petstore.json` (specification 6.7). The pages themselves come from the account's
 * catalogue, so a deployment holds only the owner's settings and files.
 */
export type StorefrontSettings = {
  /** The shop's colour, as `#rrggbb`. */
  colour: string;
  tagline: string | undefined;
  about: string | undefined;
  /** The path of a file of the deployment. */
  logo: string | undefined;
  /** In pixels: the page reserves the logo's space while it loads. */
  logoSize: { width: number; height: number } | undefined;
  /** The path of a square picture of the deployment, shown instead of the name's first letter. */
  icon: string | undefined;
  contact: { email: string | undefined; phone: string | undefined; address: string | undefined };
  hours: { days: string; time: string }[];
};

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

/** What a visitor asks for. `coding`: the one that the client prefers. `turn`: whose turns the request takes, as `12 192.0.2.1`. */
export type PageRequest = { path: string; query: string; coding: Coding | undefined; turn: string };

/**
 * Renders a page of a shop. Returns a page for every path: the 404 page for an unknown one.
 *
 * @throws Problem `unavailable` if the page gets no turn
 */
export type RenderStorefront = (shop: Shop, request: PageRequest) => Promise<RenderedPage>;

const colourDefault = "#0b6b58";
const hoursMax = 14;
const logoSideMax = 10_000;

/** Refuses the settings: the text says which field is wrong, and what to write. */
type Refuse = (why: string) => never;

/** Parses the settings. `refuse` throws. */
export function parseStorefront(value: unknown, refuse: Refuse): StorefrontSettings {
  const given = asObject(value, "`storefront`", ["colour", "tagline", "about", "logo", "logoSize", "icon", "contact", "hours"], refuse);
  const contact = asObject(given["contact"] ?? {}, "`storefront.contact`", ["email", "phone", "address"], refuse);
  const text = (from: Record<string, unknown>, name: string, lengthMax: number, where = "storefront"): string | undefined =>
    asText(from[name], `\`${where}.${name}\``, lengthMax, refuse);
  const colour = text(given, "colour", 7) ?? colourDefault;
  if (!/^#[0-9a-f]{6}$/i.test(colour)) refuse('`storefront.colour` must be six hexadecimal digits, as in "#0b6b58".');
  const email = text(contact, "email", 200, "storefront.contact");
  if (email !== undefined && !/^[^\s@<>"]+@[^\s@<>"]+$/.test(email)) refuse("`storefront.contact.email` must be an email address.");
  return {
    colour: colour.toLowerCase(),
    tagline: text(given, "tagline", 200),
    about: text(given, "about", 2_000),
    logo: asPicture(text(given, "logo", 200), "logo", refuse),
    logoSize: asSize(given["logoSize"], refuse),
    icon: asPicture(text(given, "icon", 200), "icon", refuse),
    contact: {
      email,
      phone: text(contact, "phone", 50, "storefront.contact"),
      address: text(contact, "address", 500, "storefront.contact"),
    },
    hours: asHours(given["hours"], refuse),
  };
}

function asPicture(path: string | undefined, name: string, refuse: Refuse): string | undefined {
  if (path !== undefined && (!/^[\w./-]+\.(?:png|jpe?g|webp|avif|svg)$/i.test(path) || /^\/|(?:^|\/)\./.test(path)))
    refuse(`\`storefront.${name}\` must be the path of a picture in the folder, as in "${name}.png".`);
  return path;
}

function asSize(value: unknown, refuse: Refuse): StorefrontSettings["logoSize"] {
  if (value === undefined || value === null) return undefined;
  const { width, height } = asObject(value, "`storefront.logoSize`", ["width", "height"], refuse);
  const isSide = (side: unknown): side is number => Number.isInteger(side) && Number(side) > 0 && Number(side) <= logoSideMax;
  if (!isSide(width) || !isSide(height))
    refuse(`\`storefront.logoSize\` must have \`width\` and \`height\` in pixels, up to ${logoSideMax}.`);
  return { width, height };
}

function asHours(value: unknown, refuse: Refuse): StorefrontSettings["hours"] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || value.length > hoursMax) refuse(`\`storefront.hours\` must be a list of at most ${hoursMax} entries.`);
  return (value as unknown[]).map((entry, index) => {
    const where = `storefront.hours[${index}]`;
    const given = asObject(entry, `\`${where}\``, ["days", "time"], refuse);
    const days = asText(given["days"], `\`${where}.days\``, 50, refuse) ?? refuse(`\`${where}.days\` is missing, as in "Mon – Fri".`);
    const time = asText(given["time"], `\`${where}.time\``, 50, refuse) ?? refuse(`\`${where}.time\` is missing, as in "9 – 18".`);
    return { days, time };
  });
}

function asText(value: unknown, where: string, lengthMax: number, refuse: Refuse): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string" || value.length > lengthMax || /[\0\ud800-\udfff]/u.test(value))
    refuse(`${where} must be a text of at most ${lengthMax} characters.`);
  const text = value.trim();
  return text === "" ? undefined : text;
}

function asObject(value: unknown, where: string, fields: string[], refuse: Refuse): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) refuse(`${where} must be an object in braces.`);
  const unknown = Object.keys(value).find((key) => !fields.includes(key));
  if (unknown !== undefined) refuse(`${where} has an unknown field "${unknown.slice(0, 50)}"; known are ${fields.join(", ")}.`);
  return value as Record<string, unknown>;
}

/** The parts of an account's catalogue that a storefront reads. */
export type Catalogue = {
  /** Changes when anything does that a storefront shows of the catalogue, and not with orders or stock that change nothing visible. */
  version: (accountId: number) => Promise<string>;
  categories: (accountId: number) => Promise<ShownCategory[]>;
  /** Up to `limit` animals that are not sold, the newest first; with `q`, those whose names begin with it, by name. */
  animals: (accountId: number, wanted: ListRequest, limit: number) => Promise<ShownAnimal[]>;
  animal: (accountId: number, id: number) => Promise<ShownAnimal | undefined>;
  /** The values of a fact that animals have which are not sold, among the first `most` of the fact, in the order of the alphabet. */
  valuesOf: (accountId: number, fact: ShownFactName, most: number) => Promise<string[]>;
  /** The identifiers of the newest animals that are not sold. */
  newest: (accountId: number, limit: number) => Promise<number[]>;
};

export type ShownCategory = { id: number; name: string };
export type ShownPhoto = { alt: string; forms: { type: string; width: number; height: number; hash: string }[] };
export type ShownAnimal = {
  id: number;
  name: string;
  categoryId: number;
  status: "available" | "pending" | "sold";
  description: string | null;
  price: { amount: number; currency: string } | null;
  facts: ShownFacts;
  photos: ShownPhoto[];
};

/** The facts by which a list filters, in the order in which pages show them. */
export const shownFactNames = ["species", "breed", "sex", "born", "colour", "size"] as const;
export type ShownFactName = (typeof shownFactNames)[number];
/** `own`: further facts, which the shop names itself. */
export type ShownFacts = { [Name in ShownFactName]?: string } & { own?: { name: string; value: string }[] };
export type ShownFact = { name: ShownFactName; value: string };

/** `before`: only animals with a lower identifier, because the newest come first. A search by `q` has one page, and leaves a fact out. */
type ListRequest = {
  categoryId: number | undefined;
  q: string | undefined;
  fact: ShownFact | undefined;
  before: number | undefined;
};
