import assert from "node:assert/strict";
import { unlink } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { brotliDecompressSync, gunzipSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { anyPath } from "../../../test/support/any-text.ts";
import { exchangeRaw, fetchFrom, openTestEdge, throwAwayCertificate, type TestEdge } from "../../../test/support/test-edge.ts";
import type { Site } from "./site.ts";

const page = "<!doctype html>" + "<p>Cats and dogs</p>".repeat(100);
const large = Buffer.alloc(700_000, "0123456789");
let edge: TestEdge;

before(async () => {
  edge = await openTestEdge();
  await edge.publish("shop.petstore.localhost", {
    "index.html": page,
    "404.html": "<h1>Lost</h1>".repeat(20),
    "about/index.html": "<p>About</p>",
    "large.bin": large,
    "empty.bin": "",
    "logo.svgz": gzipSync("<svg/>".repeat(200)),
    "app.3f2a91bc.js": "let a;".repeat(100),
    ".well-known/security.txt": "Contact: x",
    ".well-known/acme-challenge/own": "a file of the site",
  });
  await edge.publish("bare.petstore.localhost", { "a.html": page });
});
after(() => edge.close());

const get = (path: string, options?: Parameters<typeof fetchFrom>[3], host = "shop.petstore.localhost") =>
  fetchFrom(edge, host, path, options);

test("a site is served at its host, whatever the case, port or final dot", async () => {
  for (const host of [
    "shop.petstore.localhost",
    "SHOP.Petstore.localhost",
    "shop.petstore.localhost.",
    `shop.petstore.localhost:${edge.addresses.http.port}`,
  ]) {
    const { status, headers, body } = await get("/", {}, host);
    assert.deepEqual([status, body.toString()], [200, page], host);
    assert.equal(headers["content-type"], "text/html; charset=utf-8");
    assert.equal(headers["x-content-type-options"], "nosniff");
    assert.equal(headers["cache-control"], "public, max-age=0, must-revalidate");
  }
});

test("a picture that is compressed already says so, whatever the visitor accepts", async () => {
  for (const accept of ["br, gzip", "identity"]) {
    const { headers, body } = await get("/logo.svgz", { headers: { "accept-encoding": accept } });
    assert.equal(headers["content-encoding"], "gzip");
    assert.equal(gunzipSync(body).toString(), "<svg/>".repeat(200));
  }
});

test("the last bytes of an empty file are the empty file", async () => {
  const { status, headers } = await get("/empty.bin", { headers: { range: "bytes=-1" } });
  assert.deepEqual([status, headers["content-length"], headers["content-range"]], [200, "0", undefined]);
});

test("a host without a site returns 404, and an invalid host 400", async () => {
  for (const host of ["other.example", "localhost", "127.0.0.1", "[::1]:8081", "petstore.localhost", "x.shop.petstore.localhost"]) {
    assert.equal((await get("/", {}, host)).status, 404, host);
  }
  for (const host of ["a..b", "a/b", "user@shop.petstore.localhost", "a".repeat(5000)]) {
    assert.equal((await get("/", {}, host)).status, 400, host);
  }
  const { port } = edge.addresses.http;
  assert.match(await exchangeRaw(port, "GET / HTTP/1.1\r\nHost:\r\n\r\n"), /^HTTP\/1\.1 400 /);
  assert.match(await exchangeRaw(port, "GET / HTTP/1.1\r\n\r\n"), /^HTTP\/1\.1 400 /);
  assert.match(await exchangeRaw(port, "GET / HTTP/1.0\r\n\r\n"), /^HTTP\/1\.1 400 /);
  assert.match(
    await exchangeRaw(port, "GET / HTTP/1.1\r\nHost: shop.petstore.localhost\r\nHost: other.example\r\n\r\n"),
    /^HTTP\/1\.1 400 /,
  );
});

test("in the absolute form the target's host takes precedence over the Host header", async () => {
  const { port } = edge.addresses.http;
  const reply = await exchangeRaw(port, "GET http://other.example/ HTTP/1.1\r\nHost: shop.petstore.localhost\r\nConnection: close\r\n\r\n");
  assert.match(reply, /^HTTP\/1\.1 404 /);
});

test("HEAD is GET without the body", async () => {
  const { status, headers, body } = await get("/", { method: "HEAD" });
  const full = await get("/");
  assert.deepEqual([status, body.length], [200, 0]);
  assert.deepEqual({ ...headers, date: "" }, { ...full.headers, date: "" });
});

test("any other method returns 405 with `Allow: GET, HEAD`, without waiting for the body", async () => {
  for (const method of ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"]) {
    const { status, headers } = await get("/", { method });
    assert.deepEqual([status, headers.allow], [405, "GET, HEAD"], method);
  }
  const head = "POST / HTTP/1.1\r\nHost: shop.petstore.localhost\r\nContent-Length: 1000000\r\n\r\n";
  assert.match(await exchangeRaw(edge.addresses.http.port, head), /^HTTP\/1\.1 405 [^]*Connection: close/);
});

test("a request with a body is the last of its connection: later requests are not answered", async () => {
  const host = "Host: shop.petstore.localhost\r\n";
  const bodies = [
    `Content-Length: 5\r\n\r\n12345`,
    `Transfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n0\r\n\r\n`,
    `Transfer-Encoding: chunked\r\n\r\n${"1\r\na\r\n".repeat(20_000)}0\r\n\r\n`,
  ];
  for (const body of bodies) {
    const answers = await exchangeRaw(edge.addresses.http.port, `GET /empty.bin HTTP/1.1\r\n${host}${body}GET / HTTP/1.1\r\n${host}\r\n`);
    assert.match(answers, /^HTTP\/1\.1 200 [^]*Connection: close/);
    assert.equal(answers.match(/HTTP\/1\.1/g)?.length, 1);
    assert.equal((await get("/")).body.toString(), page);
  }
});

test("a file is sent in the encoding from deploy time that the client accepts", async () => {
  const brotli = await get("/", { headers: { "accept-encoding": "gzip, br" } });
  const gzip = await get("/", { headers: { "accept-encoding": "gzip" } });
  const plain = await get("/");
  assert.equal(brotliDecompressSync(brotli.body).toString(), page);
  assert.equal(gunzipSync(gzip.body).toString(), page);
  assert.deepEqual(
    [brotli, gzip, plain].map(({ headers }) => headers["content-encoding"]),
    ["br", "gzip", undefined],
  );
  for (const { headers, body } of [brotli, gzip, plain]) {
    assert.equal(headers.vary, "Accept-Encoding");
    assert.equal(headers["content-length"], String(body.length));
  }
  assert.equal(new Set([brotli, gzip, plain].map(({ headers }) => headers.etag)).size, 3);
  assert.equal((await get("/large.bin", { headers: { "accept-encoding": "br" } })).headers.vary, undefined);
});

test("a client that has the file gets 304; each encoding has its own ETag", async () => {
  for (const headers of [{}, { "accept-encoding": "br" }]) {
    const { etag } = (await get("/", { headers })).headers;
    const again = await get("/", { headers: { ...headers, "if-none-match": `"x", W/${etag}` } });
    assert.deepEqual([again.status, again.body.length, again.headers.etag], [304, 0, etag]);
    assert.equal(again.headers["cache-control"], "public, max-age=0, must-revalidate");
    assert.equal((await get("/about/", { headers: { "if-none-match": etag } })).status, 200);
  }
  assert.equal((await get("/", { headers: { "if-match": '"x"' } })).status, 412);
});

test("a range is a part of the uncompressed file; with an outdated If-Range the whole file is sent", async () => {
  const part = await get("/large.bin", { headers: { range: "bytes=10-19" } });
  assert.deepEqual([part.status, part.body.toString(), part.headers["content-range"]], [206, "0123456789", "bytes 10-19/700000"]);
  const compressible = await get("/", { headers: { range: "bytes=0-8", "accept-encoding": "br" } });
  assert.deepEqual(
    [compressible.status, compressible.body.toString(), compressible.headers["content-encoding"]],
    [206, "<!doctype", undefined],
  );
  const tail = await get("/large.bin", { headers: { range: "bytes=-300000", "if-range": part.headers.etag } });
  assert.deepEqual([tail.status, tail.body.equals(large.subarray(400_000))], [206, true]);
  assert.equal((await get("/large.bin", { headers: { range: "bytes=0-1", "if-range": '"other"' } })).status, 200);
  assert.equal((await get("/large.bin", { headers: { range: "bytes=0-1,5-6" } })).body.length, large.length);
  assert.equal((await get("/large.bin", { method: "HEAD", headers: { range: "bytes=0-1" } })).status, 200);
  const beyond = await get("/large.bin", { headers: { range: "bytes=700000-" } });
  assert.deepEqual([beyond.status, beyond.headers["content-range"]], [416, "bytes */700000"]);
});

test("large and empty files arrive complete", async () => {
  assert.ok((await get("/large.bin")).body.equals(large));
  const empty = await get("/empty.bin");
  assert.deepEqual([empty.status, empty.headers["content-length"], empty.body.length], [200, "0", 0]);
});

test("a file whose name has a digest is cached for good", async () => {
  assert.equal((await get("/app.3f2a91bc.js")).headers["cache-control"], "public, max-age=31536000, immutable");
});

test("a folder without its final slash redirects to it with the query, within the site", async () => {
  const { status, headers } = await get("/about?x=1");
  assert.deepEqual([status, headers.location], [301, "/about/?x=1"]);
  assert.equal((await get("/about/")).body.toString(), "<p>About</p>");
  assert.equal((await get("//about")).status, 404);
});

test("an unknown path gets the site's 404.html, or a short text if the site has none", async () => {
  const lost = await get("/nowhere", { headers: { "if-none-match": "*", range: "bytes=0-1" } });
  assert.deepEqual([lost.status, lost.body.toString()], [404, "<h1>Lost</h1>".repeat(20)]);
  assert.match((await get("/nowhere", {}, "bare.petstore.localhost")).body.toString(), /no such page/);
  assert.equal((await get("/", {}, "bare.petstore.localhost")).status, 404);
  assert.equal((await get("/petstore.json")).status, 404);
});

test("whatever the path, the answer is a file or a client error, never a server error", async () => {
  const step = fc.oneof(fc.constantFrom("..", "%2e%2e", "%2f", "%5c", "%00", "%25", "about", "large.bin", "/", "?", "%ff"), anyPath);
  const logged = edge.lines.length;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 6 }), async (steps) => {
      const { status } = await get(`/${steps.join("/")}`);
      assert.ok([200, 301, 400, 404].includes(status), String(status));
    }),
    { numRuns: 200 },
  );
  assert.equal(edge.lines.length, logged);
});

