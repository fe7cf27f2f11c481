import { chosenFact, type FactValues, labels } from "./facts.ts";
import { pageOf } from "./layout.ts";
import { pathTo } from "./links.ts";
import { type Markup, markup } from "./markup.ts";
import { type Card, cardOf, pathOf, pictureOf, short } from "./parts.ts";
import { addressOf, isPlain, type ListStart, type ListView } from "./requests.ts";
import { heroAnimal } from "./settings.ts";
import { pawSign } from "./silhouettes.ts";
import type { Shop, ShownCategory } from "./storefront.ts";
import { storeData } from "./structured-data.ts";

/** One page of the list of animals. */
export type ListPage = {
  cards: Card[];
  /** Those that the page leads to. */
  categories: ShownCategory[];
  category: ShownCategory | undefined;
  /** The facts to filter by. */
  facts: FactValues[];
  view: ListView;
  /** The animal that the shop chose for the top of its first page. */
  chosen?: Card | undefined;
  /** Where the next page begins. */
  next: ListStart | undefined;
};

/** How many photos of cards browsers load at once. */
const eagerMax = 4;

/** The home page, a category, a search, or a later page of one of them. */
export function listPage(shop: Shop, page: ListPage): Markup {
  const { name, settings } = shop;
  const { category, view, cards } = page;
  const isHome = isFirst(view);
  const title = isWhole(view) ? name : `${headingOf(shop, page)} · ${name}`;
  const about = settings.about ?? `Animals looking for a home at ${name}.`;
  const isListed = isPlain(view) && view.start === undefined;
  return pageOf(shop, {
    title,
    description: short(category === undefined ? about : `${category.name} at ${name}.`),
    path: isListed ? addressOf({ category: category?.id }) : undefined,
    picture: pathOf(cards.find(({ animal }) => animal.photos.length > 0)?.animal.photos[0]),
    head: isWhole(view) ? storeData(shop) : undefined,
    search: view.q,
    hasAbout: isHome && settings.about !== undefined,
    main: markup`${isHome && heroOf(shop, page)}
      <div class="wide">
        ${isHome ? markup`<h2 class="section" id="animals">Our animals</h2>` : markup`<div class="head"><h1>${headingOf(shop, page)}</h1></div>`}
        ${chips(page)}${tools(page)}${
          cards.length === 0
            ? emptyOf(page)
            : markup`<ul class="grid">
                ${cards.map((card, index) => cardOf(card, isHome ? 3 : 2, { isLazy: index >= eagerMax }))}
              </ul>`
        }${moreOf(page)}
      </div>`,
  });
}

/** Whether a list is the first page of the shop. */
export const isFirst = (view: ListView): boolean => isWhole(view) && view.start === undefined;

const isWhole = (view: ListView): boolean => view.category === undefined && isPlain(view);

function headingOf({ name }: Shop, { category, view: { q, fact } }: ListPage): string {
  if (fact !== undefined) return chosenFact(fact, category);
  return q === undefined ? (category?.name ?? `Animals at ${name}`) : `Animals named “${q}”`;
}

/** The top of the first page: what the shop says about itself, one button, and one photo. */
function heroOf(shop: Shop, page: ListPage): Markup {
  const { tagline, about, action } = shop.settings;
  const { label, link } = action ?? { label: "Meet our animals", link: "#animals" };
  const picture = heroPicture(shop, page);
  return markup`<div class="hero ${picture !== undefined && "pictured"}">
    <div class="wide">
      <div>
        <h1>${tagline ?? `Welcome to ${shop.name}`}</h1>
        ${about !== undefined && markup`<p>${about}</p>`}
        <div class="actions"><a class="button large" href="${link}">${label}</a></div>
      </div>
      ${picture}
    </div>
  </div>`;
}

const heroSizes = "(max-width: 50rem) min(92vw, 22rem), 27rem";

function heroPicture({ settings: { hero } }: Shop, { cards, chosen }: ListPage): Markup | undefined {
  if (hero === "none") return undefined;
  if (hero !== undefined && heroAnimal(hero) === undefined)
    return markup`<figure>
      <div class="frame"><img src="${pathTo(hero)}" alt="" width="432" height="540" fetchpriority="high" /></div>
    </figure>`;
  const found = (chosen ?? cards.find(({ animal }) => animal.status === "available" && animal.photos.length > 0))?.animal;
  return (
    found &&
    markup`<figure>
      <div class="frame">${pictureOf(found.photos[0]!, heroSizes)}</div>
      <figcaption><a href="/animals/${found.id}">Meet ${found.name}</a></figcaption>
    </figure>`
  );
}

