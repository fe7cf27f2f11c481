import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { gzipSync } from "node:zlib";
import { files, oneMiB, packed, petstore, site, type Entry } from "./support/archives.ts";
import { openPlatform, type Platform } from "./support/platform.ts";
import { endMarker, paxHeader, rawEntry } from "./support/tar-bytes.ts";

const withFile = (text: string): Entry[] => [{ name: "petstore.json", body: text }, site];

/** Refused uploads, and the words of the error that say what to change. */
const refused: [what: string, archive: () => Promise<Buffer> | Buffer, reason: RegExp][] = [
  [
    "a path that leads out",
    () => packed([petstore, site, { name: "../../etc/cron.d/x" }]),
    /"\.\.\/\.\.\/etc\/cron\.d\/x" leads out .* Pack only/,
  ],
  ["an absolute path", () => packed([petstore, site, { name: "/etc/passwd" }]), /absolute path/],
  ["a symbolic link", () => packed([petstore, site, { name: "a", type: "symlink", linkname: "/etc/passwd" }]), /"a" is a link/],
  ["a hard link", () => packed([petstore, site, { name: "a", type: "link", linkname: "petstore.json" }]), /"a" is a link/],
  [
    "a device",
    () => packed([petstore, site, { name: "a", type: "block-device", devmajor: 8, devminor: 0 }]),
    /neither a file nor a folder/,
  ],
  ["a path twice", () => packed([petstore, site, site]), /in the archive twice/],
  ["names that differ in case alone", () => packed([petstore, site, { name: "INDEX.html" }]), /differ only in capital letters/],
  ["a backslash in a name", () => packed([petstore, { name: "a\\b" }]), /has a backslash/],
  ["a NUL in a name", () => packed([petstore, { name: "a", pax: { path: "a\0b" } }]), /control character/],
  ["2,001 files", () => packed([petstore, ...files(2_001)]), /more than 2000 files/],
  [
    "a file of 25 MiB and a byte",
    () => packed([petstore, { name: "a.bin", body: Buffer.alloc(25 * oneMiB + 1) }]),
    /"a\.bin" has 25\.1 MiB/,
  ],
  ["a bomb of few large files", () => packed([petstore, ...files(9, Buffer.alloc(24 * oneMiB))]), /larger than 200 MiB unpacked/],
  [
    "a bomb in what follows the files",
    () => gzipSync(Buffer.alloc(240 * oneMiB), { level: 1 }),
    /larger than 200 MiB unpacked|no readable tar/,
  ],
  ["a bomb of folders", () => packed(folders(10_001)), /more than 10,000 entries/],
  [
    "a global pax header of 4 MiB, before small ones",
    () => tarred(paxHeader(records(400_000), "g"), paxHeader(records(1)), home),
    /global pax header of more than 64 KiB\. Pack the folder again/,
  ],
  ["a pax header of 65 keys", () => tarred(paxHeader(records(65)), home), /pax header with more than 64 keys/],
  ["two pax headers for one file", () => tarred(paxHeader(records(1)), paxHeader(records(1)), home), /more than one pax header/],
  ["a sparse file", () => tarred(paxHeader([["GNU.sparse.major", "1"]]), home), /has a sparse file of an unknown form/],
  ["entries behind the end", () => tarred(home, endMarker, home), /other data behind its end/],
  [
    "entries in a second gzip member",
    async () => Buffer.concat([await packed([petstore, site]), await packed([site])]),
    /other data behind its end/,
  ],
  [
    "entries behind the gzip data",
    async () => Buffer.concat([await packed([petstore, site]), Buffer.alloc(9), await packed([site])]),
    /other data behind its gzip data/,
  ],
  ["gzip in gzip", async () => gzipSync(await packed([petstore, site])), /compressed twice/],
  [
    "gzip that breaks off",
    async () => (await packed([petstore, { name: "a", body: noise(20_000) }])).subarray(0, 9_000),
    /not a complete gzip file/,
  ],
  ["neither gzip nor zip", () => Buffer.from("Rar! an archive"), /not a complete gzip file/],
  ["no whole zip file", () => Buffer.from("PK\u0003\u0004 a zip"), /a zip file that breaks off/],
  ["gzip that holds no tar", () => gzipSync("<h1>a page</h1>".repeat(100)), /no readable tar archive/],
  ["no petstore.json", () => packed([site]), /no petstore\.json at its top/],
  ["petstore.json one folder down", () => packed([{ name: "site/petstore.json", body: "{}" }]), /pack what is inside the folder/],
  ["petstore.json in capitals", () => packed([{ name: "PetStore.JSON", body: "{}" }]), /name the file in lower case/],
  ["petstore.json that is no JSON", () => packed(withFile("{name: 1}")), /petstore\.json: is not JSON/],
  ["petstore.json in UTF-16", () => packed([{ name: "petstore.json", body: Buffer.from("\ufeff{}", "utf16le") }]), /is not UTF-8/],
  ["petstore.json that is a list", () => packed(withFile("[]")), /must be an object/],
  ["petstore.json with a misspelt field", () => packed(withFile('{"domain": {}}')), /unknown field "domain"; known are .*domains/],
  ["a name that is no text", () => packed(withFile('{"name": 7}')), /`name` must be a text/],
  ["domains that are a text", () => packed(withFile('{"domains": "www.a.test"}')), /`domains` must be an object/],
  ["a primary with https://", () => packed(withFile('{"domains": {"primary": "https://www.a.test/"}}')), /write the host name alone/],
  ["a redirect with a status of 200", () => packed(redirects([["a.a.test", "b.a.test", 200]])), /redirects\[0\]\.status` must be 301/],
  [
    "a redirect loop",
    () =>
      packed(
        redirects([
          ["a.a.test", "b.a.test"],
          ["b.a.test", "a.a.test"],
        ]),
      ),
    /These redirects make a loop/,
  ],
  ["a redirect to itself", () => packed(redirects([["a.a.test", "A.a.test."]])), /cannot redirect to itself/],
  [
    "a primary that redirects",
    () => packed(redirects([["a.a.test", "b.a.test"]], "a.a.test")),
    /is the primary name, so it cannot redirect/,
  ],
  ["a public suffix", () => packed(redirects([], "co.uk")), /petstore\.json: domains\.primary: co\.uk is a public suffix/],
  ["a name of the platform's", () => packed(redirects([], "other.sites.test")), /assigned by this service/],
  ["a domain that another account holds", () => packed(redirects([], "www.foreign.test")), /attached to another project/],
];

const home = rawEntry({ name: "index.html" }, "<h1>new</h1>");
const records = (count: number) => Array.from({ length: count }, (_, key) => [key.toString(36), ""] as const);
const tarred = (...pieces: Buffer[]): Buffer => gzipSync(Buffer.concat([rawEntry({ name: "petstore.json" }, "{}"), ...pieces, endMarker]));

function* folders(count: number): Generator<Entry> {
  yield petstore;
  for (let index = 0; index < count; index++) yield { name: `d${index}`, type: "directory" };
}

function redirects(list: [from: string, to: string, status?: number][], primary?: string): Entry[] {
  const domains = { primary, redirects: list.map(([from, to, status]) => ({ from, to, status })) };
  return withFile(JSON.stringify({ domains }));
}

/** Bytes that do not compress, the same each time. */
function noise(length: number): Buffer {
  let state = 1;
  return Buffer.from(Array.from({ length }, () => (state = (state * 1_103_515_245 + 12_345) & 0x7fffffff) >> 16));
}

suite("an upload", () => {
  let platform: Platform;
  let project: number;
  before(async () => {
    platform = await openPlatform();
    project = await platform.project("rex", { "index.html": "<h1>old</h1>" });
    const other = await platform.service.newAccount("pro");
    const theirs = await platform.project("other", { "index.html": "other" }, { key: other.key });
    await platform.addDomain(theirs, "www.foreign.test", other.key);
  });
  after(() => platform.close());

  for (const [what, archive, reason] of refused) {
    test(`fails with a reason that says what to change, and applies nothing: ${what}`, async () => {
      const deployment = await platform.upload(project, await archive());
      assert.equal(deployment.status, "failed");
      assert.match(deployment.error ?? "", reason);
      assert.equal((await platform.http("rex.sites.test", "/")).body, "<h1>old</h1>");
      assert.deepEqual((await platform.service.ask("GET", `/projects/${project}/domains`)).body, []);
    });
  }
});
