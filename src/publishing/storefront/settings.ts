import { isOwnPath, isTimeZone, parseLink } from "./links.ts";
import { asReservations, type ReservationSettings } from "./reservation-settings.ts";

const themes = ["modern", "classic", "playful"] as const;
export type Theme = (typeof themes)[number];

/** A page of the shop's own, at `/pages/SLUG`. `text` is Markdown. */
export type TextPage = { slug: string; title: string; text: string };

/**
 * The settings of a built-in storefront, the `storefront` of a `petstore.json` (specification 6.7). The pages themselves come from the account's
 * catalogue, so a deployment has only the owner's settings and files. Settings that were stored by an earlier release lack the optional fields.
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
  /** Default: `modern`. */
  theme?: Theme | undefined;
  /**
   * The picture at the top of the first page: the path of a deployed file, `animals/ID` for the first photo of an animal, `animals/ID/photos/ID` for another
   * one, or `none`. Default: a photo of the first available animal with one.
   */
  hero?: string | undefined;
  /** The button at the top of the first page. Default: one that leads to the animals. */
  action?: { label: string; link: string } | undefined;
  /** The IANA name of the shop's time zone. With it, pages say whether the shop is open. */
  timeZone?: string | undefined;
  /** Undefined if the shop takes none, and in deployments of earlier releases. */
  reservations?: ReservationSettings | undefined;
  /** The addresses of the shop's pages at social networks. */
  social?: string[] | undefined;
  pages?: TextPage[] | undefined;
};

/** Refuses the settings: the text says which field is wrong, and what to write. */
type Refuse = (why: string) => never;

const colourDefault = "#0b6b58";
const hoursMax = 14;
const logoSideMax = 10_000;
const socialMax = 8;
/** The most pages of a shop's own, and the longest parts of one. */
export const pageLimits = { countMax: 8, slugMax: 40, titleMax: 60, textMax: 8_000 };
const fields = [
  "colour",
  "tagline",
  "about",
  "logo",
  "logoSize",
  "icon",
  "contact",
  "hours",
  "reservations",
  "theme",
  "hero",
  "action",
  "timeZone",
  "social",
  "pages",
];

/** Parses the settings. `refuse` throws. */
export function parseStorefront(value: unknown, refuse: Refuse): StorefrontSettings {
  const given = asObject(value, "`storefront`", fields, refuse);
  const contact = asObject(given["contact"] ?? {}, "`storefront.contact`", ["email", "phone", "address"], refuse);
  const text = (from: Record<string, unknown>, name: string, lengthMax: number, where = "storefront"): string | undefined =>
    asText(from[name], `\`${where}.${name}\``, lengthMax, refuse);
  const colour = text(given, "colour", 7) ?? colourDefault;
  if (!/^#[0-9a-f]{6}$/i.test(colour)) refuse('`storefront.colour` must be six hexadecimal digits, as in "#0b6b58".');
  const email = text(contact, "email", 200, "storefront.contact");
  if (email !== undefined && !/^[^\s@<>"]+@[^\s@<>"]+$/.test(email)) refuse("`storefront.contact.email` must be an email address.");
  const hero = text(given, "hero", 200);
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
    reservations: asReservations(given["reservations"], refuse),
    theme: asTheme(text(given, "theme", 20), refuse),
    hero:
      hero === "none" || heroAnimal(hero) !== undefined
        ? hero
        : asPicture(hero, "hero", refuse, ", `none`, `animals/ID` or `animals/ID/photos/ID`"),
    action: asAction(given["action"], refuse),
    timeZone: asTimeZone(text(given, "timeZone", 60), refuse),
    social: asSocial(given["social"], refuse),
    pages: asPages(given["pages"], refuse),
  };
}

/** Parses `animals/ID` and `animals/ID/photos/ID`. Returns undefined for any other picture at the top. */
export function heroAnimal(hero: string | undefined): { id: number; photoId: number | undefined } | undefined {
  const [, id, photoId] = /^animals\/([1-9]\d{0,14})(?:\/photos\/([1-9]\d{0,14}))?$/.exec(hero ?? "") ?? [];
  return id === undefined ? undefined : { id: Number(id), photoId: photoId === undefined ? undefined : Number(photoId) };
}

