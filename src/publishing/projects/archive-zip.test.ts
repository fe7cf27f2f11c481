import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { test, type TestContext } from "node:test";
import { gzipSync } from "node:zlib";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { endMarker, rawEntry } from "../../../test/support/tar-bytes.ts";
import { rawZip, type RawZipEntry } from "../../../test/support/zip-bytes.ts";
import { openBounds } from "../../platform/bounds.ts";
import { openSqlite } from "../../platform/db/sqlite.ts";
import { Problem } from "../../platform/problem.ts";
import { unpackArchive } from "./archive.ts";
import { localContent } from "./shared-content.ts";

const petstoreJson: RawZipEntry = { name: "petstore.json", content: "{}" };

function openUnpacking(t: TestContext) {
  const folder = temporaryFolder(t);
  const db = openSqlite(join(folder, "test.db"));
  t.after(() => db.close());
  const content = localContent(db, folder, openBounds());
  const unpack = (bytes: Buffer) =>
    unpackArchive(Readable.from([bytes.subarray(0, 3), bytes.subarray(3)]), {
      content,
      claim: async () => undefined,
      compressInTurn: (compress) => compress(),
      signal: t.signal,
    });
  return { folder, unpack };
}

test("a zip file becomes the same site as a tar, also with the folder itself in it", async (t) => {
  const { unpack } = openUnpacking(t);
  const site: RawZipEntry[] = [
    petstoreJson,
    { name: "img/dot.png", content: "dot" },
    { name: "index.html", content: "<!doctype html><p>" + "Cats and dogs. ".repeat(200) },
    { name: ".well-known/security.txt", content: "Contact: x" },
  ];
  const tar = await unpack(
    gzipSync(Buffer.concat([...site.map(({ name, content }) => rawEntry({ name: String(name) }, String(content))), endMarker])),
  );
  const inFolder = site.map((entry) => ({ ...entry, name: `My shop/${String(entry.name)}`, follow: true, system: 19 }));
  const macos: RawZipEntry[] = [
    { name: "My shop/", method: 0, mode: 0o040755, system: 19 },
    ...inFolder,
    { name: "My shop/.DS_Store", content: "x" },
    { name: "__MACOSX/", method: 0, mode: 0o040755 },
    { name: "__MACOSX/My shop/._index.html", content: "x" },
  ];
  const windows = site.map((entry) => ({ ...entry, name: String(entry.name).replaceAll("/", "\\"), system: 0 }));
  const windowsInFolder = windows.map((entry) => ({ ...entry, name: `Mein Gesch\x84ft\\${entry.name}` }));
  const latin = windowsInFolder.map((entry) => ({ ...entry, name: Buffer.from(entry.name, "latin1") }));
  for (const entries of [site, macos, windows, latin]) {
    assert.deepEqual((await unpack(rawZip(entries))).manifest, tar.manifest);
  }
  assert.deepEqual((await unpack(rawZip(macos))).leftOut, { count: 2, paths: [".DS_Store", "__MACOSX/My shop/._index.html"] });
});

test("a zip file whose petstore.json lies deeper or beside another folder is refused with the place", async (t) => {
  const { unpack } = openUnpacking(t);
  const nested = { name: "a/b/petstore.json", content: "{}" };
  const beside = [
    { name: "a/petstore.json", content: "{}" },
    { name: "b/index.html", content: "x" },
  ];
  await assert.rejects(unpack(rawZip([nested])), /There is "a\/b\/petstore\.json"/);
  await assert.rejects(unpack(rawZip(beside)), /There is "a\/petstore\.json"/);
});

test("a zip file is refused for what a tar is refused for", async (t) => {
  const { folder, unpack } = openUnpacking(t);
  async function refusal(...entries: RawZipEntry[]): Promise<string> {
    const error: unknown = await unpack(rawZip([petstoreJson, ...entries])).then(
      () => assert.fail("was accepted"),
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof Problem, String(error));
    assert.deepEqual(await readdir(join(folder, "incoming")), [], "nothing is left of a refused archive");
    return error.message;
  }
  assert.match(await refusal({ name: "../a", content: "x" }), /leads out of the folder/);
  assert.match(await refusal({ name: "..\\a", content: "x", system: 0 }), /leads out of the folder/);
  assert.match(await refusal({ name: "/a", content: "x" }), /absolute path/);
  assert.match(await refusal({ name: "l", content: "/etc/passwd", mode: 0o120777 }), /"l" is a link/);
  assert.match(await refusal({ name: "a" }, { name: "A" }), /differ only in capital letters/);
  assert.match(await refusal({ name: "a", claims: { size: 2 ** 30 }, follow: true }), /"a" has 1024 MiB; the limit is 25 MiB a file/);
  assert.match(await refusal(...Array.from({ length: 2_001 }, (_, index) => ({ name: `${index}` }))), /more than 2000 files/);
  assert.match(await refusal(...Array.from({ length: 10_000 }, (_, index) => ({ name: `.${index}` }))), /more than 10,000 entries/);
  assert.match(await refusal({ name: "a", flags: 1 }), /"a" is encrypted\. Pack the folder again, as a zip file or/);
});
