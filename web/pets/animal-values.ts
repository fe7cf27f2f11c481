import { decimalAmount } from "../../src/platform/currencies.ts";
import type { Schemas } from "../calls/store.ts";
import type { Pet, PetValues } from "./queries.ts";

export type Profile = Schemas["Profile"];
/** The facts by which lists filter, in the order of the form. */
export const factNames = ["species", "breed", "sex", "born", "colour", "size"] as const;
export type OwnFact = { name: string; value: string };
export type FactValues = Record<(typeof factNames)[number], string> & { own: OwnFact[] };
/** All that the page of an animal edits. `units` is for a new animal only; empty: its stock is not counted. */
export type AnimalValues = PetValues & { description: string; price: string; currency: string; facts: FactValues; units: string };

/** What the form of a new animal, or of one without a price, begins with. */
type NewValues = { categoryId?: number | undefined; currency?: string };

/** The values of a form: those of an animal, or of a new one. */
export function valuesOf(pet: Pet | undefined, profile: Profile | undefined, { categoryId, currency = "" }: NewValues = {}): AnimalValues {
  const { description = "", price, facts } = profile ?? {};
  const category = pet?.categoryId ?? categoryId;
  return {
    name: pet?.name ?? "",
    categoryId: category === undefined ? null : String(category),
    status: null,
    description,
    price: price ? decimalAmount(price) : "",
    currency: price?.currency ?? currency,
    facts: { species: "", breed: "", sex: "", born: "", colour: "", size: "", own: [], ...facts },
    units: "1",
  };
}

/** Whether a row of the shop's own facts is one: the form may have empty rows, which are not saved. */
export function isFilled({ name, value }: OwnFact): boolean {
  return `${name}${value}`.trim() !== "";
}

/** What a form says to buyers, as one text to compare. */
export const buyersText = ({ description, price, currency, facts }: AnimalValues): string =>
  JSON.stringify([description, price, price === "" ? "" : currency, facts]);

/** Whether a stored profile equals what the form began with: only its photos may have changed. */
export function isSameForBuyers(a: Profile | undefined, b: Profile | undefined): boolean {
  return buyersText(valuesOf(undefined, a)) === buyersText(valuesOf(undefined, b));
}
