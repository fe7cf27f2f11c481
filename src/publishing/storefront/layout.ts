import { createCache } from "../../platform/cache.ts";
import { inlineSource, markup, Markup } from "./markup.ts";
import type { Shop } from "./storefront.ts";
import { styleOf } from "./style.ts";

export type PageParts = {
  title: string;
  description: string;
  /** The canonical path; undefined for a page that search engines should not list. */
  path: string | undefined;
  /** The path of a picture for previews. */
  picture?: string | undefined;
  head?: Markup | undefined;
  main: Markup;
  search?: string | undefined;
};

const paw = markup`<svg viewBox="0 0 24 24" fill="currentColor" aria-hidden="true">
  <ellipse cx="5.2" cy="11" rx="2.1" ry="2.8" />
  <ellipse cx="9.3" cy="6.3" rx="2.2" ry="3.1" />
  <ellipse cx="14.7" cy="6.3" rx="2.2" ry="3.1" />
  <ellipse cx="18.8" cy="11" rx="2.1" ry="2.8" />
  <path
    d="M12 11.2c-3 0-6 3.300-6 6.300 0 1.900 1.400 3 3.100 3 1.100 0 1.900-.5 2.900-.5s1.800.5 2.900.5c1.700 0 3.100-1.100 3.100-3 0-3-3-6.300-6-6.300z"
  />
</svg>`;

/** The picture of an animal without a photo. */
export const placeholder = paw;

export function pageOf(shop: Shop, { title, description, path, picture, head, main, search }: PageParts): Markup {
  const { name, origin, settings } = shop;
  const shown = picture ?? logoPath(shop);
  const canonical =
    path === undefined ? markup`<meta name="robots" content="noindex" />` : markup`<link rel="canonical" href="${origin + path}" />`;
  return markup`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <meta name="description" content="${description}" />
        ${canonical}
        <meta property="og:type" content="website" />
        <meta property="og:site_name" content="${name}" />
        <meta property="og:title" content="${title}" />
        <meta property="og:description" content="${description}" />
        ${shown !== undefined && markup`<meta property="og:image" content="${origin + shown}" />`}
        <meta name="theme-color" content="${settings.colour}" />
        ${iconLink(shop)}
        <style>${styleFor(settings.colour).markup}</style>
        ${head}
      </head>
      <body>
        <a class="skip" href="#main">Skip to the animals</a>
        <header class="top">
          <div class="wide">
            <a class="brand" href="/">${brandOf(shop)}</a>
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
        </header>
        <main id="main" tabindex="-1">${main}</main>
        ${footerOf(shop)}
      </body>
    </html> `;
}

/** The path of the shop's logo; undefined without one. */
export function logoPath({ settings: { logo } }: Shop): string | undefined {
  return logo && pathTo(logo);
}

const pathTo = (file: string): string => `/${file.split("/").map(encodeURIComponent).join("/")}`;

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
  if (path === undefined) return markup`<span class="mark">${paw}</span><span>${name}</span>`;
  const { width, height } = settings.logoSize ?? { width: logoHeight, height: logoHeight };
  const scale = Math.min(logoHeight / height, logoWidthMax / width);
  const size = markup`width="${Math.max(1, Math.round(width * scale))}" height="${Math.max(1, Math.round(height * scale))}"`;
  return markup`<img src="${path}" alt="${name}" ${size} /><span aria-hidden="true">${name}</span>`;
}

/** Returns the `tel:` address of a phone number in any notation. */
export const telephone = (phone: string): string => `tel:${phone.replaceAll(/[^+\d]/g, "")}`;

function footerOf({ name, settings: { contact, hours, about } }: Shop): Markup {
  const { email, phone, address } = contact;
  const hasContact = email !== undefined || phone !== undefined || address !== undefined;
  return markup`<footer class="foot">
    <div class="wide">
      <section>
        <h2>${name}</h2>
        <p>${about ?? "Animals looking for a home."}</p>
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
    </div>
  </footer>`;
}

type Style = { markup: Markup; policy: string };

const styles = createCache<string, Style>(200);

/** The style sheet for a colour, and the policy that allows it by its hash. */
function styleFor(colour: string): Style {
  const known = styles.get(colour);
  if (known !== undefined) return known;
  const sheet = styleOf(colour);
  // No page runs scripts. `connect-src` lets tools that audit a page fetch /robots.txt from it.
  const own = "img-src 'self'; connect-src 'self'; form-action 'self'";
  const policy = `default-src 'none'; style-src ${inlineSource(sheet)}; ${own}; base-uri 'none'; frame-ancestors 'none'`;
  return styles.set(colour, { markup: new Markup(sheet), policy });
}

/** The Content-Security-Policy of the pages of a shop. */
export function policyOf({ settings }: Shop): string {
  return styleFor(settings.colour).policy;
}
