import { formatPrice, type Price } from "../../platform/currencies.ts";
import { photoPath } from "../photos/photos.ts";
import { type Markup, markup } from "./markup.ts";
import { silhouetteOf } from "./silhouettes.ts";
import type { ShownAnimal, ShownCategory, ShownPhoto } from "./storefront.ts";

export const statusWords = { available: "Available", pending: "Reserved", sold: "Sold" };

/** An animal as lists show it. */
export type Card = { animal: ShownAnimal; category: ShownCategory | undefined; isNew: boolean };

/** How wide a photo of a card is. */
const cardSizes = "(max-width: 34rem) 46vw, 17rem";

/**
 * The card of an animal. `level`: that of its heading. Browsers load the photos of the first row of a page at once, and the others when they are scrolled
 * to.
 */
export function cardOf(card: Card, level: 2 | 3, { isLazy }: { isLazy: boolean }): Markup {
  const { animal, category, isNew } = card;
  const { id, name, status, price } = animal;
  const link = markup`<a href="/animals/${id}">${name}</a>`;
  const ribbon = ribbonOf(animal, isNew);
  return markup`<li class="card">
    <div class="frame">${photoOf(card, cardSizes, { isLazy })}${ribbon}</div>
    <div class="facts">
      ${level === 2 ? markup`<h2>${link}</h2>` : markup`<h3>${link}</h3>`}
      ${category !== undefined && markup`<p>${category.name}</p>`}
      <div class="row">
        ${price !== null && markup`<span class="price">${priceOf(price)}</span>`}${status === "available" && markup`<span class="badge">${statusWords[status]}</span>`}
      </div>
    </div>
  </li>`;
}

/** The ribbon on an animal's photo: why it cannot be bought, or that it is new. */
export function ribbonOf({ status }: ShownAnimal, isNew: boolean): Markup | undefined {
  if (status !== "available") return markup`<span class="ribbon">${statusWords[status]}</span>`;
  return isNew ? markup`<span class="ribbon new">New</span>` : undefined;
}

/** The first photo of an animal, or without one a silhouette. */
export function photoOf({ animal, category }: Card, sizes: string, options: PictureOptions = {}): Markup {
  const [photo] = animal.photos;
  return photo === undefined ? silhouetteOf(`${animal.facts.species ?? ""} ${category?.name ?? ""}`) : pictureOf(photo, sizes, options);
}

/** `alt`: replaces the photo's own. */
type PictureOptions = { isLazy?: boolean; alt?: string };

/** A photo in the size and format that the browser chooses. Width and height keep its place free while it loads. */
export function pictureOf(
  { alt, focus, forms }: ShownPhoto,
  sizes: string,
  { isLazy = false, alt: shownAlt = alt }: PictureOptions = {},
): Markup {
  const setOf = (wanted: string): string =>
    forms
      .filter(({ type }) => type === wanted)
      .map((form) => `${photoPath(form)} ${form.width}w`)
      .join(", ");
  const shown = forms.findLast(({ type, width }) => type === "image/webp" && width <= 960) ?? forms.at(-1)!;
  return markup`<picture
    ><source type="image/avif" srcset="${setOf("image/avif")}" sizes="${sizes}" />
    <img
      src="${photoPath(shown)}"
      srcset="${setOf("image/webp")}"
      sizes="${sizes}"
      width="${shown.width}"
      height="${shown.height}"
      alt="${shownAlt}"
      ${focus !== null && focusOf(focus)}
      ${isLazy ? markup` loading="lazy"` : markup` fetchpriority="high"`}
      decoding="async"
  /></picture>`;
}

/** Attributes that rules of the style sheet match, because the Content-Security-Policy of the pages forbids `style` attributes. */
function focusOf({ x, y }: { x: number; y: number }): Markup {
  return markup` data-x="${Math.round(x / 10)}" data-y="${Math.round(y / 10)}"`;
}

/** The path of the largest form of a photo. */
export function pathOf(photo: ShownPhoto | undefined): string | undefined {
  const form = photo?.forms.findLast(({ type }) => type === "image/webp");
  return form && photoPath(form);
}

export const priceOf = (price: Price): string => formatPrice(price, "en");

/** A text as search engines show it: one line of at most 160 characters. */
export function short(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length <= 160 ? line : `${Array.from(line).slice(0, 157).join("")}…`;
}
