import type { Static } from "typebox";
import type { Queryable, Transaction } from "../../platform/db/database.ts";
import { addressOf } from "../../platform/http/api-surfaces.ts";
import { requireAbsentAllowed, requireConditions, versionOfShown } from "../../platform/http/conditions.ts";
import type { Call } from "../../platform/http/operation.ts";
import { byId, Problem } from "../../platform/problem.ts";
import { lockPet } from "../pets/pets.store.ts";
import { findProfile, recordProfile } from "./profiles.store.ts";
import { shownProfile, type PhotoService, type ProfilePath, type StoredProfile } from "./profiles.ts";

/** The photo service that the profile operations call. */
export type ProfileServices = { photos: PhotoService };

export type OneProfile = { params: Static<typeof ProfilePath> };

/** Records that a profile was created, changed or deleted. */
export function recordChange(
  tx: Transaction,
  { accountId, services }: Call<ProfileServices, OneProfile>,
  before: StoredProfile | undefined,
  after: StoredProfile,
): void {
  recordProfile(tx, accountId, services.photos.urlOf, before, after);
}

type Target = Pick<Call<unknown, OneProfile>, "accountId" | "params" | "conditions">;

/**
 * Locks the pet for a write that may create its profile. Returns the profile, or undefined if the pet has none.
 *
 * @throws Problem `not_found` if there is no such pet, `precondition_failed`
 */
export async function lockToSet(tx: Transaction, { accountId, params: { petId }, conditions }: Target): Promise<StoredProfile | undefined> {
  const current = await lockProfile(tx, accountId, petId);
  if (current) requireConditions(conditions, versionOf(current));
  else requireAbsentAllowed(conditions);
  return current;
}

/** Locks the pet, and returns its profile. @throws Problem `not_found`, `precondition_failed` */
export async function lockToChange(tx: Transaction, { accountId, params: { petId }, conditions }: Target): Promise<StoredProfile> {
  const current = (await lockProfile(tx, accountId, petId)) ?? absent(petId);
  requireConditions(conditions, versionOf(current));
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

export function answer({ photos: { urlOf } }: ProfileServices, stored: StoredProfile, status = 200) {
  return { status, body: shownProfile(stored, urlOf), version: versionOf(stored) };
}

/** Includes a digest, because a profile that is deleted and created again starts at version 1. */
export function versionOf({ version, ...shown }: StoredProfile): string {
  return versionOfShown(version, shown);
}

function absent(petId: number): never {
  const place = addressOf(`/pets/${Number.isSafeInteger(petId) ? petId : "{petId}"}/profile`);
  throw new Problem("not_found", `${byId("Pet", petId)} has no profile: PUT ${place} creates one.`);
}
