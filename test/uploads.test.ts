import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { after, before, suite, test } from "node:test";
import { promisify } from "node:util";
import { createGzip, gzipSync } from "node:zlib";
import { pack, type Header } from "tar-stream";
import { openCustomer } from "./support/customer.ts";
import { temporaryFolder } from "./support/folder.ts";
import type { Failure } from "./support/models.ts";
import { openPlatform, type Platform } from "./support/platform.ts";
import { openRaw } from "./support/raw.ts";
import { keptUploads } from "./support/sites.ts";

type Entry = Partial<Header> & { name: string; body?: string | Buffer };
const oneMiB = 1_048_576;
const petstore: Entry = { name: "petstore.json", body: "{}" };
const site: Entry = { name: "index.html", body: "<h1>new</h1>" };

async function packed(entries: Iterable<Entry>, level = 6): Promise<Buffer> {
  const tar = pack();
  const gzip = tar.pipe(createGzip({ level }));
  for (const { body = "", ...header } of entries) tar.entry(header, body);
  tar.finalize();
  return Buffer.concat((await Array.fromAsync(gzip)) as Buffer[]);
}

const files = (count: number, body: string | Buffer = ""): Entry[] =>
  Array.from({ length: count }, (_, index) => ({ name: `f/${index}.txt`, body }));
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
  ["a bomb in what follows the files", () => gzipSync(Buffer.alloc(240 * oneMiB)), /larger than 200 MiB unpacked|no tar/],
  ["a bomb of folders", () => packed(folders(30_000)), /more than \d+ folders/],
  ["gzip that breaks off", async () => (await packed([petstore, { name: "a", body: noise(20_000) }])).subarray(0, 9_000), /not whole gzip/],
  ["no gzip", () => Buffer.from("PK\u0003\u0004 a zip"), /not whole gzip/],
  ["gzip that holds no tar", () => gzipSync("<h1>a page</h1>".repeat(100)), /no tar that can be read/],
  ["no petstore.json", () => packed([site]), /no petstore\.json at its top/],
  ["petstore.json one folder down", () => packed([{ name: "site/petstore.json", body: "{}" }]), /pack what is inside the folder/],
  ["petstore.json in capitals", () => packed([{ name: "PetStore.JSON", body: "{}" }]), /in this spelling/],
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
    /itself redirects to/,
  ],
  ["a redirect to itself", () => packed(redirects([["a.a.test", "A.a.test."]])), /redirects to itself/],
  [
    "a primary that redirects",
    () => packed(redirects([["a.a.test", "b.a.test"]], "a.a.test")),
    /is the primary domain and cannot redirect/,
  ],
  ["a public suffix", () => packed(redirects([], "co.uk")), /petstore\.json: domains\.primary: co\.uk is a public suffix/],
  ["a name of the platform's", () => packed(redirects([], "other.sites.test")), /assigned by this service/],
  ["a domain that another account holds", () => packed(redirects([], "www.foreign.test")), /attached to another project/],
];

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

  test("may have 2,000 files, pax names, names of 1,000 bytes, a byte order mark, and folders as tar writes them", async () => {
    const own = await platform.project("large", { "index.html": "x" });
    const long = Array.from({ length: 5 }, (_, index) => String(index).repeat(190)).join("/");
    const entries: Entry[] = [
      { name: "./", type: "directory" },
      { name: "./petstore.json", body: '\ufeff{"name": "Large"}' },
      { name: "./f/", type: "directory" },
      ...files(1_997).map((entry) => ({ ...entry, name: `./${entry.name}` })),
      { name: `${long}/größe.html`, body: "long" },
      { name: "Bücher/index.html", body: "books" },
      { name: ".well-known/security.txt", body: "Contact: x" },
    ];
    const deployment = await platform.upload(own, await packed(entries));
    assert.deepEqual([deployment.status, deployment.error, deployment.files], ["ready", null, 2_000]);
    assert.equal((await platform.http("large.sites.test", `/${long}/gr%C3%B6%C3%9Fe.html`)).body, "long");
    assert.equal((await platform.http("large.sites.test", "/B%C3%BCcher/")).body, "books");
    assert.equal((await platform.http("large.sites.test", "/f/1996.txt")).status, 200);
    for (const path of [
      "/petstore.json",
      "/petstore%2ejson",
      "/%70etstore.json",
      "/PETSTORE.JSON",
      "/petstore.json/",
      "/petstore.json.",
      "/./petstore.json",
      "//petstore.json",
    ]) {
      assert.ok([400, 404].includes((await platform.http("large.sites.test", path)).status), path);
    }
  });

  const head = (more: string) =>
    `POST /v1/projects/${project}/deployments HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${platform.service.key}\r\nContent-Type: application/gzip\r\n${more}\r\n\r\n`;

  test("of 50 MiB and a byte returns 413 at once if it has a Content-Length", async () => {
    const connection = await openRaw(platform.service.address);
    await connection.write(head(`Content-Length: ${50 * oneMiB + 1}`));
    await connection.write(Buffer.alloc(100_000));
    const { status, body } = await connection.answer();
    connection.close();
    assert.deepEqual([status, (JSON.parse(body) as { code: string }).code], [413, "payload_too_large"]);
  });

  test("of 50 MiB and a byte without a Content-Length returns 413 while the client still sends", async () => {
    const connection = await openRaw(platform.service.address);
    await connection.write(head("Transfer-Encoding: chunked"));
    const chunk = Buffer.concat([Buffer.from("100000\r\n"), Buffer.alloc(oneMiB), Buffer.from("\r\n")]);
    for (let sent = 0; sent < 51; sent++) await connection.write(chunk);
    const { status, body } = await connection.answer();
    connection.close();
    assert.deepEqual([status, (JSON.parse(body) as { code: string }).code], [413, "payload_too_large"]);
    const listed = await platform.service.ask<{ status: string }[]>("GET", `/projects/${project}/deployments?limit=100`);
    assert.ok(listed.body.every((one) => one.status !== "queued"));
  });

  test("that is interrupted creates no deployment and leaves no file behind", async () => {
    const { hostname, port } = new URL(platform.service.address);
    const socket = connect(Number(port), hostname);
    socket.write(head("Content-Length: 100000"));
    socket.write(Buffer.alloc(50_000), () => socket.destroy());
    await once(socket, "close");
    assert.equal((await platform.upload(project, await packed([site]))).status, "failed");
    assert.deepEqual(await keptUploads(platform.service), []);
  });

  test("that is slow delays only its own account, and frees its place when it is interrupted", async () => {
    const open = await Promise.all(Array.from({ length: 2 }, () => openRaw(platform.service.address)));
    for (const connection of open) await connection.write(head("Content-Length: 100000\r\nExpect: 100-continue"));
    for (const connection of open) assert.equal((await connection.answer()).status, 100);
    const send = async (id: number, key: string) =>
      platform.service.ask<Failure>("POST", `/projects/${id}/deployments`, {
        key,
        body: await packed([petstore, site]),
        headers: { "content-type": "application/gzip" },
      });
    const held = await send(project, platform.service.key);
    assert.deepEqual([held.status, held.body.code, held.headers.get("retry-after")], [503, "unavailable", "5"]);
    const again = await send(project, platform.service.key);
    assert.equal(again.headers.get("x-ratelimit-remaining"), held.headers.get("x-ratelimit-remaining"), "a refusal uses up nothing");
    const other = await openCustomer(platform, "not-held-up");
    assert.equal((await send(other.project, other.key)).status, 202);
    for (const connection of open) connection.close();
    let status = 503;
    for (let tries = 0; tries < 100 && status === 503; tries++) ({ status } = await send(project, platform.service.key));
    assert.equal(status, 202);
    await platform.service.publishing.idle();
  });

  test("may use GNU tar's format for long names", async (t) => {
    const folder = temporaryFolder(t);
    const long = `${"deep/".repeat(25)}${"x".repeat(120)}.html`;
    await mkdir(join(folder, dirname(long)), { recursive: true });
    await writeFile(join(folder, long), "gnu");
    await writeFile(join(folder, "petstore.json"), "{}");
    const run = promisify(execFile)("tar", ["--format=gnu", "-cz", "-C", folder, "."], { encoding: "buffer" });
    const own = await platform.project("gnu", { "index.html": "x" });
    assert.equal((await platform.upload(own, (await run).stdout)).error, null);
    assert.equal((await platform.http("gnu.sites.test", `/${long}`)).body, "gnu");
  });
});
