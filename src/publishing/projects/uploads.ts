import { createHash, randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, open, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { Problem } from "../../platform/problem.ts";

/** A packed archive on the disk; `fingerprint` is the SHA-256 of its bytes. */
export type Upload = { name: string; fingerprint: string };

const atOnceMax = 16;

/** The folder of packed archives that wait to be unpacked. */
export function openUploads(folder: string) {
  let receiving = 0;
  const pathOf = (name: string): string => join(folder, name);
  const remove = (name: string): Promise<void> => rm(pathOf(name), { force: true });

  /** Writes a body to the disk, whole and synced. @throws Problem `unavailable` while too many arrive at once */
  async function receive(body: AsyncIterable<Buffer>): Promise<Upload> {
    if (receiving >= atOnceMax) throw new Problem("unavailable", "Too many uploads arrive at once.", { headers: { "retry-after": "5" } });
    receiving++;
    const name = `${randomUUID()}.tar.gz`;
    try {
      await mkdir(folder, { recursive: true });
      return { name, fingerprint: await write(pathOf(name), body) };
    } catch (error) {
      await remove(name);
      throw error;
    } finally {
      receiving--;
    }
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