function chips({ categories, view }: ListPage): Markup | undefined {
  if (categories.length === 0) return undefined;
  const { category, q, status, fact } = view;
  const sort = q === undefined ? view.sort : undefined;
  const all = markup`<li><a href="${addressOf({ status, sort, fact })}" ${category === undefined && q === undefined && markup` aria-current="page"`}>All animals</a></li>`;
  const own = categories.map(
    ({ id, name }) =>
      markup`<li><a href="${addressOf({ category: id, status, sort, fact })}" ${id === category && markup` aria-current="page"`}>${name}</a></li>`,
  );
  return markup`<nav aria-label="Categories">
    <ul class="chips">
      ${all}${own}
    </ul>
  </nav>`;
}

/** The links that filter and sort a list. A search has neither. */
function tools({ view, cards, facts }: ListPage): Markup | undefined {
  if (view.q !== undefined || (cards.length === 0 && isPlain(view))) return undefined;
  const { category, status, sort, fact } = view;
  const linkTo = (words: string, target: Partial<ListView>, isCurrent: boolean): Markup =>
    markup`<li><a href="${addressOf({ category, status, sort, fact, ...target })}" ${isCurrent && markup` aria-current="true"`}>${words}</a></li>`;
  return markup`<div class="tools">
    <nav aria-label="Show">
      <ul>
        ${linkTo("Show all", { status: undefined }, status === undefined)}${linkTo("Available", { status: "available" }, status === "available")}${linkTo("Reserved", { status: "pending" }, status === "pending")}
      </ul>
    </nav>
    ${chosenLink(view)}${factLinks({ view, facts })}
    ${
      fact === undefined &&
      markup`<nav aria-label="Sort">
      <ul>
        ${linkTo("Newest first", { sort: "newest" }, sort === "newest")}${linkTo("By name", { sort: "name" }, sort === "name")}
      </ul>
    </nav>`
    }
  </div>`;
}

/** The fact by which the list is filtered, as the link that removes the filter. */
function chosenLink({ category, status, fact }: ListView): Markup | undefined {
  return (
    fact &&
    markup`<a class="chosen" href="${addressOf({ category, status })}" aria-label="Remove the filter ${labels[fact.name]}: ${fact.value}">${labels[fact.name]}: ${fact.value} <span aria-hidden="true">×</span></a>`
  );
}

/** The values of facts to filter by, one fact at a time. They are folded, since there may be many: on a phone they would hide the animals. */
function factLinks({ view, facts }: Pick<ListPage, "view" | "facts">): Markup | undefined {
  const { category, status, fact } = view;
  if (facts.length === 0) return undefined;
  const linkTo = (name: FactValues["name"], value: string): Markup => {
    const isCurrent = fact?.name === name && fact.value === value;
    const target = addressOf({ category, status, fact: isCurrent ? undefined : { name, value } });
    return markup`<li><a href="${target}" ${isCurrent && markup` aria-current="true"`}>${value}</a></li>`;
  };
  return markup`<details class="traits-filter">
    <summary>More filters</summary>
    ${facts.map(
      ({ name, values, isComplete }) =>
        markup`<nav aria-label="${labels[name]}">
          <b>${labels[name]}</b>
          <ul>
            ${values.map((value) => linkTo(name, value))}${!isComplete && markup`<li>${category === undefined ? "and more: choose a category to see them" : "and more"}</li>`}
          </ul>
        </nav>`,
    )}
  </details>`;
}

function emptyOf({ view }: ListPage): Markup {
  const all = isPlain(view)
    ? "No animals are for sale here at the moment. Please check back soon."
    : "No animal for sale is like this at the moment.";
  const words = view.q === undefined ? all : "No animal for sale has a name that begins like this.";
  return markup`<div class="empty">${pawSign}<p>${words}</p></div>`;
}

function moreOf({ next, view }: ListPage): Markup | undefined {
  const { category, status, q, start } = view;
  if (start === undefined && q === undefined && next === undefined) return undefined;
  const first = start === undefined ? addressOf({ category, status }) : addressOf({ ...view, start: undefined });
  return markup`<nav class="more" aria-label="Pages">
    ${(start !== undefined || q !== undefined) && markup`<a class="button second" href="${first}">${start === undefined ? "All animals" : "First page"}</a>`}${next !== undefined && markup`<a class="button" rel="next" href="${addressOf({ ...view, start: next })}">More animals</a>`}
  </nav>`;
}
