import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { extract } from "tar-stream";
import { tarOf, type TarFile } from "./tar.ts";

const file = (path: string, bytes: Uint8Array, size = bytes.length): TarFile => ({
  path,
  size,
  content: () => new Blob([bytes as Uint8Array<ArrayBuffer>]).stream(),
});

async function unpacked(files: TarFile[]): Promise<[path: string, bytes: Buffer][]> {
  const tar = extract();
  tar.end(Buffer.concat(await Array.fromAsync(tarOf(files))));
  const entries: [string, Buffer][] = [];
  for await (const entry of tar) {
    assert.equal(entry.header.type, "file");
    entries.push([entry.header.name, Buffer.concat(await Array.fromAsync(entry as AsyncIterable<Buffer>))]);
  }
  return entries;
}

test("unpacking gives back the same files, for any names and sizes", async () => {
  const segment = fc
    .string({ unit: "grapheme", minLength: 1, maxLength: 120 })
    .filter((text) => !/[/\0]/.test(text) && text.isWellFormed());
  const path = fc.array(segment, { minLength: 1, maxLength: 6 }).map((segments) => segments.join("/"));
  const content = fc.uint8Array({ maxLength: 1_600 });
  await fc.assert(
    fc.asyncProperty(fc.dictionary(path, content, { maxKeys: 8, noNullPrototype: true }), async (site) => {
      const files = Object.entries(site);
      const found = await unpacked(files.map(([name, bytes]) => file(name, bytes)));
      assert.deepEqual(
        found.map(([name, bytes]) => [name, [...bytes]]),
        files.map(([name, bytes]) => [name, [...bytes]]),
      );
    }),
    { numRuns: 60 },
  );
});

test("names stay whole around the lengths at which the header format changes", async () => {
  for (const length of [99, 100, 101, 255, 980, 990, 991, 992, 1024]) {
    const name = "a".repeat(length);
    assert.equal((await unpacked([file(name, new Uint8Array(512))]))[0]?.[0], name);
  }
});

test("a file whose size has changed is an error, not a broken archive", async () => {
  for (const size of [3, 5]) await assert.rejects(unpacked([file("a.html", new Uint8Array(4), size)]), /a\.html was changed/);
});
