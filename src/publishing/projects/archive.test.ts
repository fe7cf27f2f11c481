import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { after, before, test } from "node:test";
import { brotliDecompressSync, gunzipSync, gzipSync } from "node:zlib";
import { pack, type Header } from "tar-stream";
import { openBounds } from "../../platform/bounds.ts";
import type { Database } from "../../platform/db/database.ts";
import { openSqlite } from "../../platform/db/sqlite.ts";
import { Problem } from "../../platform/problem.ts";
import { archiveLimits, unpackArchive, type ArchiveLimits } from "./archive.ts";
import { contentPath, manifestFromText, manifestToText } from "./content.ts";
import { localContent, type Content } from "./shared-content.ts";

type PackedEntry = Partial<Header> & { name: string; body?: string | Buffer };
const petstoreJson: PackedEntry = { name: "petstore.json", body: JSON.stringify({ name: "Shop" }) };
const page = "<!doctype html><p>" + "Cats and dogs. ".repeat(200);
let folder: string;
let db: Database;
let content: Content;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "content-"));
  db = openSqlite(join(folder, "test.db"));
  content = localContent(db, folder, openBounds());
});
after(async () => {
  await db.close();
  await rm(folder, { recursive: true });
});

async function tarOf(entries: PackedEntry[]): Promise<Buffer> {
  const tar = pack();
  for (const { body = "", ...header } of entries) tar.entry(header, body);
  tar.finalize();
  return Buffer.concat(await Array.fromAsync(tar as unknown as AsyncIterable<Uint8Array>));
}

async function unpack(entries: PackedEntry[], limits?: ArchiveLimits) {
  return unpackBytes(Readable.from([gzipSync(await tarOf(entries))]), limits);
}

function unpackBytes(packed: Readable, limits?: ArchiveLimits, signal = new AbortController().signal) {
  return unpackArchive(packed, { content, claim: async () => undefined, compressInTurn: (compress) => compress(), signal }, limits);
}

async function refusal(entries: PackedEntry[], limits = archiveLimits): Promise<string> {
  const error: unknown = await unpack(entries, limits).then(
    () => assert.fail("was accepted"),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof Problem, String(error));
  assert.deepEqual(await readdir(join(folder, "incoming")), [], "nothing is left of a refused archive");
  return error.message;
}

test("each file is found by the SHA-256 of its bytes, with its size and type", async () => {
  const { manifest, files, bytes, projectFile } = await unpack([
    petstoreJson,
    { name: "index.html", body: page },
    { name: "img", type: "directory" },
    { name: "img/dot.png", body: Buffer.from([1, 2, 3]) },
    { name: "empty.txt", body: "" },
  ]);
  const hash = createHash("sha256").update(page).digest("hex");
  assert.equal(projectFile.name, "Shop");
  assert.deepEqual([files, bytes], [3, page.length + 3]);
  assert.deepEqual([...manifest.keys()].toSorted(), ["empty.txt", "img/dot.png", "index.html"]);
  assert.equal(manifest.get("index.html")?.hash, hash);
  assert.equal(manifest.get("index.html")?.type, "text/html; charset=utf-8");
  assert.equal(await readFile(contentPath(folder, hash), "utf8"), page);
  assert.equal(manifest.get("empty.txt")?.size, 0);
});

test("text is compressed at deploy time, files that gain nothing are not", async () => {
  const noise = createHash("shake256", { outputLength: 4096 }).update("noise").digest();
  const { manifest } = await unpack([
    petstoreJson,
    { name: "a.html", body: page },
    { name: "a.txt", body: noise },
    { name: "b.jpg", body: page },
  ]);
  const { hash, encodings } = manifest.get("a.html")!;
  const brotli = await readFile(contentPath(folder, hash, "br"));
  const gzip = await readFile(contentPath(folder, hash, "gzip"));
  assert.deepEqual(encodings, { br: brotli.length, gzip: gzip.length });
  assert.equal(brotliDecompressSync(brotli).toString(), page);
  assert.equal(gunzipSync(gzip).toString(), page);
  assert.deepEqual(manifest.get("a.txt")?.encodings, {});
  assert.deepEqual(manifest.get("b.jpg")?.encodings, {});
});

