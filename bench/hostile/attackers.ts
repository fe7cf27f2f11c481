import sharp from "sharp";
import { hostileArchive } from "../../test/support/hostile-archives.ts";
import type { Shop } from "../shop.ts";
import { seeded } from "./random.ts";

const sendersEach = 8;
const pets = 1_000;
const words = 33;
const pauseMs = 20;
const uploadersEach = 2;

/** An account that floods the service. Its owners have signed in. */
export type Attacker = { key: string; cookies: string[]; categoryId: number; petIds: number[]; projectId: number };

/** Gives an account a category, 1,000 pets and a project. */
export async function prepareAttacker(shop: Shop, key: string, cookies: string[]): Promise<Attacker> {
  const { id: categoryId } = (await (await shop.ask("POST", "/categories", { name: "Dogs" }, key)).json()) as { id: number };
  const made = await shop.ask("POST", "/pets/batch", named(categoryId), key);
  if (made.status !== 201) throw new Error(`a batch was answered with ${made.status}`);
  const petIds = ((await made.json()) as { id: number }[]).map((pet) => pet.id);
  const project = await shop.ask("POST", "/projects", { name: "Flood", slug: `flood-${petIds[0]}` }, key);
  return { key, cookies, categoryId, petIds, projectId: ((await project.json()) as { id: number }).id };
}

/** Sends batches of new pets on several connections, every second one as a dry run. */
export async function sendBatches(shop: Shop, { key, categoryId }: Attacker, isOver: () => boolean): Promise<void> {
  const body = JSON.stringify(named(categoryId, 200));
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const send = async (sender: number): Promise<void> => {
    for (let i = sender; !isOver(); i++)
      await sendOnce(`${shop.url}/pets/batch`, { ...headers, ...(i % 2 === 0 && { prefer: "dry-run" }) }, body);
  };
  await Promise.all(Array.from({ length: sendersEach }, (_, sender) => send(sender)));
}

/** Renames all of its pets at once, as several owners of the account. */
export async function sendChanges(shop: Shop, { cookies, petIds }: Attacker, isOver: () => boolean): Promise<void> {
  const { origin } = new URL(shop.url);
  const send = async (cookie: string, owner: number): Promise<void> => {
    for (let i = owner; !isOver(); i += cookies.length) {
      const changes = petIds.map((id) => ({ id, name: nameOf(id + i) }));
      await sendOnce(
        `${origin}/dashboard/v1/pets/changes`,
        { cookie, origin, "content-type": "application/json" },
        JSON.stringify({ changes }),
      );
    }
  };
  await Promise.all(cookies.map(send));
}

/** Uploads a picture of 50 megapixels, two at once, as dry runs. */
export async function sendPictures(shop: Shop, { key, petIds }: Attacker, isOver: () => boolean): Promise<void> {
  const picture = await sharp({ create: { width: 10_000, height: 5_000, channels: 3, background: "red" } })
    .png()
    .toBuffer();
  const headers = { authorization: `Bearer ${key}`, "content-type": "image/png", prefer: "dry-run" };
  const send = async (): Promise<void> => {
    while (!isOver()) await sendOnce(`${shop.url}/pets/${petIds[0]}/profile/photos`, headers, picture);
  };
  await Promise.all(Array.from({ length: uploadersEach }, send));
}

/** Uploads generated archives. */
export async function sendArchives(shop: Shop, { key, projectId }: Attacker, isOver: () => boolean): Promise<void> {
  const numbers = seeded(projectId);
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/gzip" };
  const send = async (): Promise<void> => {
    while (!isOver()) {
      const { packed } = hostileArchive((least, range) => least + numbers.below(range));
      await sendOnce(`${shop.url}/projects/${projectId}/deployments`, headers, packed);
    }
  };
  await Promise.all(Array.from({ length: uploadersEach }, send));
}

/** Sends a request, and waits a moment if it was refused. */
async function sendOnce(url: string, headers: Record<string, string>, body: string | Uint8Array): Promise<void> {
  const { status } = await fetch(url, { method: "POST", headers, body }).then(async (answer) => (await answer.arrayBuffer(), answer));
  if (status >= 400) await new Promise((resolve) => setTimeout(resolve, pauseMs));
}

function named(categoryId: number, length = 100): object[] {
  return Array.from({ length: pets }, (_, i) => ({ name: nameOf(i).slice(0, length), categoryId }));
}

/** A name of 33 words. */
function nameOf(seed: number): string {
  return Array.from({ length: words }, (_, i) => (((seed + 1) * 7_919 * (i + 1)) % 46_656).toString(36).padStart(5, "a")).join(" ");
}
