import { createHash, randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, open, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { Problem } from "../../platform/problem.ts";

/** A packed archive on the disk; `fingerprint` is the SHA-256 of its bytes. */
export type Upload = { name: string; fingerprint: string };

const atOnceMax = 64;
/** So that one account's slow uploads do not hold everybody up. */
const atOnceMaxEach = 4;

/** The folder of packed archives that wait to be unpacked. */
export function openUploads(folder: string) {
  const receiving = new Map<number, number>();
  const pathOf = (name: string): string => join(folder, name);
  const remove = (name: string): Promise<void> => rm(pathOf(name), { force: true });

  /** Writes a body to the disk, whole and synced. @throws Problem `unavailable` while too many arrive at once, of the account or of all */
  async function receive(accountId: number, body: AsyncIterable<Buffer>): Promise<Upload> {
    admit(accountId);
    const name = `${randomUUID()}.tar.gz`;
    try {
      await mkdir(folder, { recursive: true });
      return { name, fingerprint: await write(pathOf(name), body) };
    } catch (error) {
      await remove(name);
      throw error;
    } finally {
      const left = receiving.get(accountId)! - 1;
      if (left === 0) receiving.delete(accountId);
      else receiving.set(accountId, left);
    }
  }

  function admit(accountId: number): void {
    const own = receiving.get(accountId) ?? 0;
    const all = receiving.values().reduce((sum, count) => sum + count, 0);
    if (own >= atOnceMaxEach || all >= atOnceMax) {
      const whose = own >= atOnceMaxEach ? `${own} uploads of this account` : "Too many uploads";
      throw new Problem("unavailable", `${whose} arrive already. Try again when they are done.`, { headers: { "retry-after": "5" } });
    }
    receiving.set(accountId, own + 1);
  }

  /** Removes what uploads that were cut short left behind. Only at start. */
  async function clear(isTaken: (name: string) => Promise<boolean>): Promise<void> {
    const names = await readdir(folder).catch(() => []);
    for (const name of names) if (!(await isTaken(name))) await remove(name);
  }

  return { receive, remove, clear, pathOf };
}

export type Uploads = ReturnType<typeof openUploads>;

async function write(path: string, body: AsyncIterable<Buffer>): Promise<string> {
  const hash = createHash("sha256");
  async function* hashed(): AsyncGenerator<Buffer> {
    for await (const chunk of body) {
      hash.update(chunk);
      yield chunk;
    }
  }
  await pipeline(hashed(), createWriteStream(path, { flags: "wx", mode: 0o600 }));
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
  return hash.digest("hex");
}