test("petstore.json is required and never served", async () => {
  const { manifest } = await unpack([
    { name: "./", type: "directory" },
    { ...petstoreJson, name: "./petstore.json" },
    { name: "./index.html", body: page },
  ]);
  assert.deepEqual([...manifest.keys()], ["index.html"]);
  assert.match(await refusal([{ name: "index.html", body: page }]), /no petstore\.json at its top/);
  assert.match(
    await refusal([{ ...petstoreJson, name: "site/petstore.json" }]),
    /There is "site\/petstore\.json": pack what is inside the folder/,
  );
  assert.match(await refusal([{ name: "petstore.json", body: "{" }]), /petstore\.json: is not JSON/);
  assert.match(await refusal([{ name: "petstore.json", body: " ".repeat(70_000) }]), /the limit is 64 KiB/);
});

test("a manifest is restored from its text, whatever the names of its files", async () => {
  const { manifest } = await unpack([petstoreJson, { name: "__proto__", body: "x" }, { name: "constructor/toString", body: "y" }]);
  assert.deepEqual(manifestFromText(manifestToText(manifest)), manifest);
  assert.ok(manifest.has("__proto__"));
});

test("no entry leads out of the folder", async () => {
  for (const name of ["../a", "a/../../b", "a/..", "./../a", "..", "a/./b", "a//b"]) {
    assert.match(await refusal([petstoreJson, { name, body: "x" }]), /leads out|inside its path/, name);
  }
  assert.match(await refusal([petstoreJson, { name: "/etc/passwd", body: "x" }]), /is an absolute path/);
  assert.match(await refusal([petstoreJson, { name: "C:/x", body: "x" }]), /is an absolute path/);
  assert.match(await refusal([petstoreJson, { name: "a\\..\\b", body: "x" }]), /has a backslash/);
  assert.match(await refusal([petstoreJson, { name: "a\nb", body: "x" }]), /control character/);
  assert.match(await refusal([petstoreJson, { name: "a\u0000b.html", pax: { path: "a\u0000b.html" }, body: "x" }]), /control character/);
});

test("links, devices and pipes are refused", async () => {
  assert.match(await refusal([petstoreJson, { name: "a", type: "symlink", linkname: "/etc/passwd" }]), /"a" is a link/);
  assert.match(await refusal([petstoreJson, { name: "a", type: "link", linkname: "petstore.json" }]), /"a" is a link/);
  for (const type of ["character-device", "block-device", "fifo"] as const) {
    assert.match(await refusal([petstoreJson, { name: "a", type }]), /neither a file nor a folder/, type);
  }
});

test("no two entries have the same path", async () => {
  const x = { body: "x" };
  assert.match(await refusal([petstoreJson, { name: "a", ...x }, { name: "./a", ...x }]), /in the archive twice/);
  assert.match(await refusal([petstoreJson, petstoreJson]), /in the archive twice/);
  assert.match(await refusal([petstoreJson, { name: "Logo.png", ...x }, { name: "logo.png", ...x }]), /differ only in capital letters/);
  assert.match(await refusal([petstoreJson, { name: "e\u0301", ...x }, { name: "\u00e9", ...x }]), /in the archive twice/);
  assert.match(await refusal([petstoreJson, { name: "a", ...x }, { name: "A/b", ...x }]), /is a folder, and "a" a file/);
  assert.match(await refusal([petstoreJson, { name: "a/b", ...x }, { name: "a", ...x }]), /is a file, and "a" a folder/);
});

test("paths that are too long or too deep are refused", async () => {
  assert.match(await refusal([petstoreJson, { name: "x".repeat(256), body: "x" }]), /part longer than 255 bytes/);
  assert.match(await refusal([petstoreJson, { name: "ab/".repeat(32) + "c", body: "x" }]), /deeper than 32 folders/);
  const long = Array.from({ length: 6 }, () => "y".repeat(200)).join("/");
  assert.match(await refusal([petstoreJson, { name: long, body: "x" }]), /longer than 1024 bytes/);
});

