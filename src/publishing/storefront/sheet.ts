import { createCache } from "../../platform/cache.ts";
import { automaticFocus } from "../../platform/http/pictures.ts";
import { textOn } from "./colours.ts";
import { inlineSource, Markup } from "./markup.ts";
import { script } from "./script.ts";
import type { StorefrontSettings } from "./settings.ts";
import { themeSheet } from "./themes.ts";

type Style = { markup: Markup; policy: string };

const styles = createCache<string, Style>(200);

/** The style sheet of a shop, and the policy of its pages, which allows it by its hash. */
export function styleFor({ colour, theme = "modern" }: Pick<StorefrontSettings, "colour" | "theme">): Style {
  const key = `${theme} ${colour}`;
  const known = styles.get(key);
  if (known !== undefined) return known;
  const text = styleOf(colour, themeSheet(theme));
  // `connect-src` lets tools that audit a page fetch /robots.txt from it.
  const own = "font-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'";
  const inline = `style-src ${inlineSource(text)}; script-src ${inlineSource(script)}`;
  const policy = `default-src 'none'; ${inline}; ${own}; base-uri 'none'; frame-ancestors 'none'`;
  return styles.set(key, { markup: new Markup(text), policy });
}

/**
 * Returns the style sheet of a storefront. Each page contains it, so browsers show a page without a second request. The shop's colour fills areas, as it
 * is; no text has it, so it never needs more contrast.
 */
function styleOf(colour: string, theme: string): string {
  return `:root{color-scheme:light dark;--brand:${colour};--on-brand:${textOn(colour)};--tint:color-mix(in srgb,var(--brand) 14%,var(--page));--edge:color-mix(in srgb,var(--text) 16%,transparent)}
${theme}
${sheet}`;
}

/** Rules that crop a photo around its focus, which `data-x` and `data-y` give in tenths from its left and top edge. */
const focusRules = Array.from(
  { length: 11 },
  (_, tenth) => `[data-x="${tenth}"]{--x:${tenth * 10}%}[data-y="${tenth}"]{--y:${tenth * 10}%}`,
).join("");