/** `others`: further values that the field allows, for the message. */
function asPicture(path: string | undefined, name: string, refuse: Refuse, others = ""): string | undefined {
  if (path !== undefined && (!/^[\w./-]+\.(?:png|jpe?g|webp|avif|svg)$/i.test(path) || /^\/|(?:^|\/)\./.test(path)))
    refuse(`\`storefront.${name}\` must be the path of a picture in the folder, as in "${name}.png"${others}.`);
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
  return asList(value, "hours", hoursMax, refuse).map((entry, index) => {
    const where = `storefront.hours[${index}]`;
    const given = asObject(entry, `\`${where}\``, ["days", "time"], refuse);
    const days = asText(given["days"], `\`${where}.days\``, 50, refuse) ?? refuse(`\`${where}.days\` is missing, as in "Mon – Fri".`);
    const time = asText(given["time"], `\`${where}.time\``, 50, refuse) ?? refuse(`\`${where}.time\` is missing, as in "9 – 18".`);
    return { days, time };
  });
}

function asTheme(name: string | undefined, refuse: Refuse): Theme | undefined {
  const theme = themes.find((one) => one === name);
  if (name !== undefined && theme === undefined)
    refuse(`\`storefront.theme\` must be ${themes.slice(0, -1).join(", ")} or ${themes.at(-1)}.`);
  return theme;
}

function asAction(value: unknown, refuse: Refuse): StorefrontSettings["action"] {
  if (value === undefined || value === null) return undefined;
  const given = asObject(value, "`storefront.action`", ["label", "link"], refuse);
  const part = (name: string, lengthMax: number): string =>
    asText(given[name], `\`storefront.action.${name}\``, lengthMax, refuse) ?? refuse(`\`storefront.action.${name}\` is missing.`);
  const [label, link] = [part("label", 40), part("link", 500)];
  if (!isOwnPath(link) && parseLink(link) === undefined)
    refuse('`storefront.action.link` must be a path of the site, as in "/pages/adoption", or an http, https, mailto or tel address.');
  return { label, link };
}

function asTimeZone(name: string | undefined, refuse: Refuse): string | undefined {
  if (name !== undefined && !isTimeZone(name)) refuse('`storefront.timeZone` must be the name of a time zone, as in "Europe/Berlin".');
  return name;
}

function asSocial(value: unknown, refuse: Refuse): string[] | undefined {
  const list = asList(value, "social", socialMax, refuse);
  const links = list.map((entry, index) => {
    const where = `\`storefront.social[${index}]\``;
    const link = asText(entry, where, 200, refuse);
    if (link === undefined || !link.startsWith("https://") || parseLink(link) === undefined)
      refuse(`${where} must be an https address, as in "https://www.instagram.com/petshop".`);
    return link;
  });
  return links.length === 0 ? undefined : links;
}

function asPages(value: unknown, refuse: Refuse): TextPage[] | undefined {
  const { countMax, slugMax, titleMax, textMax } = pageLimits;
  const slugs = new Set<string>();
  const pages = asList(value, "pages", countMax, refuse).map((entry, index) => {
    const where = `storefront.pages[${index}]`;
    const given = asObject(entry, `\`${where}\``, ["slug", "title", "text"], refuse);
    const part = (name: string, lengthMax: number): string =>
      asText(given[name], `\`${where}.${name}\``, lengthMax, refuse) ?? refuse(`\`${where}.${name}\` is missing.`);
    const page = { slug: part("slug", slugMax), title: part("title", titleMax), text: part("text", textMax) };
    if (!/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(page.slug))
      refuse(`\`${where}.slug\` must be lower-case letters, digits and hyphens, as in "adoption".`);
    if (slugs.has(page.slug)) refuse(`\`${where}.slug\` is that of another page.`);
    slugs.add(page.slug);
    return page;
  });
  return pages.length === 0 ? undefined : pages;
}

function asList(value: unknown, name: string, max: number, refuse: Refuse): unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || value.length > max) refuse(`\`storefront.${name}\` must be a list of at most ${max} entries.`);
  return value as unknown[];
}

function asText(value: unknown, where: string, lengthMax: number, refuse: Refuse): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string" || value.length > lengthMax || /[\0\ud800-\udfff]/u.test(value))
    refuse(`${where} must be a text of at most ${lengthMax} characters.`);
  const text = value.trim();
  return text === "" ? undefined : text;
}

function asObject(value: unknown, where: string, known: string[], refuse: Refuse): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) refuse(`${where} must be an object in braces.`);
  const unknown = Object.keys(value).find((key) => !known.includes(key));
  if (unknown !== undefined) refuse(`${where} has an unknown field "${unknown.slice(0, 50)}"; known are ${known.join(", ")}.`);
  return value as Record<string, unknown>;
}