test("each limit has its own message", async () => {
  const limits = { ...archiveLimits, packedBytesMax: 20_000, unpackedBytesMax: 3000, filesMax: 3, fileBytesMax: 2000, pathBytesMax: 400 };
  const file = (name: string, size: number): PackedEntry => ({ name, body: "x".repeat(size) });
  assert.equal((await unpack([petstoreJson, file("a", 1000), file("b", 1000), file("c", 900)], limits)).files, 3);
  assert.match(await refusal([petstoreJson, file("a", 2001)], limits), /"a" has 0\.1 MiB; the limit is 0\.1 MiB a file/);
  assert.match(await refusal([petstoreJson, file("a", 2000), file("b", 1500)], limits), /larger than 0\.1 MiB unpacked/);
  assert.match(await refusal([petstoreJson, file("a", 1), file("b", 1), file("c", 1), file("d", 1)], limits), /more than 3 files/);
  const named = [file("x".repeat(200), 1), file("y".repeat(200), 1)];
  assert.match(await refusal([petstoreJson, ...named], limits), /longer than 0\.390625 KiB together/);
  const noise = createHash("shake256", { outputLength: 30_000 }).update("noise").digest();
  assert.match(
    await refusal([petstoreJson, { name: "a", body: noise }], { ...limits, fileBytesMax: 40_000, unpackedBytesMax: 40_000 }),
    /larger than 0\.1 MiB packed/,
  );
});

test("hidden files are left out and listed, of whatever type, but not those of .well-known", async () => {
  const hidden = [".env", ".git/config", "a/.htaccess", "a/Thumbs.db", "desktop.ini", ".well-known/.cache", "a/.well-known/b"];
  const links: PackedEntry[] = [{ name: ".git/link", type: "symlink", linkname: "/etc/passwd" }];
  const files = hidden.map((name): PackedEntry => ({ name, body: "secret" }));
  const published = { name: ".well-known/apple-app-site-association", body: "{}" };
  const { manifest, leftOut } = await unpack([petstoreJson, { name: ".git/", type: "directory" }, ...files, ...links, published]);
  assert.deepEqual(
    Array.from(manifest, ([path, { type }]) => [path, type]),
    [[published.name, "application/json"]],
  );
  assert.deepEqual(leftOut, { count: 8, paths: [...hidden, ".git/link"] });
  const many = Array.from({ length: 30 }, (_, n): PackedEntry => ({ name: `.hidden/${n}`, body: "" }));
  const more = await unpack([petstoreJson, ...many]);
  assert.deepEqual([more.leftOut.count, more.leftOut.paths.length], [30, 20]);
});

test("what macOS adds to an archive is left out, and counts as entries and bytes but not as files", async () => {
  const added = ["__MACOSX/", "__MACOSX/._a", "._a", "img/._dot.png", "._petstore.json"].map((name): PackedEntry => ({ name, body: "" }));
  const entries = [petstoreJson, ...added, { name: "a", body: "x" }, { name: "img/dot.png", body: "y" }];
  const { manifest, files } = await unpack(entries, { ...archiveLimits, filesMax: 2, entriesMax: entries.length });
  assert.deepEqual([[...manifest.keys()], files], [["a", "img/dot.png"], 2]);
  assert.match(
    await refusal(entries, { ...archiveLimits, entriesMax: entries.length - 1 }),
    /has more than 7 entries\. Pack the folder again/,
  );
  const large: PackedEntry = { name: "._a", body: Buffer.alloc(240 * 1024 * 1024) };
  assert.match(await refusal([petstoreJson, large]), /larger than 200 MiB unpacked/);
});

test("what ends the unpacking early is the error, and leaves nothing behind", async () => {
  const whole = gzipSync(await tarOf([petstoreJson, { name: "a", body: page }]));
  const ending = new AbortController();
  const reason = new Error("the service stops");
  const packed = Readable.from(
    (async function* () {
      yield whole.subarray(0, 100);
      ending.abort(reason);
      yield whole.subarray(100);
    })(),
  );
  await assert.rejects(unpackBytes(packed, undefined, ending.signal), reason);
  assert.deepEqual(await readdir(join(folder, "incoming")), []);
});

