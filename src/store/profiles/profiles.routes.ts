import type { Static } from "typebox";
import type { Transaction } from "../../platform/db/database.ts";
import { addressOf } from "../../platform/http/api-surfaces.ts";
import {
  type Answer,
  type Call,
  created,
  deleted,
  mergePatch,
  operation,
  type Operation,
  resource,
} from "../../platform/http/operation.ts";
import { type Facts, factsOf, patchFacts } from "./facts.ts";
import { answer, lockToChange, lockToSet, type OneProfile, type ProfileServices, recordChange, requireProfile } from "./profile-answers.ts";
import { deleteProfile, ensureProfile, writeProfile } from "./profiles.store.ts";
import {
  emptyProfile,
  orderPhotos,
  patchPrice,
  type Price,
  Profile,
  ProfilePath,
  type StoredProfile,
  WrittenProfile,
  type WantedPhoto,
  WrittenProfilePatch,
} from "./profiles.ts";

const path = "/pets/{petId}/profile";
const tag = "Animals";
const stability = "experimental";
const params = { petId: 1 };
const profile: Profile = { petId: 1, description: "A friendly dog.", price: { amount: 49_000, currency: "EUR" }, photos: [] };

export const profileRoutes: Operation<ProfileServices>[] = [
  operation({
    operationId: "getProfile",
    method: "GET",
    path,
    tag,
    stability,
    summary: "Get a pet's profile",
    description: "The description, price, facts and photos of a pet that buyers see. They are not fields of the pet itself.",
    scope: "catalogue:read",
    params: ProfilePath,
    example: { params },
    answers: { 200: resource("The profile.", Profile, profile) },
    problems: ["not_found"],
    read: async (db, { accountId, params: { petId }, services }) => answer(services, await requireProfile(db, accountId, petId)),
  }),
  operation({
    operationId: "replaceProfile",
    method: "PUT",
    path,
    tag,
    stability,
    summary: "Replace a pet's profile",
    description:
      "Replaces a pet's description, price and facts. `photos` orders the photos and sets their alternative texts; without it all stay.",
    scope: "catalogue:write",
    dryRun: true,
    params: ProfilePath,
    body: WrittenProfile,
    example: { params, body: { description: "A friendly dog.", price: { amount: 49_000, currency: "EUR" } } },
    answers: { 200: resource("The profile as it now stands.", Profile, profile), 201: created("The new profile.", Profile, profile) },
    problems: ["not_found", "precondition_failed", "unknown_reference"],
    write: replaceProfile,
  }),
  operation({
    operationId: "updateProfile",
    method: "PATCH",
    path,
    tag,
    stability,
    summary: "Update a pet's profile",
    description: "Changes the given fields of a pet's profile.",
    scope: "catalogue:write",
    dryRun: true,
    params: ProfilePath,
    body: WrittenProfilePatch,
    mediaTypes: mergePatch,
    example: { params, body: { price: { amount: 45_000, currency: "EUR" } } },
    answers: { 200: resource("The profile as it now stands.", Profile, { ...profile, price: { amount: 45_000, currency: "EUR" } }) },
    problems: ["not_found", "precondition_failed", "unknown_reference"],
    write: changeProfile,
  }),
  operation({
    operationId: "deleteProfile",
    method: "DELETE",
    path,
    tag,
    stability,
    summary: "Delete a pet's profile",
    description: "Deletes a pet's description, price, facts and photos. The pet stays.",
    scope: "catalogue:write",
    dryRun: true,
    params: ProfilePath,
    example: { params },
    answers: { 204: deleted("The profile is gone.") },
    problems: ["not_found", "precondition_failed"],
    write: async (tx, call) => {
      const {
        accountId,
        params: { petId },
      } = call;
      const current = await lockToChange(tx, call);
      await deleteProfile(tx, accountId, petId);
      recordChange(tx, call, current, { ...current, ...emptyProfile });
      return { status: 204 };
    },
  }),
];

async function replaceProfile(
  tx: Transaction,
  call: Call<ProfileServices, OneProfile & { body: Static<typeof WrittenProfile> }>,
): Promise<Answer> {
  const {
    params: { petId },
    body,
    services,
  } = call;
  const { description = null, price = null, photos } = body;
  const wanted = { description, price, facts: factsOf(body.facts ?? {}), photos };
  const current = await lockToSet(tx, call);
  const after = await save(tx, call, current, wanted);
  if (current) return answer(services, after);
  return { ...answer(services, after, 201), headers: { location: addressOf(path.replace("{petId}", String(petId))) } };
}

async function changeProfile(
  tx: Transaction,
  call: Call<ProfileServices, OneProfile & { body: Static<typeof WrittenProfilePatch> }>,
): Promise<Answer> {
  const { body, services } = call;
  const current = await lockToChange(tx, call);
  const { description = current.description, photos } = body;
  const price = patchPrice(current.price, body.price);
  const facts = patchFacts(current.facts, body.facts);
  return answer(services, await save(tx, call, current, { description, price, facts, photos }));
}

type ProfileRequest = {
  description: string | null;
  price: Price | null;
  facts: Facts | null;
  photos: readonly WantedPhoto[] | undefined;
};

/** Saves the profile if it changes, and returns it. */
async function save(tx: Transaction, call: Call<ProfileServices, OneProfile>, current: StoredProfile | undefined, wanted: ProfileRequest) {
  const {
    accountId,
    params: { petId },
  } = call;
  const description = wanted.description === "" ? null : wanted.description;
  const photos = wanted.photos && orderPhotos(current?.photos ?? [], wanted.photos);
  const { facts } = wanted;
  const ofPhotos = photos && current?.photos.map(({ id, alt, focus }) => ({ id, alt, focus }));
  const before = current && JSON.stringify([current.description, current.price, current.facts, ofPhotos]);
  const price = wanted.price && { amount: wanted.price.amount, currency: wanted.price.currency };
  if (current && before === JSON.stringify([description, price, facts, photos])) return current;
  await ensureProfile(tx, accountId, petId);
  await writeProfile(tx, accountId, petId, { description, price, facts, photos }, current?.facts ?? null);
  const after = await requireProfile(tx, accountId, petId);
  recordChange(tx, call, current, after);
  return after;
}
