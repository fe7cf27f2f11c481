import { factsList } from "./facts.ts";
import { pageOf, telephone } from "./layout.ts";
import { textMarkup } from "./markdown.ts";
import { type Markup, markup } from "./markup.ts";
import { type Card, cardOf, pathOf, photoOf, pictureOf, priceOf, ribbonOf, short, statusWords } from "./parts.ts";
import { addressOf } from "./requests.ts";
import type { TextPage } from "./settings.ts";
import type { Shop, ShownPhoto } from "./storefront.ts";
import { productData } from "./structured-data.ts";

const photoSizes = "(max-width: 50rem) 92vw, 40rem";

/** The page of one animal. `related`: others that a visitor may like. */
export function animalPage(shop: Shop, card: Card, related: Card[]): Markup {
  const { animal, category } = card;
  const { id, status, description, price, facts, photos } = animal;
  const plain = `${animal.name}${category === undefined ? "" : `, ${category.name}`} at ${shop.name}.`;
  return pageOf(shop, {
    title: `${animal.name} · ${shop.name}`,
    description: short(description ?? plain),
    path: `/animals/${id}`,
    picture: pathOf(photos[0]),
    head: productData(shop, animal, category),
    hasGallery: photos.length > 1,
    main: markup`<div class="wide">
      <nav class="crumbs" aria-label="Breadcrumb">
        <a href="/">All animals</a
        >${category !== undefined && markup` / <a href="${addressOf({ category: category.id })}">${category.name}</a>`}
      </nav>
      <article class="pet">
        ${galleryOf(card)}
        <div>
          <h1>${animal.name}</h1>
          ${price !== null && markup`<p class="price">${priceOf(price)}</p>`}
          <p><span class="badge ${status}">${statusWords[status]}</span></p>
          ${factsList(facts)}${description !== null && markup`<p class="text">${description}</p>`}
          ${actionsOf(shop, card)}
        </div>
      </article>
      ${
        related.length > 0 &&
        markup`<section>
          <h2>You may also like</h2>
          <ul class="grid">
            ${related.map((one) => cardOf(one, 3, { isLazy: true }))}
          </ul>
        </section>`
      }
    </div>`,
  });
}

function actionsOf({ settings: { contact, reservations } }: Shop, { animal: { id, name, status } }: Card): Markup | undefined {
  const { email, phone } = contact;
  const subject = `mailto:${email}?subject=${encodeURIComponent(name)}`;
  const hasEmail = email !== undefined && status !== "sold";
  const hasForm = reservations?.enabled === true && status !== "sold";
  const formLabel = status === "available" ? "Reserve or ask" : `Ask about ${name}`;
  if (!hasEmail && !hasForm && phone === undefined) return undefined;
  return markup`<div class="actions">
    ${hasForm && markup`<a class="button" rel="nofollow" href="/animals/${id}/reserve">${formLabel}</a>`}${hasEmail && markup`<a class="button${hasForm && " second"}" href="${subject}">${hasForm ? "Email us" : `Ask about ${name}`}</a>`}${phone !== undefined && markup`<a class="button second" href="${telephone(phone)}">Call us</a>`}
  </div>`;
}

/** The photos in a strip that scrolls and snaps, with thumbnails that lead to them. It needs no script; with one, buttons and arrow keys turn it too. */
function galleryOf(card: Card): Markup {
  const { animal, isNew } = card;
  const { name, photos } = animal;
  const [first] = photos;
  const shape = first === undefined ? "even" : shapeOf(first);
  if (photos.length < 2)
    return markup`<div class="gallery">
      ${ribbonOf(animal, isNew)}
      <div class="strip ${shape}"><div class="frame">${photoOf(card, photoSizes, first && { alt: first.alt || name })}</div></div>
    </div>`;
  return markup`<div class="gallery">
    ${ribbonOf(animal, isNew)}
    <section class="strip ${shape}" tabindex="0" aria-label="Photos of ${name}">
      ${photos.map(
        (photo, index) =>
          markup`<div class="frame ${shapeOf(photo) !== shape && "whole"}" id="photo-${index + 1}">${pictureOf(photo, photoSizes, { isLazy: index > 0, alt: photo.alt || `${name}, photo ${index + 1}` })}</div>`,
      )}
    </section>
    <div class="steps">
      <button type="button" hidden aria-label="Previous photo">←</button><span class="count" aria-live="polite">${photos.length} photos</span
      ><button type="button" hidden aria-label="Next photo">→</button>
    </div>
    <ul class="thumbs">
      ${photos.map(
        (photo, index) =>
          markup`<li>
            <a href="#photo-${index + 1}" aria-label="Photo ${index + 1}"
              ><div class="frame">${pictureOf(photo, "5rem", { isLazy: true, alt: "" })}</div></a
            >
          </li>`,
      )}
    </ul>
  </div>`;
}

/** The shape of the frame that shows most of a photo. */
function shapeOf({ forms }: ShownPhoto): "tall" | "even" | "broad" {
  const { width, height } = forms.at(-1)!;
  return width < height * 0.9 ? "tall" : width > height * 1.15 ? "broad" : "even";
}

/** A page of the shop's own. */
export function textPage(shop: Shop, { slug, title, text }: TextPage): Markup {
  return pageOf(shop, {
    title: `${title} · ${shop.name}`,
    description: short(text.replaceAll(/[#*_>[\]]/g, "")),
    path: `/pages/${slug}`,
    main: markup`<article class="wide prose">
      <h1>${title}</h1>
      ${textMarkup(text)}
    </article>`,
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
        <div>
          <h1>This page is not here</h1>
          <p>The animal may have found a home.</p>
          <div class="actions"><a class="button large" href="/">See all animals</a></div>
        </div>
      </div>
    </div>`,
  });
}