test("a decompression bomb is refused long before it is unpacked", async () => {
  const zeros = Buffer.alloc(16 * 1024 * 1024);
  const member = gzipSync(zeros);
  let read = 0;
  async function* bomb(): AsyncGenerator<Buffer> {
    for (let index = 0; index < 1000; index += 1) {
      read += zeros.length;
      yield member;
    }
  }
  await assert.rejects(unpackBytes(Readable.from(bomb())), /larger than 200 MiB unpacked/);
  assert.ok(read < 400 * 1024 * 1024, `unpacked ${read} bytes`);
});

test("anything but a complete gzipped tar is refused as such", async () => {
  const whole = gzipSync(await tarOf([petstoreJson, { name: "a", body: createHash("shake256", { outputLength: 9000 }).digest() }]));
  const attempt = (bytes: Buffer) => unpackBytes(Readable.from([bytes]));
  await assert.rejects(attempt(Buffer.from("PK zip, not gzip")), { code: "invalid_request", message: /not a complete gzip file/ });
  await assert.rejects(attempt(whole.subarray(0, whole.length - 4000)), { code: "invalid_request", message: /not a complete gzip file/ });
  await assert.rejects(attempt(gzipSync("no tar ".repeat(200))), { code: "invalid_request", message: /no readable tar archive/ });
  await assert.rejects(attempt(gzipSync((await tarOf([petstoreJson])).subarray(0, 520))), {
    code: "invalid_request",
    message: /breaks off/,
  });
  await assert.rejects(attempt(Buffer.alloc(0)), { code: "invalid_request" });
});

test("zeros with which some tools pad the gzip data are not part of the archive", async () => {
  const whole = gzipSync(await tarOf([petstoreJson, { name: "a", body: "x" }]));
  const zeros = Buffer.alloc(3000);
  const padded = Readable.from([Buffer.concat([whole, zeros]), zeros, zeros]);
  assert.deepEqual([...(await unpackBytes(padded)).manifest.keys()], ["a"]);
});

test("an interrupted upload leaves nothing behind and is not reported as an error of the archive", async () => {
  const broken = Readable.from(
    (async function* () {
      yield gzipSync(await tarOf([petstoreJson])).subarray(0, 40);
      throw new Error("connection lost");
    })(),
  );
  await assert.rejects(unpackBytes(broken), /connection lost/);
  assert.deepEqual(await readdir(join(folder, "incoming")), []);
});

test("equal files are stored once, within a deployment and across deployments", async () => {
  const first = await unpack([petstoreJson, { name: "a.html", body: page }, { name: "b.html", body: page }]);
  const second = await unpack([petstoreJson, { name: "c.html", body: page }]);
  assert.equal(first.manifest.get("a.html")?.hash, first.manifest.get("b.html")?.hash);
  assert.deepEqual(second.manifest.get("c.html"), first.manifest.get("a.html"));
  const { hash } = second.manifest.get("c.html")!;
  const stored = (await readdir(join(folder, hash.slice(0, 2)))).filter((name) => name.startsWith(hash));
  assert.deepEqual(stored.toSorted(), [hash, `${hash}.br`, `${hash}.gz`]);
});

test("archives unpacked at once record the same size for a compressed form that they share, whatever their compression levels", async () => {
  const shared = Array.from({ length: 20_000 }, (_, i) => `${(i * 7919) % 1_009} cats, ${(i * 104_729) % 997} dogs.`).join("\n");
  const small = [petstoreJson, { name: "shared.txt", body: shared }];
  const large = [...small, { name: "large.txt", body: "Cats and dogs. ".repeat(300_000) }];
  const unpacked = await Promise.all([unpack(large), unpack(small), unpack(large)]);
  const [file, ...others] = unpacked.map(({ manifest }) => manifest.get("shared.txt")!);
  for (const other of others) assert.deepEqual(other, file);
  for (const encoding of ["br", "gzip"] as const) {
    assert.equal((await readFile(contentPath(folder, file!.hash, encoding))).length, file!.encodings[encoding]);
  }
});