test("a site is not served while it is suspended, and is served again afterwards", async () => {
  const site = edge.sites.get("bare.petstore.localhost")!;
  edge.sites.set("bare.petstore.localhost", { status: "suspended" });
  assert.equal((await get("/a.html", {}, "bare.petstore.localhost")).status, 404);
  edge.sites.set("bare.petstore.localhost", site);
  assert.equal((await get("/a.html", {}, "bare.petstore.localhost")).status, 200);
});

test("a redirecting domain keeps path and query, with each status", async () => {
  const { port } = edge.addresses.http;
  for (const code of [301, 302, 307, 308] as const) {
    edge.sites.set("old.example", { status: "redirect", to: "shop.petstore.localhost", code });
    const { status, headers } = await get("/a%20b/%2e?x=/y&z=%0d", {}, "old.example");
    assert.equal(status, 400, "an invalid path is not passed on");
    const redirected = await get("/a%20b//c?x=/y&z=%0d", { method: "POST" }, "old.example");
    assert.deepEqual(
      [redirected.status, redirected.headers.location],
      [code, `http://shop.petstore.localhost:${port}/a%20b//c?x=/y&z=%0d`],
    );
    assert.equal(headers.location, undefined);
  }
});

test("the files of a site name its canonical address with path and query, and other answers do not", async () => {
  const { port } = edge.addresses.http;
  const site = edge.sites.get("shop.petstore.localhost") as Extract<Site, { status: "live" }>;
  edge.sites.set("other.example", { ...site, canonical: "own.example" });
  const linkOf = async (path: string, headers = {}) => (await get(path, { headers }, "other.example")).headers.link;
  assert.equal(await linkOf("/about/?x=1"), `<http://own.example:${port}/about/?x=1>; rel="canonical"`);
  assert.equal(await linkOf("/large.bin", { range: "bytes=0-1" }), `<http://own.example:${port}/large.bin>; rel="canonical"`);
  assert.equal(await linkOf('/?a=<b>;c=%22"d'), `<http://own.example:${port}/?a=%3Cb%3E;c=%22%22d>; rel="canonical"`);
  for (const path of ["/about", "/nowhere"]) assert.equal(await linkOf(path), undefined, path);
  assert.equal((await get("/about/")).headers.link, undefined);
  edge.certificates.set("own.example", throwAwayCertificate("own.example"));
  assert.equal(await linkOf("/about/"), `<https://own.example:${edge.addresses.https?.port}/about/>; rel="canonical"`);
});

