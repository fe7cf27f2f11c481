import { decimalAmount } from "../../src/platform/currencies.ts";
import { answerOf, ifUnchanged, store, type Schemas, type Tagged } from "../calls/store.ts";
import { setStock } from "../inventory/queries.ts";
import { animalTexts } from "../texts/en-animal.ts";
import { profileTexts } from "../texts/en-profile.ts";
import { amountOf } from "./price.ts";
import { createPet, replacePet, type Pet, type PetValues } from "./queries.ts";

export type Profile = Schemas["Profile"];
/** The facts by which lists filter, in the order of the form. */
export const factNames = ["species", "breed", "sex", "born", "colour", "size"] as const;
export type OwnFact = { name: string; value: string };
export type FactValues = Record<(typeof factNames)[number], string> & { own: OwnFact[] };
/** All that the page of an animal edits. `units` is for a new animal only; empty: its stock is not counted. */
export type AnimalValues = PetValues & { description: string; price: string; currency: string; facts: FactValues; units: string };

/** An animal as the page read it. */
export type StoredAnimal = { pet: Tagged<Pet>; profile: Tagged<Profile> | null };

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

/** What a form says to buyers, as one text to compare. */
const buyersText = ({ description, price, currency, facts }: AnimalValues): string =>
  JSON.stringify([description, price, price === "" ? "" : currency, facts]);
const detailsText = ({ name, categoryId, status }: AnimalValues): string => JSON.stringify([name, categoryId, status]);

/** Whether a stored profile equals what the form began with: only its photos may have changed. */
export function isSameForBuyers(a: Profile | undefined, b: Profile | undefined): boolean {
  return buyersText(valuesOf(undefined, a)) === buyersText(valuesOf(undefined, b));
}

/** The part of an animal that was being saved, for the message where somebody else has changed it. */
export type Part = "details" | "profile";

/** Saves the parts that differ from `base`. @throws Refusal */
export async function saveAnimal(
  { pet, profile }: StoredAnimal,
  base: AnimalValues,
  values: AnimalValues,
  begin: (part: Part) => void,
): Promise<Pet> {
  const wanted = buyersText(values) === buyersText(base) ? undefined : profileBody(values); // a wrong price saves nothing
  begin("details");
  const saved = detailsText(values) === detailsText(base) ? pet.value : await replacePet(pet, values);
  begin("profile");
  if (wanted) await saveProfile(pet.value.id, wanted, profile);
  return saved;
}

/** Creates the animal of a form, its stock and its profile. `made` is an animal that an earlier try has created. */
export async function createAnimal(values: AnimalValues, made: Pet | undefined, onMade: (pet: Pet) => void): Promise<Pet> {
  const units = values.units.trim();
  if (units !== "" && !/^\d{1,9}$/.test(units)) throw new Error(animalTexts.wrongUnits);
  const wanted = buyersText(values) === buyersText(valuesOf(undefined, undefined)) ? undefined : profileBody(values);
  const pet = made ?? (await createPet(values));
  onMade(pet);
  if (units !== "") await setStock(pet.id, Number(units));
  if (wanted) await saveProfile(pet.id, wanted, null);
  return pet;
}

function saveProfile(petId: number, body: Schemas["ProfileInput"], profile: Tagged<Profile> | null): Promise<Profile> {
  const params = { path: { petId }, ...(profile && { header: ifUnchanged(profile) }) };
  return answerOf<Profile>(store.PUT("/pets/{petId}/profile", { params, body }));
}

/** @throws Error for a price that is no amount */
function profileBody(values: AnimalValues): Schemas["ProfileInput"] {
  const { own, ...texts } = values.facts;
  const facts = Object.fromEntries(Object.entries(texts).filter(([, text]) => text.trim() !== ""));
  const further = own.filter(({ name, value }) => `${name}${value}`.trim() !== "");
  return {
    description: values.description,
    ...(values.price.trim() !== "" && { price: amountOf(values, profileTexts.wrongPrice) }),
    facts: { ...facts, ...(further.length > 0 && { own: further }) },
  };
}
