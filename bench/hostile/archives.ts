import { hostileArchive, type Random } from "../../test/support/hostile-archives.ts";
import { residentMiB } from "../cpu.ts";
import { openProbe } from "./probing.ts";
import { seeded } from "./random.ts";
import type { Scene } from "./scene.ts";

const projects = 4;
const pollMs = 5;
const polls = 60_000;

/** The longest wait (ms, see `probe.ts`) for `/healthz`, the most memory that the service had, and how the uploads ended. */
export type ArchivesOutcome = { longestMs: number; memoryMiB: number; ready: number; failed: number };

/** Uploads generated archives, to several projects at once, each after the one before has ended. @throws if one has no end or no reason */
export async function uploadArchives(scene: Scene, count: number, seed: number): Promise<ArchivesOutcome> {
  const numbers = seeded(seed);
  const random: Random = (least, range) => least + numbers.below(range);
  const outcome: ArchivesOutcome = { longestMs: 0, memoryMiB: 0, ready: 0, failed: 0 };
  const probe = await openProbe(scene.origin, scene.shop.pid);
  let left = count;
  const uploadTo = async (name: string): Promise<void> => {
    const { id } = (await (await scene.shop.ask("POST", "/projects", { name, slug: name })).json()) as { id: number };
    for (; left > 0; outcome.memoryMiB = Math.max(outcome.memoryMiB, residentMiB(scene.shop.pid))) {
      left -= 1;
      outcome[await uploadOne(scene, `/projects/${id}/deployments`, random)] += 1;
    }
  };
  await Promise.all(Array.from({ length: projects }, (_, index) => uploadTo(`hostile-${seed}-${index}`)));
  outcome.longestMs = await probe.end();
  return outcome;
}

async function uploadOne({ shop }: Scene, path: string, random: Random): Promise<"ready" | "failed"> {
  const { kind, packed } = hostileArchive(random);
  const headers = { authorization: `Bearer ${shop.key}`, "content-type": "application/gzip" };
  for (let tries = 0; tries < polls; tries++) {
    const sent = await fetch(shop.url + path, { method: "POST", headers, body: packed });
    const { id } = (await sent.json()) as { id: number };
    if (sent.status === 202) return endOf(shop, `${path}/${id}`, kind);
    if (sent.status !== 503) throw new Error(`an upload (${kind}) was answered with ${sent.status}`);
    await new Promise((resolve) => setTimeout(resolve, pollMs)); // two of the account are arriving
  }
  throw new Error(`an upload (${kind}) was refused ${polls} times`);
}

async function endOf(shop: Scene["shop"], path: string, kind: string): Promise<"ready" | "failed"> {
  for (let tries = 0; tries < polls; tries++) {
    const { status, error } = (await (await shop.ask("GET", path)).json()) as { status: string; error: string | null };
    if (status === "ready") return "ready";
    if (status === "failed" && error) return "failed";
    if (status !== "queued") throw new Error(`an upload (${kind}) is ${status} without a reason`);
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  throw new Error(`an upload (${kind}) stays queued`);
}