test("HTTP redirects to HTTPS if the name has a certificate, except for ACME challenges", async () => {
  await edge.publish("secure.example", { "index.html": page });
  edge.sites.set("from.example", { status: "redirect", to: "secure.example", code: 302 });
  edge.certificates.set("secure.example", throwAwayCertificate("secure.example"));
  edge.authorizations.set("secure.example/token", "token.thumbprint").set("from.example/token", "other").set("pending.example/t", "third");
  const port = edge.addresses.https?.port;
  const { status, headers } = await get("/x?y", {}, "secure.example");
  assert.deepEqual([status, headers.location], [308, `https://secure.example:${port}/x?y`]);
  assert.equal((await get("/x?y", {}, "from.example")).headers.location, `https://secure.example:${port}/x?y`, "in one hop");
  assert.equal((await get("/.well-known/acme-challenge/token", {}, "SECURE.example")).body.toString(), "token.thumbprint");
  assert.equal((await get("/.well-known/acme-challenge/token", {}, "from.example")).body.toString(), "other");
  assert.equal((await get("/.well-known/acme-challenge/t", {}, "pending.example")).body.toString(), "third");
  for (const host of ["secure.example", "from.example", "pending.example"]) {
    assert.equal((await get("/.well-known/acme-challenge/unknown", {}, host)).status, 404, host);
  }
  edge.sites.set("custom.example", edge.sites.get("shop.petstore.localhost")!);
  assert.equal((await get("/.well-known/acme-challenge/own", {}, "custom.example")).body.toString(), "a file of the site");
});

