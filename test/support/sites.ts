import { createGzip } from "node:zlib";
import { pack } from "tar-stream";

/** A gzipped tar of these files. */
export async function packSite(files: Record<string, string>): Promise<Uint8Array> {
  const tar = pack();
  for (const [name, content] of Object.entries(files)) tar.entry({ name }, content);
  tar.finalize();
  return Buffer.concat((await Array.fromAsync(tar.pipe(createGzip()))) as Buffer[]);
}
