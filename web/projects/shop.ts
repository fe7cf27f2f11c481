import { pageLimits } from "../../src/publishing/storefront/settings.ts";
import { callsBelow, jsonOf, send } from "../calls/send.ts";
import type { Schemas } from "../calls/store.ts";
import { slugFrom } from "./slug.ts";

type Deployment = Schemas["Deployment"];

/** The fields of the shop's form; `hours` has a line for each day, as `Mon – Fri: 9 – 18`, and `social` one for each address. */
export type ShopValues = {
  name: string;
  colour: string;
  tagline: string;
  about: string;
  email: string;
  phone: string;
  address: string;
  hours: string;
  theme: string;
  timeZone: string;
  /** `animals/ID`, `animals/ID/photos/ID`, `none`, the path of a file, or nothing for a photo that the shop chooses. */
  hero: string;
  social: string;
  pages: ShopPage[];
  /** Whether visitors may reserve, for how many hours a unit is held, and the words above the form. */
  reserves: boolean;
  holdHours: string;
  reservationText: string;
};

/** A page of the shop's own. `slug` is its address, empty for one that is not saved yet; `text` is Markdown. */
export type ShopPage = { slug: string; title: string; text: string };

type Stored = {
  name?: string;
  settings: {
    colour: string;
    tagline?: string;
    about?: string;
    contact: { email?: string; phone?: string; address?: string };
    hours: { days: string; time: string }[];
    theme?: string;
    timeZone?: string;
    hero?: string;
    social?: string[];
    pages?: ShopPage[];
    reservations?: { enabled: boolean; holdHours: number; text?: string };
  };
};

const colourDefault = "#0b6b58";

/** Returns the form's values for a stored storefront, or for a new one if `stored` is null. */
export function shopValues(name: string, stored: string | null): ShopValues {
  const { name: own, settings } = stored === null ? ({} as Partial<Stored>) : (JSON.parse(stored) as Stored);
  const { colour = colourDefault, tagline = "", about = "", contact = {}, hours = [], reservations } = settings ?? {};
  const { theme = "modern", timeZone = "", hero = "", social = [], pages = [] } = settings ?? {};
  const { email = "", phone = "", address = "" } = contact;
  const { enabled: reserves = false, holdHours = 48, text: reservationText = "" } = reservations ?? {};
  return {
    name: own ?? name,
    colour,
    tagline,
    about,
    email,
    phone,
    address,
    hours: hours.map(({ days, time }) => `${days}: ${time}`).join("\n"),
    theme,
    timeZone,
    hero,
    social: social.join("\n"),
    pages,
    reserves,
    holdHours: String(holdHours),
    reservationText,
  };
}

/** Returns the request body for the form's values. */
function bodyOf({ hours, social, pages, reserves, holdHours, reservationText, ...values }: ShopValues): object {
  const reservations = { enabled: reserves, holdHours: Number(holdHours), text: reservationText };
  return { ...values, hours: hoursIn(hours), social: linesOf(social), pages: namedPages(pages), reservations };
}

/** Gives each new page an address by its title, which no other page has. Leaves out pages with neither title nor text. */
function namedPages(pages: readonly ShopPage[]): ShopPage[] {
  const taken = new Set(pages.map(({ slug }) => slug));
  return pages
    .filter(({ title, text }) => title.trim() !== "" || text.trim() !== "")
    .map((page) => {
      if (page.slug !== "") return page;
      const wanted =
        slugFrom(page.title)
          .slice(0, pageLimits.slugMax - 3)
          .replace(/-$/, "") || "page";
      const slug = [wanted, ...pages.map((_, place) => `${wanted}-${place + 2}`)].find((one) => !taken.has(one))!;
      taken.add(slug);
      return { ...page, slug };
    });
}

const linesOf = (text: string): string[] => text.split("\n").filter((line) => line.trim() !== "");

const addressOf = (projectId: number, part = ""): URL => new URL(`${callsBelow}/projects/${projectId}/storefront${part}`, location.href);

async function change(projectId: number, part: string, init: RequestInit): Promise<Deployment> {
  const headers = { accept: "application/json", ...(init.headers as Record<string, string>) };
  return (await (await send(new Request(addressOf(projectId, part), { ...init, headers }))).json()) as Deployment;
}

/** Publishes the built-in shop beside the project's files. @throws Refusal with the field that is wrong */
export function publishShop(projectId: number, values: ShopValues, { replacesStartPage = false } = {}): Promise<Deployment> {
  return change(projectId, "", {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: jsonOf({ ...bodyOf(values), replacesStartPage }),
  });
}

/** Returns the shop's first page as unsaved values would make it: a document without scripts. @throws Refusal with the field that is wrong */
export async function previewShop(projectId: number, values: ShopValues, signal: AbortSignal): Promise<string> {
  const headers = { accept: "application/json", "content-type": "application/json" };
  const request = new Request(addressOf(projectId, "/preview"), { method: "POST", headers, body: jsonOf(bodyOf(values)), signal });
  return ((await (await send(request)).json()) as { html: string }).html;
}

export function setLogo(projectId: number, file: File): Promise<Deployment> {
  return change(projectId, "/logo", { method: "PUT", headers: { "content-type": file.type }, body: file });
}

export function removeLogo(projectId: number): Promise<Deployment> {
  return change(projectId, "/logo", { method: "DELETE" });
}

/** The opening hours in the form's field. */
export const hoursIn = (text: string): { days: string; time: string }[] => linesOf(text).map(hoursOf);

/** Splits a line at its first colon, or before its first digit or "closed" if it has no colon or the colon is in a time such as `9:00`. */
function hoursOf(line: string): { days: string; time: string } {
  const at = line.includes(":") && !/^\D*\d+:/.test(line) ? line.indexOf(":") : line.search(/\d|\b(?:closed|geschlossen)\b/i);
  const [days, time] = at < 1 ? [line, ""] : [line.slice(0, at), line.slice(at).replace(/^:/, "")];
  return { days: days.trim(), time: time.trim() || "–" };
}