test("a site at a name of the platform cannot answer ACME challenges, however the path is encoded", async () => {
  edge.authorizations.set("shop.petstore.localhost/token", "token.thumbprint");
  assert.equal((await get("/.well-known/acme-challenge/token")).body.toString(), "token.thumbprint");
  for (const path of ["acme-challenge/own", "acme-challenge/own?x", "%61cme-challenge/own", "acme-challenge/", "acme-challenge"]) {
    const { status, body } = await get(`/.well-known/${path}`);
    assert.deepEqual([status, body.toString()], [404, "There is no such challenge."], path);
  }
  assert.equal((await get("/.well-known/security.txt")).body.toString(), "Contact: x");
});

test("the next request gets the new deployment", async () => {
  await edge.publish("new.example", { "index.html": "one" });
  assert.equal((await get("/", {}, "new.example")).body.toString(), "one");
  await edge.publish("new.example", { "index.html": "two" });
  assert.equal((await get("/", {}, "new.example")).body.toString(), "two");
});

test("a file that is missing on disk returns a neutral 500 and logs a line", async () => {
  await edge.publish("broken.example", { "small.bin": "gone", "large.bin": large.subarray(1) });
  const site = edge.sites.get("broken.example");
  assert.ok(site?.status === "live");
  for (const { hash } of site.manifest.values()) await unlink(join(edge.folder, hash));
  for (const path of ["/small.bin", "/large.bin"]) {
    const logged = edge.lines.length;
    const { status, body } = await get(path, {}, "broken.example");
    assert.deepEqual([status, body.toString()], [500, "Something went wrong on our side."]);
    assert.equal(edge.lines.length, logged + 1);
  }
});

test("a browser gets a refusal as a page, a program as plain text", async () => {
  const accept = "text/html,application/xhtml+xml,*/*;q=0.8";
  for (const [host, path, status, text] of [
    ["nobody.petstore.localhost", "/", 404, "There is no site at this address."],
    ["bare.petstore.localhost", "/nope", 404, "There is no such page on this site."],
    ["bare.petstore.localhost", "/%", 400, "The request has no valid path."],
  ] as const) {
    const plain = await get(path, {}, host);
    assert.deepEqual([plain.status, plain.headers["content-type"], plain.body.toString()], [status, "text/plain; charset=utf-8", text]);
    const { headers, body, ...shown } = await get(path, { headers: { accept } }, host);
    assert.deepEqual([shown.status, headers["content-type"]], [status, "text/html; charset=utf-8"]);
    assert.match(body.toString(), new RegExp(`<p>${text}</p>`));
    assert.match(String(headers["content-security-policy"]), /^default-src 'none'; style-src 'sha256-/);
    const head = await get(path, { method: "HEAD", headers: { accept } }, host);
    assert.equal(head.headers["content-length"], String(body.length));
  }
  const own = await get("/nope", { headers: { accept } });
  assert.equal(own.body.toString(), "<h1>Lost</h1>".repeat(20), "a site's own page stays");
});
