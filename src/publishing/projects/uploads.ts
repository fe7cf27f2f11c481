import { createHash, randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import type { Bounds } from "../../platform/bounds.ts";
import type { Database } from "../../platform/db/database.ts";
import { flushFolder, makeFolder, writeNew } from "../../platform/files.ts";
import { createTally } from "../../platform/jobs/tally.ts";
import { overloaded } from "../../platform/problem.ts";
import type { Blobs } from "./shared-bytes.ts";

/** A stored archive; `fingerprint` is the SHA-256 of its bytes. */
export type Upload = { name: string; fingerprint: string };

/** Where archives wait to be unpacked. */
type UploadStore = {
  /** Stores a body durably. */
  write: (name: string, body: AsyncIterable<Buffer>) => Promise<unknown>;
  read: (name: string) => Readable;
  remove: (name: string) => Promise<void>;
};

const atOnceMax = 64;
/** Keeps slow uploads of one account from delaying those of others. */
const atOnceMaxEach = 2;

/** The archives that wait to be unpacked. */
export function openUploads(store: UploadStore, bounds: Pick<Bounds, "refused">) {
  const receiving = createTally<number>();

  /** Stores a body. @throws Problem `unavailable` while too many arrive at once, from the account or in all */
  async function receive(accountId: number, body: AsyncIterable<Buffer>): Promise<Upload> {
    admit(accountId);
    const name = `${randomUUID()}.tar.gz`;
    const hash = createHash("sha256");
    async function* hashed(): AsyncGenerator<Buffer> {
      for await (const chunk of body) {
        hash.update(chunk);
        yield chunk;
      }
    }
    try {
      await store.write(name, hashed());
      return { name, fingerprint: hash.digest("hex") };
    } catch (error) {
      await store.remove(name);
      throw error;
    } finally {
      receiving.take(accountId);
    }
  }

  function admit(accountId: number): void {
    const own = receiving.of(accountId);
    const all = receiving.counts.values().reduce((sum, count) => sum + count, 0);
    if (own >= atOnceMaxEach || all >= atOnceMax) {
      const whose = own >= atOnceMaxEach ? `${own} uploads of this account` : "Too many uploads";
      bounds.refused("uploads");
      throw overloaded(`${whose} are already arriving. Try again when they are done.`, 5);
    }
    receiving.add(accountId);
  }

  return { receive, read: store.read, remove: store.remove };
}

export type Uploads = ReturnType<typeof openUploads>;

/** Stores archives in a folder that only this process uses. */
export function uploadFolder(folder: string): UploadStore & { clear: (isTaken: (name: string) => Promise<boolean>) => Promise<void> } {
  const pathOf = (name: string): string => join(folder, name);
  const remove = (name: string): Promise<void> => rm(pathOf(name), { force: true });

  async function write(name: string, body: AsyncIterable<Buffer>): Promise<void> {
    await makeFolder(folder);
    await writeNew(pathOf(name), body);
    await flushFolder(folder);
  }

  /** Removes the remains of interrupted uploads. Call it only at the start. */
  async function clear(isTaken: (name: string) => Promise<boolean>): Promise<void> {
    const names = await readdir(folder).catch(() => []);
    for (const name of names) if (!(await isTaken(name))) await remove(name);
  }

  return { write, read: (name) => createReadStream(pathOf(name)), remove, clear };
}

/** Stores archives in the database, where every node can unpack them. */
export function uploadBlobs(db: Database, blobs: Blobs): UploadStore {
  const nameOf = (name: string): string => `upload/${name}`;
  return {
    write: (name, body) => blobs.put(nameOf(name), body),
    read: (name) => Readable.from(blobs.read(nameOf(name))),
    remove: (name) => db.write((tx) => blobs.remove(tx, [nameOf(name)])),
  };
}
