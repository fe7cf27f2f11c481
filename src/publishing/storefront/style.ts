import { shades } from "./colours.ts";

/** Returns the style sheet of a storefront. Each page contains it, so browsers show a page without a second request. */
export function styleOf(colour: string): string {
  const { light, dark, onLight, onDark } = shades(colour);
  return `:root{color-scheme:light dark;--accent:light-dark(${light},${dark});--on-accent:light-dark(${onLight},${onDark});--page:light-dark(#faf9f6,#131417);--card:light-dark(#fff,#1e2024);--line:light-dark(#e5e1d8,#33363d);--text:light-dark(#1c2024,#ecebe7);--quiet:light-dark(#575e68,#abb0ba);--tint:color-mix(in srgb,var(--accent) 11%,var(--page));--shadow:0 1px 2px rgb(0 0 0/.05),0 8px 24px rgb(0 0 0/.06)}
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
.mark{display:grid;flex:none;place-items:center;width:2.75rem;height:2.75rem;border-radius:.8rem;background:var(--accent);color:var(--on-accent)}
.mark svg{width:1.5rem;height:1.5rem}
.search{display:flex;flex:1 1 16rem;max-width:26rem;gap:.5rem}
.search input::placeholder{color:var(--quiet);opacity:1}
.search input{flex:1;min-width:0;min-height:2.75rem;padding:0 1.1rem;border:1px solid var(--quiet);border-radius:99rem;background:var(--page);color:inherit;font:inherit}
button,.button{display:inline-flex;align-items:center;justify-content:center;min-height:2.75rem;padding:0 1.3rem;border:0;border-radius:99rem;background:var(--accent);color:var(--on-accent);font:inherit;font-weight:600;text-decoration:none;cursor:pointer}
.button.second{background:transparent;box-shadow:inset 0 0 0 1.5px var(--accent);color:var(--accent)}
.hero{background:var(--tint)}
.hero .wide{padding-block:clamp(2rem,5vw,4rem)}
h1{margin:0;font-size:clamp(1.9rem,1.3rem + 2.6vw,3.1rem);line-height:1.12;letter-spacing:-.025em;text-wrap:balance}
.hero p{max-width:44rem;margin:.75rem 0 0;color:var(--quiet);font-size:1.1rem;white-space:pre-line}
.chips{display:flex;flex-wrap:wrap;gap:.5rem;margin:1.75rem 0 1.25rem;padding:0;list-style:none}
.chips a{display:inline-flex;align-items:center;min-height:2.5rem;padding:0 1rem;border:1px solid var(--line);border-radius:99rem;background:var(--card);color:inherit;text-decoration:none}
.chips a[aria-current]{border-color:var(--accent);background:var(--accent);color:var(--on-accent)}
.chips a:hover{border-color:var(--accent)}
h2{font-size:1.35rem;letter-spacing:-.015em;line-height:1.25}
.grid{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,15.5rem),1fr));gap:1.25rem;margin:0 0 2rem;padding:0;list-style:none}
.card{position:relative;display:flex;flex-direction:column;height:100%;overflow:hidden;border:1px solid var(--line);border-radius:1.1rem;background:var(--card);box-shadow:var(--shadow);transition:transform .15s,border-color .15s}
.card:hover{border-color:var(--accent);transform:translateY(-2px)}
.frame{display:grid;place-items:center;aspect-ratio:4/3;background:var(--tint);color:var(--accent)}
.frame img{display:block;width:100%;height:100%;object-fit:cover}
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
.gallery .frame{overflow:hidden;border-radius:1.1rem}
.gallery .others{display:grid;grid-template-columns:repeat(3,minmax(0,1fr));gap:.75rem}
.gallery .others img{width:100%;height:auto;aspect-ratio:4/3;border-radius:.75rem;object-fit:cover;display:block}
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
