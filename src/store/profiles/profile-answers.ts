import type { Static } from "typebox";
import type { Queryable, Transaction } from "../../platform/db/database.ts";
import { fieldsBefore } from "../../platform/events.ts";
import { requireAbsentAllowed, requireConditions } from "../../platform/http/conditions.ts";
import type { Call } from "../../platform/http/operation.ts";
import { byId, Problem } from "../../platform/problem.ts";
import { lockPet } from "../pets/pets.store.ts";
import type { Photo, Profile, ProfilePath } from "./profiles.ts";
import { findProfile, type StoredForm, type StoredPhoto, type StoredProfile } from "./profiles.store.ts";

/** The photo service that the profile operations call. */
export type ProfileServices = {
  photos: {
    receive: (uploader: Uploader, body: AsyncIterable<Buffer>) => Promise<ReceivedPhoto>;
    /** Encodes a picture as `receive` does, but stores nothing. */
    rehearse: (uploader: Uploader, body: AsyncIterable<Buffer>) => Promise<ReceivedPhoto>;
    /** @throws Problem `storage_limit_reached` */
    claim: (tx: Transaction, accountId: number, photoId: number, received: ReceivedPhoto) => Promise<void>;
    finish: (received: ReceivedPhoto) => void;
    /** Returns the URL at which visitors see one form of a photo. */
    urlOf: (form: StoredForm) => string;
  };
};
type Uploader = { accountId: number; hasGone: () => boolean };
export type ReceivedPhoto = {
  fingerprint: string;
  width: number;
  height: number;
  forms: (StoredForm & { bytes: number })[];
  isStored: boolean;
};

export type OneProfile = { params: Static<typeof ProfilePath> };

/** Records that a profile was created, changed or deleted. */
export function recordChange(
  tx: Transaction,
  { accountId, services }: Call<ProfileServices, OneProfile>,
  before: StoredProfile | undefined,
  after: StoredProfile,
): void {
  const data = answer(services, after).body;
  const previous = fieldsBefore(before ? answer(services, before).body : { petId: after.petId, photos: [] }, data);
  tx.record({ accountId, type: "pet.profile_updated", resource: { type: "pet", id: after.petId }, data, previous, version: after.version });
}

type Target = Pick<Call<unknown, OneProfile>, "accountId" | "params" | "conditions">;

/**
 * Locks the pet for a write that may create its profile. Returns the profile, or undefined if the pet has none.
 *
 * @throws Problem `not_found` if there is no such pet, `precondition_failed`
 */
export async function lockToSet(tx: Transaction, { accountId, params: { petId }, conditions }: Target): Promise<StoredProfile | undefined> {
  const current = await lockProfile(tx, accountId, petId);
  if (current) requireConditions(conditions, current.version);
  else requireAbsentAllowed(conditions);
  return current;
}

/** Locks the pet, and returns its profile. @throws Problem `not_found`, `precondition_failed` */
export async function lockToChange(tx: Transaction, { accountId, params: { petId }, conditions }: Target): Promise<StoredProfile> {
  const current = (await lockProfile(tx, accountId, petId)) ?? absent(petId);
  requireConditions(conditions, current.version);
  return current;
}

/** Returns the profile of a pet. @throws Problem `not_found` */
export async function requireProfile(db: Queryable, accountId: number, petId: number): Promise<StoredProfile> {
  return (await findProfile(db, accountId, petId)) ?? absent(petId);
}

async function lockProfile(tx: Transaction, accountId: number, petId: number): Promise<StoredProfile | undefined> {
  if (!(await lockPet(tx, accountId, petId))) throw new Problem("not_found", `There is no ${byId("pet", petId)}.`);
  return findProfile(tx, accountId, petId);
}

export function answer(services: ProfileServices, stored: StoredProfile, status = 200) {
  const { petId, description, price, photos, version } = stored;
  const body: Profile = {
    petId,
    ...(description !== null && { description }),
    ...(price !== null && { price }),
    photos: photos.map((one) => photoOf(services, one)),
  };
  return { status, body, version };
}

export function photoOf({ photos: { urlOf } }: ProfileServices, { id, alt, forms }: StoredPhoto): Photo {
  const sources = forms.map((form) => ({ url: urlOf(form), type: form.type, width: form.width, height: form.height }));
  const largest = sources.findLast(({ type }) => type === "image/webp") ?? sources.at(-1)!;
  return { id, alt, width: largest.width, height: largest.height, url: largest.url, sources };
}

function absent(petId: number): never {
  throw new Problem("not_found", `${byId("Pet", petId)} has no profile.`);
}
