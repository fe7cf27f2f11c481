import type { Clock } from "../../platform/clock.ts";
import type { Context } from "../../platform/context.ts";
import type { Database, Transaction } from "../../platform/db/database.ts";
import type { FairShare } from "../../platform/jobs/fair-share.ts";
import { openWorkerInTurns, type Worker } from "../../platform/jobs/worker.ts";
import { Problem } from "../../platform/problem.ts";
import { lockPet } from "../pets/pets.store.ts";
import { ensureProfile, findProfile, insertPhoto, recordProfile, requirePhotoRoom } from "../profiles/profiles.store.ts";
import type { FetchPicture, PhotoService, ReceivedPhoto } from "../profiles/profiles.ts";
import { claimPhotos, delayPhoto, failPhoto, moveProfileVersion, takePhoto, type DuePhoto } from "./import-photos.store.ts";

const pollEveryMs = 1_000;
/** Longer than a download and its encoding take. */
const leaseMs = 5 * 60_000;
/** The waits before new attempts to fetch a photo. */
const waitsMs = [60_000, 10 * 60_000, 60 * 60_000];

/** Fetches the photos of imports, and adds each to its pet as an upload is. */
export function openPhotoWorker(
  { db, clock, leases, onError }: Context,
  { turns, fetchPicture }: { turns: FairShare<number>; fetchPicture: FetchPicture },
  photos: PhotoService,
): Worker {
  return openWorkerInTurns<DuePhoto>({
    turns,
    claim: async (share) => {
      const claim = await leases.begin(leaseMs);
      return claim === undefined ? [] : db.write((tx) => claimPhotos(tx, share, claim));
    },
    run: (photo, stopping) => fetchPhoto({ db: db.as({ caller: photo.accountId }), clock, photos, fetchPicture }, photo, stopping),
    everyMs: pollEveryMs,
    onError,
  });
}

async function fetchPhoto(
  { db, clock, photos, fetchPicture }: { db: Database; clock: Clock; photos: PhotoService; fetchPicture: FetchPicture },
  photo: DuePhoto,
  stopping: AbortSignal,
): Promise<void> {
  const { accountId, url, attempts } = photo;
  try {
    const uploader = { accountId, hasGone: () => stopping.aborted };
    const received = await fetchPicture(url, accountId, stopping, (body) => photos.receive(uploader, body));
    try {
      await db.write((tx) => addPhoto(tx, photos, photo, received));
    } finally {
      photos.finish(received);
    }
  } catch (error) {
    const waitMs = stopping.aborted ? 0 : waitsMs[attempts];
    if (waitMs !== undefined && !isFinal(error)) await db.write((tx) => delayPhoto(tx, photo, clock() + waitMs));
    else await db.write((tx) => failPhoto(tx, photo, (error as Error).message.slice(0, 300)));
    if (!(error instanceof Problem) && !("isFinal" in (error as Error))) throw error;
  }
}

/** Whether fetching the photo again would fail again: its address is refused, or it is no picture, or there is no room for it. */
function isFinal(error: unknown): boolean {
  return error instanceof Problem ? error.code !== "unavailable" : (error as { isFinal?: boolean }).isFinal === true;
}

/** Adds a fetched photo to its pet, unless the pet or the request for it is gone. */
async function addPhoto(tx: Transaction, { claim, urlOf }: PhotoService, photo: DuePhoto, received: ReceivedPhoto): Promise<void> {
  const { accountId, petId } = photo;
  const pet = await lockPet(tx, accountId, petId);
  if (!(await takePhoto(tx, photo)) || !pet) return;
  const before = await findProfile(tx, accountId, petId);
  await requirePhotoRoom(tx, accountId, petId);
  await ensureProfile(tx, accountId, petId);
  const id = await insertPhoto(tx, accountId, petId, "");
  await moveProfileVersion(tx, photo, before?.version ?? null, (before?.version ?? 0) + 1);
  await claim(tx, accountId, id, received);
  const after = (await findProfile(tx, accountId, petId))!;
  recordProfile(tx, accountId, urlOf, before, after);
}
