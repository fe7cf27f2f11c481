import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { after, before, suite, test } from "node:test";
import { promisify } from "node:util";
import { files, oneMiB, packed, petstore, site, type Entry } from "./support/archives.ts";
import { openCustomer } from "./support/customer.ts";
import { temporaryFolder } from "./support/folder.ts";
import type { Failure } from "./support/models.ts";
import { openPlatform, type Platform } from "./support/platform.ts";
import { openRaw } from "./support/raw.ts";
import { testOnce } from "./support/service.ts";
import { keptUploads } from "./support/sites.ts";

suite("an upload", () => {
  let platform: Platform;
  let project: number;
  before(async () => {
    platform = await openPlatform();
    project = await platform.project("rex", { "index.html": "<h1>old</h1>" });
  });
  after(() => platform.close());

  test("may have 2,000 files, what macOS adds for each, pax names, names of 1,000 bytes, a byte order mark, and folders as tar writes them", async () => {
    const own = await platform.project("large", { "index.html": "x" });
    const long = Array.from({ length: 5 }, (_, index) => String(index).repeat(190)).join("/");
    const entries: Entry[] = [
      { name: "./", type: "directory" },
      { name: "./petstore.json", body: '\ufeff{"name": "Large"}' },
      { name: "./f/", type: "directory" },
      ...files(1_997).map((entry) => ({ ...entry, name: `./${entry.name}` })),
      ...files(1_997).map((entry) => ({ name: `./${entry.name.replace("/", "/._")}`, pax: { "LIBARCHIVE.creationtime": "1764075600" } })),
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

  testOnce("of 50 MiB and a byte returns 413 at once if it has a Content-Length", async () => {
    const connection = await openRaw(platform.service.address);
    await connection.write(head(`Content-Length: ${50 * oneMiB + 1}`));
    await connection.write(Buffer.alloc(100_000));
    const { status, body } = await connection.answer();
    connection.close();
    assert.deepEqual([status, (JSON.parse(body) as { code: string }).code], [413, "payload_too_large"]);
  });

  testOnce("of 50 MiB and a byte without a Content-Length returns 413 while the client still sends", async () => {
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

  testOnce("may use GNU tar's format for long names", async (t) => {
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
