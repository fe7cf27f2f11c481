import { photoPath } from "../photos/photos.ts";
import { chosenFact, factsList } from "./facts.ts";
import { logoPath, pageOf, placeholder, telephone } from "./layout.ts";
import { markup, jsonMarkup, type Markup } from "./markup.ts";
import type { Shop, ShownAnimal, ShownCategory, ShownFact, ShownPhoto } from "./storefront.ts";

/** One page of the list of animals. */
export type ListPage = {
  animals: ShownAnimal[];
  categories: ShownCategory[];
  category: ShownCategory | undefined;
  q: string | undefined;
  fact: ShownFact | undefined;
  /** Where the next page begins. */
  next: number | undefined;
  isFirst: boolean;
};

const statusWords = { available: "Available", pending: "Reserved", sold: "Sold" };
const schemaAvailability = { available: "InStock", pending: "LimitedAvailability", sold: "SoldOut" };

/** The home page, a category, a search, or a later page of one of them. */
export function listPage(shop: Shop, page: ListPage): Markup {
  const { name, settings } = shop;
  const { category, q, fact, isFirst } = page;
  const chosen = fact && chosenFact(fact, category);
  const heading = q !== undefined ? `Animals named “${q}”` : (chosen ?? category?.name ?? settings.tagline ?? `Welcome to ${name}`);
  const title = (q ?? chosen ?? category?.name) === undefined ? name : `${q ?? chosen ?? category?.name ?? ""} · ${name}`;
  const about = settings.about ?? `Animals looking for a home at ${name}.`;
  const isHome = q === undefined && category === undefined && fact === undefined;
  return pageOf(shop, {
    title,
    description: short(category === undefined ? about : `${category.name} at ${name}.`),
    path: q === undefined && fact === undefined && isFirst ? addressOf({ category: category?.id }) : undefined,
    picture: pathOf(page.animals.find(({ photos }) => photos.length > 0)?.photos[0]),
    head: isHome ? jsonLd(storeData(shop)) : undefined,
    search: q,
    main: markup`<div class="hero">
        <div class="wide">
          <h1>${heading}</h1>
          ${isHome && isFirst && settings.about !== undefined && markup`<p>${settings.about}</p>`}
        </div>
      </div>
      <div class="wide">
        ${chips(page)}${
          page.animals.length === 0
            ? emptyOf(page)
            : markup`<ul class="grid">
                ${page.animals.map((animal, index) => cardOf(animal, page.categories, index))}
              </ul>`
        }${moreOf(page)}
      </div>`,
  });
}

function chips({ categories, category, q }: ListPage): Markup | undefined {
  if (categories.length === 0) return undefined;
  const all = markup`<li><a href="/" ${category === undefined && q === undefined && markup` aria-current="page"`}>All animals</a></li>`;
  const own = categories.map(
    ({ id, name }) =>
      markup`<li><a href="${addressOf({ category: id })}" ${id === category?.id && markup` aria-current="page"`}>${name}</a></li>`,
  );
  return markup`<nav aria-label="Categories">
    <ul class="chips">
      ${all}${own}
    </ul>
  </nav>`;
}

/** Browsers load the pictures of the first row at once, and the others when they are scrolled to. */
function cardOf({ id, name, categoryId, status, price, photos }: ShownAnimal, categories: ShownCategory[], index: number): Markup {
  const category = categories.find((one) => one.id === categoryId);
  return markup`<li class="card">
    <div class="frame">${photos[0] === undefined ? placeholder : pictureOf(photos[0], "(max-width: 34rem) 92vw, 18rem", { isLazy: index > 2 })}</div>
    <div class="facts">
      <h2><a href="/animals/${id}">${name}</a></h2>
      ${category !== undefined && markup`<p>${category.name}</p>`}
      <div class="row">
        ${price !== null && markup`<span class="price">${priceOf(price)}</span>`}<span class="badge ${status}">${statusWords[status]}</span>
      </div>
    </div>
  </li>`;
}

function emptyOf({ q, fact }: ListPage): Markup {
  const words =
    fact !== undefined && q === undefined
      ? "No animal for sale is like this at the moment."
      : q === undefined
        ? "No animals are for sale here at the moment. Please check back soon."
        : "No animal for sale has a name that begins like this.";
  return markup`<p class="empty">${words}</p>`;
}

function moreOf({ next, isFirst, category, q, fact }: ListPage): Markup {
  const first = addressOf({ category: category?.id, fact });
  return markup`<nav class="more" aria-label="Pages">
    ${(!isFirst || q !== undefined) && markup`<a class="button second" href="${first}">${q === undefined ? "First page" : "All animals"}</a>`}${next !== undefined && markup`<a class="button" rel="next" href="${addressOf({ category: category?.id, fact, before: next })}">More animals</a>`}
  </nav>`;
}

