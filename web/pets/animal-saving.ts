import { useQueryClient, type QueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { Refusal, refusedFields, type Detail } from "../calls/refusal.ts";
import { answerOf, ifUnchanged, store, type Schemas, type Tagged } from "../calls/store.ts";
import { setStock, stopTracking } from "../inventory/queries.ts";
import { animalTexts } from "../texts/en-animal.ts";
import { profileTexts } from "../texts/en-profile.ts";
import { texts } from "../texts/texts.ts";
import { buyersText, isFilled, valuesOf, type AnimalValues, type Profile } from "./animal-values.ts";
import { amountOf, isTypedCurrency } from "./price.ts";
import { profileQuery } from "./profile-query.ts";
import { createPet, petQuery, replacePet, type Pet } from "./queries.ts";
import { addAll, type Photo } from "./use-photos.ts";

/** An animal as the page read it. */
export type StoredAnimal = { pet: Tagged<Pet>; profile: Tagged<Profile> | null };
/** The part of an animal that was being saved, for the message where somebody else has changed it. */
export type Part = "details" | "profile";

type Saving = {
  begin?: (part: Part) => void;
  /** Called once the details are saved: the profile is saved after them, and may fail. */
  onDetails?: (pet: Tagged<Pet>) => void;
};

const dryRun = { Prefer: "dry-run" } as const;
/** The number of no animal. The service checks a body before it looks for the animal (specification 1.9). */
const noPetId = Number.MAX_SAFE_INTEGER;

/** Saves the parts that differ from what is stored, or nothing if a value is wrong. @throws Refusal */
export async function saveAnimal({ pet, profile }: StoredAnimal, values: AnimalValues, { begin, onDetails }: Saving = {}): Promise<Pet> {
  const { id, name, categoryId, status } = pet.value;
  const hasDetails = values.name !== name || values.categoryId !== String(categoryId) || (values.status ?? status) !== status;
  const hasProfile = isForBuyers(values, profile?.value);
  begin?.("profile");
  if (hasProfile) await check(values, hasDetails ? [saveProfile(id, values, profile, dryRun)] : []);
  begin?.("details");
  const saved = hasDetails ? await replacePet(pet, values) : pet;
  if (hasDetails) onDetails?.(saved);
  begin?.("profile");
  if (hasProfile) await saveProfile(id, values, profile);
  return saved.value;
}

/** A new animal as far as it is saved; `units` is null while its stock is not counted. */
type Making = { pet: Pet; units: number | null; photos: Map<File, Photo> };

/**
 * Creates an animal with its stock, its profile and its photos. If a part fails after the animal was created, `isMade` is true, and the next
 * `create` saves what is missing and what was changed meanwhile.
 */
export function useNewAnimal() {
  const client = useQueryClient();
  const made = useRef<Making>(undefined);
  const [keys] = useState(() => new Map<string, string>());
  const [isMade, setMade] = useState(false);

  async function create(typed: AnimalValues, files: File[]): Promise<Pet> {
    const units = typed.units.trim() === "" ? null : Number(typed.units);
    const values = units === null ? typed : { ...typed, status: null }; // that of a tracked animal follows its stock
    const earlier = made.current && (await client.fetchQuery(petQuery(made.current.pet.id))) ? made.current : undefined;
    await check(values, earlier ? [] : checksOf(values));
    const making = (made.current = earlier ?? { pet: await createPet(values, keys), units: null, photos: new Map() });
    setMade(true);
    const { id } = making.pet;
    if (units !== making.units) await (units === null ? stopTracking(id) : setStock(id, units));
    making.units = units;
    if (earlier) making.pet = await saveAnimal(await readAnimal(client, id), values);
    else if (isForBuyers(values, undefined)) await saveProfile(id, values, null);
    await addAll(id, files, making.photos);
    return making.pet;
  }
  return { isMade, create };
}

async function readAnimal(client: QueryClient, petId: number): Promise<StoredAnimal> {
  const [pet, profile] = await Promise.all([client.fetchQuery(petQuery(petId)), client.fetchQuery(profileQuery(petId))]);
  if (pet === null) throw new Error(texts.store.gone(texts.store.animals.animal(petId)));
  return { pet, profile };
}

/** Dry runs of the calls that create an animal. */
function checksOf(values: AnimalValues): Promise<unknown>[] {
  return [createPet(values, "dry-run"), ...(isForBuyers(values, undefined) ? [saveProfile(noPetId, values, null, dryRun)] : [])];
}

/** Finds every wrong value before a part is saved, by dry runs of the calls. @throws Refusal with all of them */
async function check(values: AnimalValues, dryRuns: Promise<unknown>[]): Promise<void> {
  const wrong = wrongOf(values);
  for (const run of await Promise.allSettled(dryRuns)) {
    if (run.status === "fulfilled" || (run.reason instanceof Refusal && run.reason.code === "not_found")) continue;
    if (!(run.reason instanceof Refusal && run.reason.code === "invalid_request")) throw run.reason;
    wrong.push(...run.reason.details);
  }
  if (wrong.length > 0) throw refusedFields(wrong);
}

/** What is no amount or number as it was typed, so that the service cannot be asked. */
function wrongOf(values: AnimalValues): Detail[] {
  const hasPrice = values.price.trim() !== "";
  const isWrongCurrency = hasPrice && !isTypedCurrency(values.currency);
  return [
    ...(/^\d{0,9}$/.test(values.units.trim()) ? [] : [{ path: "body.units", message: animalTexts.wrongUnits }]),
    ...(hasPrice && !isWrongCurrency && !amountOf(values) ? [{ path: "body.price", message: profileTexts.wrongPrice }] : []),
    ...(isWrongCurrency ? [{ path: "body.currency", message: profileTexts.wrongCurrency }] : []),
  ];
}

/** Whether what a form says to buyers differs from a profile. */
function isForBuyers(values: AnimalValues, profile: Profile | undefined): boolean {
  return buyersText(values) !== buyersText(valuesOf(undefined, profile));
}

function saveProfile(petId: number, values: AnimalValues, profile: Tagged<Profile> | null, header: object = {}): Promise<Profile> {
  const params = { path: { petId }, header: { ...(profile && ifUnchanged(profile)), ...header } };
  const { own, ...facts } = values.facts;
  const price = isTypedCurrency(values.currency) ? amountOf(values) : undefined;
  const body: Schemas["ProfileInput"] = {
    description: values.description,
    ...(price && { price }),
    facts: {
      ...Object.fromEntries(Object.entries(facts).filter(([, text]) => text.trim() !== "")),
      ...(own.some(isFilled) && { own: own.filter(isFilled) }),
    },
  };
  return answerOf<Profile>(store.PUT("/pets/{petId}/profile", { params, body }));
}
