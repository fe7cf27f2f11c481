import { createGzip } from "node:zlib";
import { pack, type Header } from "tar-stream";

export type Entry = Partial<Header> & { name: string; body?: string | Buffer };
export const oneMiB = 1_048_576;
export const petstore: Entry = { name: "petstore.json", body: "{}" };
export const site: Entry = { name: "index.html", body: "<h1>new</h1>" };

/** A packed site of these entries. */
export async function packed(entries: Iterable<Entry>, level = 1): Promise<Buffer> {
  const tar = pack();
  const gzip = tar.pipe(createGzip({ level }));
  for (const { body = "", ...header } of entries) tar.entry(header, body);
  tar.finalize();
  return Buffer.concat((await Array.fromAsync(gzip)) as Buffer[]);
}

export const files = (count: number, body: string | Buffer = ""): Entry[] =>
  Array.from({ length: count }, (_, index) => ({ name: `f/${index}.txt`, body }));
