import { markup, type Markup } from "./markup.ts";
import { type ShownFact, type ShownFactName, type ShownFacts, shownFactNames } from "./requests.ts";
import type { ShownCategory } from "./storefront.ts";

/** The labels of facts. */
export const labels = { species: "Species", breed: "Breed", sex: "Sex", born: "Born", colour: "Colour", size: "Size" };

/** The values of a fact that animals have; for `born` the years. `isComplete`: whether these are all. */
export type FactValues = { name: ShownFactName; values: string[]; isComplete: boolean };

/** The facts of an animal, with those that the shop names itself at the end. */
export function factRows({ own = [], ...facts }: ShownFacts): { name: string; value: string }[] {
  const known = shownFactNames.flatMap((name) => {
    const value = facts[name];
    return value === undefined ? [] : [{ name: labels[name], value: name === "born" ? dayOf(value) : value }];
  });
  return [...known, ...own];
}

export function factsList(facts: ShownFacts): Markup | undefined {
  const rows = factRows(facts);
  if (rows.length === 0) return undefined;
  return markup`<dl class="traits">${rows.map(({ name, value }) => markup`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** What a list of animals with a fact is called. */
export function chosenFact({ name, value }: ShownFact, category: ShownCategory | undefined): string {
  return [category?.name, `${labels[name]}: ${value}`].filter((part) => part !== undefined).join(", ");
}

/** A date as visitors read it; a year stays. */
function dayOf(born: string): string {
  if (born.length === 4) return born;
  return new Intl.DateTimeFormat("en", { dateStyle: "long", timeZone: "UTC" }).format(Date.parse(born));
}