const sheet = `${focusRules}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;scroll-padding-top:1rem}
body{margin:0;background:var(--page);color:var(--text);font:1rem/1.6 var(--body);overflow-wrap:anywhere}
a{color:inherit;text-decoration-color:var(--brand);text-decoration-thickness:.14em;text-underline-offset:.18em}
:focus-visible{outline:3px solid var(--text);outline-offset:2px;border-radius:.25rem}
img,svg{display:block}
[hidden]{display:none!important}
h1,h2,h3{font-family:var(--heading);font-weight:var(--heading-weight);letter-spacing:var(--tracking);text-wrap:balance}
h1{margin:0;font-size:clamp(2.1rem,1.4rem + 3.2vw,3.75rem);line-height:var(--leading)}
h2{font-size:clamp(1.4rem,1.2rem + .9vw,1.9rem);line-height:1.2}
h3{font-size:1.15rem;line-height:1.25}
.wide{max-width:76rem;margin:0 auto;padding:0 1.5rem}
.skip{position:absolute;left:-200vw}
.skip:focus{left:1rem;top:.5rem;z-index:3;padding:.5rem 1rem;background:var(--card)}
.bar{background:var(--brand);color:var(--on-brand);font-size:.9rem}
.bar .wide{display:flex;gap:1.5rem;justify-content:space-between;align-items:center;height:2.4rem}
.bar p{flex:1;min-width:0;margin:0;overflow:hidden;white-space:nowrap;text-overflow:ellipsis}
.bar a{flex:none;color:inherit;text-decoration:none}
.bar a:hover{text-decoration:underline}
.bar .short{display:none}
.bar :focus-visible{outline-color:currentColor}
.is-open::before{display:inline-block;width:.55rem;height:.55rem;margin-right:.5rem;border-radius:50%;background:currentColor;content:""}
.top{border-bottom:1px solid var(--line);background:var(--card)}
.top .wide{display:flex;flex-wrap:wrap;gap:.6rem 1.75rem;align-items:center;min-height:4.75rem;padding-block:.75rem}
.brand{display:flex;gap:.75rem;align-items:center;min-width:0;margin-right:auto;font:var(--heading-weight) 1.3rem/1.2 var(--heading);letter-spacing:var(--tracking);text-decoration:none}
.brand img{flex:none;border-radius:.4rem;object-fit:contain}
.mark{display:grid;flex:none;place-items:center;width:2.75rem;height:2.75rem;border-radius:min(var(--round),50%);background:var(--brand);color:var(--on-brand);box-shadow:inset 0 0 0 1px var(--edge)}
.mark svg{width:1.6rem;height:1.6rem}
.links{display:flex;flex-wrap:wrap;gap:.25rem 1.5rem;margin:0;padding:0;list-style:none}
.links a{display:inline-block;padding:.6rem 0;font-weight:600;text-decoration-color:transparent}
.links a:hover,.links a[aria-current]{text-decoration-color:var(--brand)}
.search{display:flex;flex:0 1 19rem;min-width:min(100%,15rem);gap:.5rem}
.search input::placeholder{color:var(--quiet);opacity:1}
.search input{flex:1;min-width:0;min-height:2.75rem;padding:0 1rem;border:1px solid color-mix(in srgb,var(--quiet) 80%,transparent);border-radius:var(--pill);background:var(--page);color:inherit;font:inherit}
button,.button{display:inline-flex;align-items:center;justify-content:center;min-height:2.75rem;padding:0 1.3rem;border:0;border-radius:var(--pill);background:var(--brand);color:var(--on-brand);box-shadow:inset 0 0 0 1px var(--edge);font:inherit;font-weight:650;text-align:center;text-decoration:none;cursor:pointer}
button:hover,.button:hover{box-shadow:inset 0 0 0 2px color-mix(in srgb,var(--text) 45%,transparent)}
.button.large{min-height:3.4rem;padding:.4rem 1.9rem;font-size:1.1rem}
.button.second{background:transparent;color:var(--text);box-shadow:inset 0 0 0 1.5px var(--quiet)}
.hero{overflow:hidden;background:var(--tint)}
.hero .wide{display:grid;gap:2.5rem clamp(2rem,6vw,6rem);align-items:center;padding-block:clamp(2.25rem,5vw,4.5rem)}
.hero.pictured .wide{grid-template-columns:minmax(0,1.15fr) minmax(0,.85fr)}
.hero p{max-width:38rem;margin:1.1rem 0 0;font-size:clamp(1.05rem,1rem + .35vw,1.25rem);white-space:pre-line}
.hero .actions{margin-top:1.9rem}
.hero figure{position:relative;width:100%;max-width:27rem;margin:0 auto}
.hero .frame{border-radius:var(--hero-shape);box-shadow:0 1.5rem 3rem -1rem rgb(0 0 0/.28)}
.hero figcaption{position:absolute;right:0;bottom:1.25rem;left:0;text-align:center}
.hero figcaption a{display:inline-block;max-width:90%;padding:.45rem 1.1rem;border-radius:var(--pill);background:var(--card);color:var(--text);box-shadow:0 .25rem 1rem rgb(0 0 0/.18);font-weight:650;text-decoration:none}
.head{padding:clamp(1.75rem,4vw,3rem) 0 0}
.section{margin:2.75rem 0 0}
.chips{display:flex;flex-wrap:wrap;gap:.5rem;margin:1.25rem 0 0;padding:0;list-style:none}
.chips a{display:inline-flex;align-items:center;min-height:2.6rem;padding:0 1.1rem;border:1px solid var(--line);border-radius:var(--pill);background:var(--card);font-weight:550;text-decoration:none}
.chips a[aria-current]{border-color:var(--edge);background:var(--brand);color:var(--on-brand)}
.chips a:hover{border-color:var(--quiet)}
.tools{display:flex;flex-wrap:wrap;gap:.25rem 2rem;justify-content:space-between;margin:1rem 0 1.5rem;color:var(--quiet);font-size:.95rem}
.tools ul{display:flex;flex-wrap:wrap;gap:0 1rem;align-items:center;margin:0;padding:0;list-style:none}
.tools a{display:inline-block;padding:.35rem 0;text-decoration-color:transparent}
.tools a:hover{color:var(--text);text-decoration-color:var(--brand)}
.tools a[aria-current]{color:var(--text);font-weight:650;text-decoration-color:var(--brand)}
.traits-filter{flex:1 1 100%;order:1}
.traits-filter summary{width:fit-content;padding:.35rem 0;cursor:pointer;font-weight:550}
.tools .chosen{order:1;flex:none;margin-right:auto;padding:.35rem 1rem;border:1px solid var(--quiet);border-radius:var(--pill);color:var(--text);font-weight:650;text-decoration:none}
.traits-filter nav{display:flex;gap:.25rem 1rem;align-items:baseline}
.traits-filter b{flex:none;min-width:4.5rem;color:var(--text);font-weight:650}
.traits{display:grid;grid-template-columns:repeat(auto-fill,minmax(9rem,1fr));gap:.75rem 1.25rem;margin:1.5rem 0;padding:1.1rem 0;border-block:1px solid var(--line)}
.traits dt{color:var(--quiet);font-size:.9rem}
.traits dd{margin:0;font-weight:650}
.grid{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,15.5rem),1fr));gap:2rem 1.5rem;margin:1.5rem 0 2.5rem;padding:0;list-style:none}
.card{position:relative;display:flex;flex-direction:column;min-width:0}
.frame{position:relative;display:grid;place-items:center;aspect-ratio:4/5;overflow:hidden;border-radius:var(--round);background:var(--tint);color:color-mix(in srgb,var(--brand) 55%,var(--text))}
.frame img{position:absolute;inset:0;width:100%;height:100%;object-fit:cover;object-position:var(--x,${automaticFocus.x}%) var(--y,${automaticFocus.y}%);transition:transform .4s}
.card:hover .frame img{transform:scale(1.035)}
.frame svg{width:46%;opacity:.5}
.ribbon{position:absolute;top:.75rem;left:.75rem;padding:.2rem .75rem;border-radius:var(--pill);background:light-dark(#1b1e22,#f4f4f2);color:light-dark(#fff,#16181b);font-size:.85rem;font-weight:650}
.ribbon.new{background:var(--brand);color:var(--on-brand);box-shadow:inset 0 0 0 1px rgb(0 0 0/.12)}
.facts{display:flex;flex:1;flex-direction:column;padding:.85rem .1rem 0}
.card h2,.card h3{margin:0;font-size:1.2rem;display:-webkit-box;-webkit-line-clamp:3;-webkit-box-orient:vertical;overflow:hidden}
.card a{text-decoration:none}
.card:hover a{text-decoration:underline;text-decoration-color:var(--brand)}
.card a::after{position:absolute;inset:0;border-radius:var(--round);content:""}
.card a:focus-visible{outline:0}
.card a:focus-visible::after{outline:3px solid var(--text);outline-offset:2px}
.card p{margin:0;color:var(--quiet)}
.card .row{display:flex;flex-wrap:wrap;gap:0 .75rem;align-items:baseline;justify-content:space-between;margin-top:.15rem}
.price{color:var(--text);font-weight:700;font-variant-numeric:tabular-nums}
.badge{display:inline-flex;gap:.45rem;align-items:center;font-size:.9rem;color:var(--quiet)}
.badge::before{flex:none;width:.55rem;height:.55rem;border-radius:50%;background:light-dark(#1d8a4e,#52d08c);content:""}
.badge.pending::before{background:light-dark(#b56a00,#f0b04f)}
.badge.sold::before{background:var(--quiet)}
.more{display:flex;flex-wrap:wrap;gap:.75rem;margin:0 0 3rem}
.empty{margin:1.5rem 0 3rem;padding:3.5rem 1.25rem;border-radius:var(--round);background:var(--tint);text-align:center}
.empty svg{width:4.5rem;margin:0 auto 1rem;opacity:.5}
.empty p{margin:0}
.crumbs{margin:1.5rem 0 1.25rem;color:var(--quiet)}
.pet{display:grid;grid-template-columns:minmax(0,1.25fr) minmax(0,1fr);gap:clamp(1.75rem,5vw,4rem);align-items:start;margin-bottom:3.5rem}
.gallery{position:relative;display:grid;gap:.75rem}
.strip{display:grid;grid-auto-columns:100%;grid-auto-flow:column;overflow:auto hidden;border-radius:var(--round);scroll-snap-type:x mandatory;scrollbar-width:none;overscroll-behavior-x:contain}
.strip::-webkit-scrollbar{display:none}
.strip .frame{border-radius:0;scroll-snap-align:start}
.strip.even .frame{aspect-ratio:1}
.strip.broad .frame{aspect-ratio:4/3}
.strip .whole img{object-fit:contain;object-position:50% 50%}
.gallery>.ribbon{z-index:1}
.steps{display:flex;min-height:2.75rem;gap:.75rem;align-items:center;justify-content:space-between;color:var(--quiet);font-size:.95rem}
.steps button{min-width:2.75rem;padding:0;background:var(--card);color:var(--text)}
.steps button:disabled{opacity:.35;cursor:default}
.thumbs{display:grid;grid-template-columns:repeat(auto-fill,minmax(4rem,1fr));gap:.6rem;margin:0;padding:0;list-style:none}
.thumbs .frame{border-radius:calc(var(--round)/2)}
.thumbs a[aria-current] .frame{box-shadow:0 0 0 2px var(--page),0 0 0 4px var(--text)}
.pet h1{font-size:clamp(2rem,1.5rem + 2.2vw,3.1rem)}
.pet .price{margin:.75rem 0 .25rem;font-size:1.6rem}
.pet .text{margin:1.25rem 0 1.75rem;white-space:pre-line}
.actions{display:flex;flex-wrap:wrap;gap:.75rem;margin-top:1.5rem}
.prose{max-width:44rem;padding:clamp(1.75rem,4vw,3.5rem) 1.5rem 3.5rem}
.prose h1{margin-bottom:1.5rem}
.prose h2{margin:2.25rem 0 .5rem}
.prose h3{margin:1.75rem 0 .25rem}
.prose p,.prose ul,.prose ol{margin:0 0 1.1rem}
.prose blockquote{margin:1.5rem 0;padding-left:1.25rem;border-left:.25rem solid var(--brand)}
.prose hr{margin:2rem 0;border:0;border-top:1px solid var(--line)}
.foot{border-top:1px solid var(--line);background:var(--card)}
.foot .wide{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,13rem),1fr));gap:2rem 2.5rem;padding-block:2.75rem}
.foot h2{margin:0 0 .6rem;font-size:1.1rem}
.foot p,.foot dl{margin:0;color:var(--quiet);white-space:pre-line}
.foot ul{margin:0;padding:0;list-style:none}
.foot p+ul{margin-top:.5rem}
.foot li a,.foot p a{display:inline-block;padding:.15rem 0}
.foot dl{display:grid;grid-template-columns:auto 1fr;gap:.1rem 1.25rem}
.foot dd{margin:0}
@media(max-width:50rem){.hero.pictured .wide,.pet{grid-template-columns:minmax(0,1fr)}.pet{gap:1.5rem}.hero figure{max-width:22rem}.search{flex:1 1 100%}}
@media(max-width:34rem){.bar .short{display:inline}.bar .number{display:none}.wide,.prose{padding-inline:1rem}.grid{grid-template-columns:repeat(2,minmax(0,1fr));gap:1.5rem .75rem}.card h2,.card h3{font-size:1.05rem}.ribbon{top:.5rem;left:.5rem}.chips{flex-wrap:nowrap;margin-inline:-1rem;padding:0 1rem .35rem;overflow-x:auto;scrollbar-width:none}.chips a{white-space:nowrap}.top .wide{gap:.5rem 1.25rem}}
@media(prefers-reduced-motion:no-preference){.strip{scroll-behavior:smooth}}
@media(prefers-reduced-motion:reduce){.frame img{transition:none}.card:hover .frame img{transform:none}}
`;
