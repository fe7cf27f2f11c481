import { createCache } from "../../platform/cache.ts";
import { inlineSource, markup, Markup } from "./markup.ts";
import type { Shop } from "./storefront.ts";

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

export function pageOf(shop: Shop, { title, description, path, picture, head, main, search }: PageContent): Markup {
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
        ${footerOf(shop, path)}
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

/** The home page shows what the shop says about itself at its top. */
function footerOf({ name, settings: { contact, hours, about } }: Shop, path: string | undefined): Markup {
  const { email, phone, address } = contact;
  const hasContact = email !== undefined || phone !== undefined || address !== undefined;
  return markup`<footer class="foot">
    <div class="wide">
      <section>
        <h2>${name}</h2>
        ${path !== "/" && markup`<p>${about ?? "Animals looking for a home."}</p>`}
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

/** Returns the style sheet of a storefront. Each page contains it, so browsers show a page without a second request. */
function styleOf(colour: string): string {
  const { light, dark, onBrand } = shades(colour);
  return `:root{color-scheme:light dark;--brand:${colour};--on-brand:${onBrand};--accent:light-dark(${light},${dark});--page:light-dark(#faf9f6,#131417);--card:light-dark(#fff,#1e2024);--line:light-dark(#e5e1d8,#33363d);--text:light-dark(#1c2024,#ecebe7);--quiet:light-dark(#575e68,#abb0ba);--tint:color-mix(in srgb,var(--accent) 11%,var(--page));--shadow:0 1px 2px rgb(0 0 0/.05),0 8px 24px rgb(0 0 0/.06)}
${sheet}`;
}

const sheet = `*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--page);color:var(--text);font:1rem/1.6 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;overflow-wrap:anywhere}
a{color:var(--accent)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px;border-radius:.25rem}
.wide{max-width:72rem;margin:0 auto;padding:0 1.25rem}
.skip{position:absolute;left:-200vw}
.skip:focus{left:1rem;top:.5rem;z-index:2;padding:.5rem 1rem;background:var(--card)}
.top{border-bottom:1px solid var(--line);background:var(--card)}
.top .wide{display:flex;flex-wrap:wrap;gap:.75rem 1.5rem;align-items:center;justify-content:space-between;min-height:4.5rem;padding-block:.75rem}
.brand{display:flex;gap:.75rem;align-items:center;min-width:0;color:inherit;font-size:1.2rem;font-weight:700;letter-spacing:-.01em;text-decoration:none}
.brand img{flex:none;border-radius:.4rem;object-fit:contain}
.mark{display:grid;flex:none;place-items:center;width:2.75rem;height:2.75rem;border-radius:.8rem;background:var(--brand);color:var(--on-brand)}
.mark svg{width:1.5rem;height:1.5rem}
.search{display:flex;flex:1 1 16rem;max-width:26rem;gap:.5rem}
.search input::placeholder{color:var(--quiet);opacity:1}
.search input{flex:1;min-width:0;min-height:2.75rem;padding:0 1.1rem;border:1px solid var(--quiet);border-radius:99rem;background:var(--page);color:inherit;font:inherit}
button,.button{display:inline-flex;align-items:center;justify-content:center;min-height:2.75rem;padding:0 1.3rem;border:0;border-radius:99rem;background:var(--brand);color:var(--on-brand);font:inherit;font-weight:600;text-decoration:none;cursor:pointer}
.button.second{background:transparent;box-shadow:inset 0 0 0 1.5px var(--accent);color:var(--accent)}
.hero{background:var(--tint)}
.hero .wide{padding-block:clamp(2rem,5vw,4rem)}
h1{margin:0;font-size:clamp(1.9rem,1.3rem + 2.6vw,3.1rem);line-height:1.12;letter-spacing:-.025em;text-wrap:balance}
.hero p{max-width:44rem;margin:.75rem 0 0;color:var(--quiet);font-size:1.1rem;white-space:pre-line}
.chips{display:flex;flex-wrap:wrap;gap:.5rem;margin:1.75rem 0 1.25rem;padding:0;list-style:none}
.chips a{display:inline-flex;align-items:center;min-height:2.5rem;padding:0 1rem;border:1px solid var(--line);border-radius:99rem;background:var(--card);color:inherit;text-decoration:none}
.chips a[aria-current]{border-color:var(--brand);background:var(--brand);color:var(--on-brand)}
.chips a:hover{border-color:var(--accent)}
h2{font-size:1.35rem;letter-spacing:-.015em;line-height:1.25}
.grid{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,15.5rem),1fr));gap:1.25rem;margin:0 0 2rem;padding:0;list-style:none}
.card{position:relative;display:flex;flex-direction:column;height:100%;overflow:hidden;border:1px solid var(--line);border-radius:1.1rem;background:var(--card);box-shadow:var(--shadow);transition:transform .15s,border-color .15s}
.card:hover{border-color:var(--accent);transform:translateY(-2px)}
.frame{position:relative;display:grid;place-items:center;aspect-ratio:4/3;overflow:hidden;background:var(--tint);color:var(--accent)}
.frame img{position:absolute;inset:0;width:100%;height:100%}
.gallery img,.frame img{object-fit:cover;object-position:50% 25%}
.frame svg{width:30%;opacity:.45}
.facts{display:flex;flex:1;flex-direction:column;padding:1rem 1.1rem 1.1rem}
.card h2{margin:0;font-size:1.15rem}
.card h2 a{color:inherit;text-decoration:none}
.card h2 a::after{position:absolute;inset:0;content:""}
.card p{margin:0;color:var(--quiet)}
.card .row{display:flex;flex-wrap:wrap;gap:.25rem .75rem;align-items:center;justify-content:space-between;margin-top:auto;padding-top:.6rem}
.price{color:var(--text);font-weight:700}
.badge{display:inline-flex;gap:.4rem;align-items:center;font-size:.9rem;color:var(--quiet)}
.badge::before{width:.55rem;height:.55rem;border-radius:50%;background:light-dark(#1d8a4e,#52d08c);content:""}
.badge.pending::before{background:light-dark(#b56a00,#f0b04f)}
.badge.sold::before{background:var(--quiet)}
.more{display:flex;flex-wrap:wrap;gap:.75rem;margin:0 0 3rem}
.empty{padding:3rem 1.25rem;border:1px dashed var(--quiet);border-radius:1.1rem;text-align:center;color:var(--quiet)}
.crumbs{margin:1.5rem 0 1rem;color:var(--quiet)}
.pet{display:grid;grid-template-columns:minmax(0,1.35fr) minmax(0,1fr);gap:2.25rem;align-items:start;margin-bottom:3rem}
.gallery{display:grid;gap:.75rem}
.gallery .frame{border-radius:1.1rem}
.gallery .others{display:grid;grid-template-columns:repeat(3,minmax(0,1fr));gap:.75rem}
.gallery .others img{width:100%;height:auto;aspect-ratio:4/3;border-radius:.75rem;display:block}
.pet h1{font-size:clamp(1.9rem,1.4rem + 1.8vw,2.6rem)}
.pet .price{margin:.75rem 0 .25rem;font-size:1.6rem}
.pet .text{margin:1.25rem 0 1.75rem;white-space:pre-line}
.actions{display:flex;flex-wrap:wrap;gap:.75rem;margin-top:1.5rem}
.foot{border-top:1px solid var(--line);background:var(--card)}
.foot .wide{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,14rem),1fr));gap:1.5rem 2.5rem;padding-block:2.25rem}
.foot h2{margin:0 0 .5rem;font-size:1rem}
.foot p,.foot dl{margin:0;color:var(--quiet);white-space:pre-line}
.foot dl{display:grid;grid-template-columns:auto 1fr;gap:.1rem 1rem}
.foot dd{margin:0}
@media(max-width:48rem){.pet{grid-template-columns:minmax(0,1fr);gap:1.25rem}.search{max-width:none}}
@media(max-width:30rem){.wide{padding-inline:1rem}.grid{gap:.9rem}}
@media(prefers-reduced-motion:reduce){.card{transition:none}.card:hover{transform:none}}
`;

type Rgb = [red: number, green: number, blue: number];

const pageLight: Rgb = [250, 249, 246];
const pageDark: Rgb = [33, 35, 40];
/** WCAG 2.2, 1.4.3, asks for 4.5. */
const contrastMin = 4.6;

/** Returns the shop's colour for texts on light and dark pages, shifted until it is readable there, and the colour of text on the colour itself. */
function shades(colour: string): { light: string; dark: string; onBrand: string } {
  const base = parse(colour);
  const [light, dark] = [shift(base, [0, 0, 0], pageLight), shift(base, [255, 255, 255], pageDark)];
  return { light: format(light), dark: format(dark), onBrand: textOn(base) };
}

function shift(colour: Rgb, towards: Rgb, background: Rgb): Rgb {
  for (let share = 0; share <= 1; share += 0.04) {
    const mixed = colour.map((value, index) => Math.round(value + (towards[index]! - value) * share)) as Rgb;
    if (contrast(mixed, background) >= contrastMin) return mixed;
  }
  return towards;
}

/** White or black: one of them has a contrast of at least 4.58 to any colour. */
function textOn(background: Rgb): string {
  return contrast([255, 255, 255], background) >= contrast([0, 0, 0], background) ? "#ffffff" : "#000000";
}

function contrast(a: Rgb, b: Rgb): number {
  const [darker, lighter] = [luminance(a), luminance(b)].toSorted((one, other) => one - other) as [number, number];
  return (lighter + 0.05) / (darker + 0.05);
}

function luminance(colour: Rgb): number {
  const [red, green, blue] = colour.map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as Rgb;
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function parse(colour: string): Rgb {
  return [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16)) as Rgb;
}

function format(colour: Rgb): string {
  return `#${colour.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}
