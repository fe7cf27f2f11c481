import type { Static } from "typebox";
import type { Database, Transaction } from "../../platform/db/database.ts";
import { addressOf } from "../../platform/http/api-surfaces.ts";
import { type Answer, type Call, created, deleted, operation, type Operation } from "../../platform/http/operation.ts";
import { pictureBytesMax, pictureTypes } from "../../platform/http/pictures.ts";
import {
  lockToChange,
  lockToSet,
  type OneProfile,
  type ProfileServices,
  recordChange,
  requireProfile,
  versionOf,
} from "./profile-answers.ts";
import { deletePhoto, ensureProfile, insertPhoto, requirePhotoRoom } from "./profiles.store.ts";
import {
  Photo,
  PhotoAddress,
  type PhotoFetchServices,
  PhotoPath,
  PhotoQuery,
  type PhotoService,
  ProfilePath,
  type ReceivedPhoto,
  shownPhoto,
} from "./profiles.ts";

const path = "/pets/{petId}/profile/photos";
const tag = "Animals";
const stability = "experimental";
const params = { petId: 1 };
const photosUrl = "http://photos.petstore.localhost:8081/photos";
const exampleSources = [
  {
    url: `${photosUrl}/df92e4b42fba7015d0dc5e0676f75f3fc5b4cd9a555ada042ad5bab3108950d1.avif`,
    type: "image/avif",
    width: 8,
    height: 6,
  },
  {
    url: `${photosUrl}/6064886b1e984c27b7d6782aa26ca9bf64cb2b3cd9463b99cc31318f943f8230.webp`,
    type: "image/webp",
    width: 8,
    height: 6,
  },
];
const photo: Photo = { id: 2, alt: "Rex on a lawn", width: 8, height: 6, url: exampleSources[1]!.url, sources: exampleSources };

export const photoRoutes: Operation<ProfileServices>[] = [
  operation({
    operationId: "addPhoto",
    method: "POST",
    path,
    tag,
    stability,
    summary: "Add a photo",
    description:
      "Adds a photo after the pet's other photos, and creates a profile if the pet has none. A pet can have up to 10 photos of up to 50 megapixels each; progressive JPEGs up to 40, interlaced PNGs up to 30 and AVIFs up to 13. The service re-encodes each photo as AVIF and WebP in several sizes, without metadata; of an animation it takes the first picture.",
    scope: "catalogue:write",
    dryRun: true,
    params: ProfilePath,
    query: PhotoQuery,
    upload: { mediaTypes: pictureTypes, bytesMax: pictureBytesMax, sample: "rex.jpg", description: "The picture, at most 10 MiB." },
    example: { params, query: { alt: photo.alt } },
    answers: { 201: created("The photo.", Photo, photo) },
    problems: ["not_found", "precondition_failed", "storage_limit_reached"],
    before: async (db, call, body) => {
      await requirePhotoRoom(db, call.accountId, call.params.petId);
      return call.services.photos.receive(call, body);
    },
    beforeDryRun: async (db, call, body) => {
      await requirePhotoRoom(db, call.accountId, call.params.petId);
      return call.services.photos.rehearse(call, body);
    },
    write: (tx, call, received) => addPhoto(tx, call, received, call.query.alt),
    finish: async (_db, { services }, received) => services.photos.finish(received),
  }),
  operation({
    operationId: "deletePhoto",
    method: "DELETE",
    path: `${path}/{photoId}`,
    tag,
    stability,
    summary: "Delete a photo",
    description: "Deletes one photo of a pet.",
    scope: "catalogue:write",
    dryRun: true,
    params: PhotoPath,
    example: { params: { petId: 1, photoId: 1 } },
    answers: { 204: deleted("The photo is gone.") },
    problems: ["not_found", "precondition_failed"],
    write: async (tx, call) => {
      const {
        accountId,
        params: { petId, photoId },
      } = call;
      const current = await lockToChange(tx, call);
      await deletePhoto(tx, accountId, petId, photoId);
      recordChange(tx, call, current, await requireProfile(tx, accountId, petId));
      return { status: 204 };
    },
  }),
];

/** For agents, who have no files: the address of a photo in place of its bytes. */
export const photoFetchRoutes: Operation<ProfileServices & PhotoFetchServices>[] = [
  operation({
    operationId: "addPhotoFromUrl",
    method: "POST",
    path: `${path}/from-url`,
    tag,
    summary: "Add a photo from the web",
    description:
      "Adds a photo that is on the web after the pet's other photos, and creates a profile if the pet has none. A pet can have 10.",
    scope: "catalogue:write",
    forAgents: true,
    dryRun: true,
    params: ProfilePath,
    body: PhotoAddress,
    example: { params, body: { url: "https://shop.example/rex.jpg", alt: photo.alt } },
    answers: { 201: created("The photo.", Photo, photo) },
    problems: ["not_found", "precondition_failed", "storage_limit_reached"],
    before: (db, call) => fetchPhoto(db, call, call.services.photos.receive),
    beforeDryRun: (db, call) => fetchPhoto(db, call, call.services.photos.rehearse),
    write: (tx, call, received) => addPhoto(tx, call, received, call.body.alt),
    finish: async (_db, { services }, received) => services.photos.finish(received),
  }),
];

async function fetchPhoto(
  db: Database,
  { accountId, params: { petId }, body, hasGone, services }: Call<PhotoFetchServices, OneProfile & { body: Static<typeof PhotoAddress> }>,
  receive: PhotoService["receive"],
): Promise<ReceivedPhoto> {
  await requirePhotoRoom(db, accountId, petId);
  return services.fetchPhoto(accountId, body.url, (bytes) => receive({ accountId, hasGone }, bytes));
}

async function addPhoto(tx: Transaction, call: Call<ProfileServices, OneProfile>, received: ReceivedPhoto, alt = ""): Promise<Answer> {
  const {
    accountId,
    params: { petId },
    services,
  } = call;
  const current = await lockToSet(tx, call);
  await requirePhotoRoom(tx, accountId, petId);
  await ensureProfile(tx, accountId, petId);
  const photoId = await insertPhoto(tx, accountId, petId, alt);
  await services.photos.claim(tx, accountId, photoId, received);
  const after = await requireProfile(tx, accountId, petId);
  recordChange(tx, call, current, after);
  const body = shownPhoto(
    after.photos.find(({ id }) => id === photoId)!,
    services.photos.urlOf,
  );
  return { status: 201, body, version: versionOf(after), headers: { location: addressOf(`/pets/${petId}/profile/photos/${photoId}`) } };
}
