import { networkOf, pathTo } from "./links.ts";
import { markup, Markup } from "./markup.ts";
import { weekOf } from "./opening.ts";
import { script } from "./script.ts";
import { styleFor } from "./sheet.ts";
import { pawSign } from "./silhouettes.ts";
import type { Shop } from "./storefront.ts";
import { preloads } from "./themes.ts";

export type PageContent = {
  title: string;
  description: string;
  /** The canonical path; undefined for a page that search engines should not list. */
  path: string | undefined;
  /** The path of a picture for previews. */
  picture?: string | undefined;
  head?: Markup | undefined;
  main: Markup;
  search?: string | undefined;
  /** Whether the page says at its top what the shop says about itself, so that the footer need not. */
  hasAbout?: boolean;
  hasGallery?: boolean;
};

export function pageOf(shop: Shop, page: PageContent): Markup {
  const { title, path, head, main, hasGallery = false } = page;
  const bar = barOf(shop);
  return markup`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        ${metaOf(shop, page)}
        ${preloads(shop.settings.theme ?? "modern").map((font) => markup`<link rel="preload" href="/${font}" as="font" type="font/woff2" crossorigin />`)}
        ${iconLink(shop)}
        <style>${styleFor(shop.settings).markup}</style>
        ${head}
      </head>
      <body>
        <a class="skip" href="#main">Skip to the content</a>
        ${bar}${headerOf(shop, page)}
        <main id="main" tabindex="-1">${main}</main>
        ${footerOf(shop, path, page.hasAbout ?? false)}
        ${(bar !== undefined || hasGallery) && markup`<script>${new Markup(script)}</script>`}
      </body>
    </html> `;
}

function metaOf(shop: Shop, { title, description, path, picture }: PageContent): Markup {
  const { name, origin, settings } = shop;
  const shown = picture ?? logoPath(shop);
  const canonical =
    path === undefined ? markup`<meta name="robots" content="noindex" />` : markup`<link rel="canonical" href="${origin + path}" />`;
  return markup`<meta name="description" content="${description}" />
    ${canonical}
    <meta property="og:type" content="website" />
    <meta property="og:site_name" content="${name}" />
    <meta property="og:title" content="${title}" />
    <meta property="og:description" content="${description}" />
    ${shown !== undefined && markup`<meta property="og:image" content="${origin + shown}" />`}
    <meta name="theme-color" content="${settings.colour}" />`;
}

/** Says whether the shop is open, where its hours and its time zone are known. Without JavaScript it says the hours. */
function barOf({ settings: { hours, timeZone, contact } }: Shop): Markup | undefined {
  const week = timeZone === undefined ? undefined : weekOf(hours);
  if (week === undefined) return undefined;
  const { phone } = contact;
  const words = hours.map(({ days, time }) => `${days} ${time}`).join(" · ");
  return markup`<aside class="bar" aria-label="Opening hours">
    <div class="wide">
      <p data-zone="${timeZone}" data-week="${JSON.stringify(week)}">${words}</p>
      ${phone !== undefined && markup`<a href="${telephone(phone)}"><span class="short">Call us</span><span class="number">${phone}</span></a>`}
    </div>
  </aside>`;
}

function headerOf(shop: Shop, { path, search }: PageContent): Markup {
  const links = (shop.settings.pages ?? []).slice(0, linksMax).map(({ slug, title }) => linkTo(slug, title, path));
  return markup`<header class="top">
    <div class="wide">
      <a class="brand" href="/">${brandOf(shop)}</a>
      ${
        links.length > 0 &&
        markup`<nav aria-label="Shop">
          <ul class="links">
            ${links}
          </ul>
        </nav>`
      }
      <form class="search" role="search" action="/">
        <input
          type="search"
          name="q"
          value="${search ?? ""}"
          maxlength="100"
          aria-label="Search animals by name"
          placeholder="Search by name"
        /><button>Search</button>
      </form>
    </div>
  </header>`;
}

/** The most pages that the header names; the footer names all. */
const linksMax = 4;

function linkTo(slug: string, title: string, path: string | undefined): Markup {
  const target = `/pages/${slug}`;
  return markup`<li><a href="${target}" ${target === path && markup` aria-current="page"`}>${title}</a></li>`;
}

/** The path of the shop's logo; undefined without one. */
export function logoPath({ settings: { logo } }: Shop): string | undefined {
  return logo && pathTo(logo);
}

function iconLink({ settings: { icon } }: Shop): Markup {
  if (icon === undefined) return markup`<link rel="icon" href="/favicon.ico" type="image/svg+xml" />`;
  return markup`<link rel="icon" href="${pathTo(icon)}" /><link rel="apple-touch-icon" href="${pathTo(icon)}" />`;
}

const logoHeight = 44;
/** Wider logos are shown lower. */
const logoWidthMax = 220;

/** The alternative text of the logo is the shop's name, so screen readers skip the name beside it. */
function brandOf(shop: Shop): Markup {
  const { name, settings } = shop;
  const path = logoPath(shop);
  if (path === undefined) return markup`<span class="mark">${pawSign}</span><span>${name}</span>`;
  const { width, height } = settings.logoSize ?? { width: logoHeight, height: logoHeight };
  const scale = Math.min(logoHeight / height, logoWidthMax / width);
  const size = markup`width="${Math.max(1, Math.round(width * scale))}" height="${Math.max(1, Math.round(height * scale))}"`;
  return markup`<img src="${path}" alt="${name}" ${size} /><span aria-hidden="true">${name}</span>`;
}

/** Returns the `tel:` address of a phone number in any notation. */
export const telephone = (phone: string): string => `tel:${phone.replaceAll(/[^+\d]/g, "")}`;

function footerOf({ name, settings }: Shop, path: string | undefined, hasAbout: boolean): Markup {
  const { contact, hours, about, social = [], pages = [] } = settings;
  const { email, phone, address } = contact;
  const hasContact = email !== undefined || phone !== undefined || address !== undefined;
  return markup`<footer class="foot">
    <div class="wide">
      <section>
        <h2>${name}</h2>
        ${!hasAbout && markup`<p>${about ?? "Animals looking for a home."}</p>`}
        ${
          social.length > 0 &&
          markup`<ul>
            ${social.map((link) => markup`<li><a href="${link}" rel="me noopener">${networkOf(link)}</a></li>`)}
          </ul>`
        }
      </section>
      ${
        hasContact &&
        markup`<section>
          <h2>Contact</h2>
          ${address !== undefined && markup`<p>${address}</p>`}
          ${phone !== undefined && markup`<p><a href="${telephone(phone)}">${phone}</a></p>`}
          ${email !== undefined && markup`<p><a href="mailto:${email}">${email}</a></p>`}
        </section>`
      }
      ${
        hours.length > 0 &&
        markup`<section>
          <h2>Opening hours</h2>
          <dl>
            ${hours.map(
              ({ days, time }) =>
                markup`<dt>${days}</dt>
                  <dd>${time}</dd>`,
            )}
          </dl>
        </section>`
      }
      ${
        pages.length > 0 &&
        markup`<section>
          <h2>More</h2>
          <ul>
            ${pages.map(({ slug, title }) => linkTo(slug, title, path))}
          </ul>
        </section>`
      }
    </div>
  </footer>`;
}
