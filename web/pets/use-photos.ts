import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { automaticFocus } from "../../src/platform/http/pictures.ts";
import { Refusal } from "../calls/refusal.ts";
import { reread } from "../calls/rows.ts";
import { callsBelow, send } from "../calls/send.ts";
import { answerOf, store, type Schemas } from "../calls/store.ts";
import { errorLine } from "../parts/error-line.ts";
import { profileTexts } from "../texts/en-profile.ts";
import { profileQuery } from "./profile-query.ts";
import { rereadSummary } from "./summaries.ts";

export type Photo = Schemas["Photo"];
type Edit = (photos: Photo[]) => Photo[];

/**
 * A pet's photos. Edits are shown before the service confirms them, so that the pressed button keeps the focus. Edits and uploads are sent
 * one at a time, and each edit is applied to the photos that are stored when its turn comes.
 */
export function usePhotos(petId: number, saved: Photo[]) {
  const client = useQueryClient();
  const [edits, setEdits] = useState<Edit[]>([]);
  const [uploads, setUploads] = useState(0);
  const [error, setError] = useState<Error | null>(null);
  const last = useRef(Promise.resolve());
  const query = profileQuery(petId);

  async function run(sent: () => Promise<unknown>): Promise<void> {
    try {
      await sent();
    } catch (failure) {
      setError(failure instanceof Error ? failure : new Error(String(failure)));
    }
    await reread(client, { queryKey: query.queryKey });
    rereadSummary(client, petId);
  }
  function change(sent: () => Promise<unknown>): Promise<void> {
    setError(null);
    return (last.current = last.current.then(() => run(sent)));
  }
  async function edit(one: Edit): Promise<void> {
    setEdits((before) => [...before, one]);
    await change(async () => {
      const stored = await client.fetchQuery(query);
      await setPhotos(petId, one(stored?.value.photos ?? []));
    });
    setEdits((before) => before.filter((other) => other !== one));
  }
  async function add(files: File[]): Promise<void> {
    setUploads((before) => before + 1);
    await change(() => addAll(petId, files));
    setUploads((before) => before - 1);
  }
  return { photos: edits.reduce((photos, one) => one(photos), saved), isAdding: uploads > 0, error, edit, add };
}

function setPhotos(petId: number, photos: Photo[]): Promise<unknown> {
  const body = { photos: photos.map(({ id, alt, focus = null }) => ({ id, alt, focus })) };
  return answerOf(store.PATCH("/pets/{petId}/profile", { params: { path: { petId } }, body }));
}

/** The smallest WebP picture of a photo. */
export function smallOf(photo: Photo): { url: string } {
  return photo.sources.find(({ type }) => type === "image/webp") ?? photo;
}

/** The CSS position of a cropped photo, as in a storefront. */
export function positionOf({ x, y }: NonNullable<Photo["focus"]> = automaticFocus): string {
  return `${x}% ${y}%`;
}

/**
 * Uploads one file after another, so that the photos keep the files' order. A file that the service refuses does not keep back the others.
 *
 * @param uploaded what earlier calls have uploaded: these files are left out, and the photos of files that are gone are deleted
 * @throws Error that names the refused files; Refusal if the service cannot be reached or has no room
 */
export async function addAll(petId: number, files: File[], uploaded = new Map<File, Photo>()): Promise<void> {
  const gone = [...uploaded.keys()].filter((file) => !files.includes(file));
  const kept = [...uploaded].filter(([file]) => files.includes(file));
  if (gone.length > 0)
    await setPhotos(
      petId,
      kept.map(([, photo]) => photo),
    );
  for (const file of gone) uploaded.delete(file);
  const refused: string[] = [];
  for (const file of files.filter((one) => !uploaded.has(one))) {
    try {
      uploaded.set(file, await upload(petId, file));
    } catch (error) {
      if (!(error instanceof Refusal && [400, 413, 415].includes(error.status))) throw error;
      refused.push(profileTexts.refused(`“${file.name}”`, errorLine(error)));
    }
  }
  if (refused.length > 0) throw new Error(refused.join(" "));
}

const keys = new WeakMap<File, string>();

/** Uploads a photo; once only if it is repeated because the answer was lost. */
async function upload(petId: number, file: File): Promise<Photo> {
  const key = keys.get(file) ?? crypto.randomUUID();
  keys.set(file, key);
  const headers = { accept: "application/json", "content-type": file.type, "idempotency-key": key };
  const url = new URL(`${callsBelow}/pets/${petId}/profile/photos`, location.href);
  return (await send(new Request(url, { method: "POST", headers, body: file }))).json() as Promise<Photo>;
}