/** The page of one animal. */
export function animalPage(shop: Shop, animal: ShownAnimal, category: ShownCategory | undefined): Markup {
  const { name, settings } = shop;
  const { id, status, description, price, facts, photos } = animal;
  const path = `/animals/${id}`;
  const [first, ...others] = photos;
  const { email, phone } = settings.contact;
  const subject = `mailto:${email}?subject=${encodeURIComponent(animal.name)}`;
  const plain = `${animal.name}${category === undefined ? "" : `, ${category.name}`} at ${name}.`;
  return pageOf(shop, {
    title: `${animal.name} · ${name}`,
    description: short(description ?? plain),
    path,
    picture: pathOf(first),
    head: jsonLd(productData(shop, animal, category)),
    main: markup`<div class="wide">
      <nav class="crumbs" aria-label="Breadcrumb">
        <a href="/">All animals</a
        >${category !== undefined && markup` / <a href="${addressOf({ category: category.id })}">${category.name}</a>`}
      </nav>
      <article class="pet">
        <div class="gallery">
          <div class="frame">${first === undefined ? placeholder : pictureOf(first, "(max-width: 48rem) 92vw, 40rem")}</div>
          ${others.length > 0 && markup`<div class="others">${others.map((photo) => pictureOf(photo, "(max-width: 48rem) 30vw, 13rem", { isLazy: true }))}</div>`}
        </div>
        <div>
          <h1>${animal.name}</h1>
          ${price !== null && markup`<p class="price">${priceOf(price)}</p>`}
          <p><span class="badge ${status}">${statusWords[status]}</span></p>
          ${factsList(facts)}${description !== null && markup`<p class="text">${description}</p>`}
          <div class="actions">
            ${email !== undefined && status !== "sold" && markup`<a class="button" href="${subject}">Ask about ${animal.name}</a>`}${phone !== undefined && markup`<a class="button second" href="${telephone(phone)}">Call us</a>`}
          </div>
        </div>
      </article>
    </div>`,
  });
}

/** The page of an unknown address. */
export function notFoundPage(shop: Shop): Markup {
  return pageOf(shop, {
    title: `Not found · ${shop.name}`,
    description: `There is no such page at ${shop.name}.`,
    path: undefined,
    main: markup`<div class="hero">
      <div class="wide">
        <h1>This page is not here</h1>
        <p>The animal may have found a home.</p>
        <p><a class="button" href="/">See all animals</a></p>
      </div>
    </div>`,
  });
}

type ListAddress = { category?: number | undefined; fact?: ShownFact | undefined; before?: number | undefined };

/** Returns the address of a page of the list. */
export function addressOf({ category, fact, before }: ListAddress): string {
  const query = new URLSearchParams({
    ...(category !== undefined && { category: `${category}` }),
    ...(fact !== undefined && { [fact.name]: fact.value }),
    ...(before !== undefined && { before: `${before}` }),
  });
  return query.size === 0 ? "/" : `/?${query.toString()}`;
}

/** A photo in the size and format that the browser chooses. Width and height keep its place free while it loads. */
function pictureOf({ alt, forms }: ShownPhoto, sizes: string, { isLazy = false } = {}): Markup {
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
      alt="${alt}"
      ${isLazy ? markup` loading="lazy"` : markup` fetchpriority="high"`}
      decoding="async"
  /></picture>`;
}

function pathOf(photo: ShownPhoto | undefined): string | undefined {
  const form = photo?.forms.findLast(({ type }) => type === "image/webp");
  return form && photoPath(form);
}

function priceOf({ amount, currency }: { amount: number; currency: string }): string {
  const format = new Intl.NumberFormat("en", { style: "currency", currency });
  return format.format(amount / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2));
}

function short(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length <= 160 ? line : `${Array.from(line).slice(0, 157).join("")}…`;
}

function jsonLd(data: object): Markup {
  return markup`<script type="application/ld+json">
    ${jsonMarkup({ "@context": "https://schema.org", ...data })}
  </script>`;
}

function storeData(shop: Shop): object {
  const { name, origin, settings } = shop;
  const { about, contact } = settings;
  const { email, phone, address } = contact;
  const logo = logoPath(shop);
  return {
    "@type": "PetStore",
    name,
    url: `${origin}/`,
    ...(about && { description: about }),
    ...(logo && { logo: origin + logo, image: origin + logo }),
    ...(email && { email }),
    ...(phone && { telephone: phone }),
    ...(address && { address }),
  };
}

function productData(
  { origin, name: seller }: Shop,
  { id, name, description, price, photos, status }: ShownAnimal,
  category: ShownCategory | undefined,
): object {
  const url = `${origin}/animals/${id}`;
  const images = photos.flatMap((photo) => pathOf(photo) ?? []);
  const digits =
    price === null
      ? 0
      : (new Intl.NumberFormat("en", { style: "currency", currency: price.currency }).resolvedOptions().maximumFractionDigits ?? 2);
  const offers = price !== null && {
    offers: {
      "@type": "Offer",
      url,
      price: (price.amount / 10 ** digits).toFixed(digits),
      priceCurrency: price.currency,
      availability: `https://schema.org/${schemaAvailability[status]}`,
      seller: { "@type": "PetStore", name: seller },
    },
  };
  return {
    "@type": "Product",
    name,
    sku: String(id),
    url,
    ...(category && { category: category.name }),
    ...(description !== null && { description }),
    ...(images.length > 0 && { image: images.map((path) => origin + path) }),
    ...offers,
  };
}
