import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { startService, type TestService } from "./support/service.ts";
import { newCategory, newPet } from "./support/shop.ts";
import { fetchFrom, openTestEdge, type TestEdge } from "./support/test-edge.ts";
import { until } from "./support/until.ts";

/*
 * Entity tags, preconditions and content codings work the same in all answers: pages, the description, the resources of
 * the API, and published files (RFC 9110, 8.8.3, 12.5.3 and 13).
 */
const host = "shop.petstore.localhost";
let service: TestService;
let edge: TestEdge;
let petPath: string;
before(async () => {
  service = await startService();
  edge = await openTestEdge();
  await edge.publish(host, { "index.html": "<p>Cats and dogs</p>".repeat(100), "404.html": "<p>Lost</p>".repeat(100) });
  petPath = `/v1/pets?id=${(await newPet(service, (await newCategory(service, "Dogs")).id)).id}`;
  await until(async () => (await ask("/openapi.json", { "accept-encoding": "gzip" })).headers["content-encoding"] === "gzip");
});
after(async () => {
  await edge.close();
  await service.close();
});

type Headers = Record<string, string>;

/** One request to the API's port, which is left as it is: fetch would add an Accept-Encoding. */
function ask(path: string, headers: Headers = {}, method = "GET") {
  const { hostname, port } = new URL(service.address);
  const own = { addresses: { http: { host: hostname, port: Number(port) } } } as unknown as TestEdge;
  return fetchFrom(own, `localhost:${port}`, path, { method, headers: { ...headers, authorization: `Bearer ${service.key}` } });
}

/** Every place that answers with an entity tag, and whether that tag is weak. */
const places = {
  "a page": { isWeak: true, get: (headers?: Headers, method?: string) => ask("/reference", headers, method) },
  "openapi.json": { isWeak: true, get: (headers?: Headers, method?: string) => ask("/openapi.json", headers, method) },
  "a resource of the API": { isWeak: false, get: (headers?: Headers, method?: string) => ask(petPath, headers, method) },
  "a published file": {
    isWeak: false,
    get: (headers: Headers = {}, method = "GET") => fetchFrom(edge, host, "/", { headers, method }),
  },
};

for (const [name, { isWeak, get }] of Object.entries(places)) {
  test(`${name}: If-None-Match compares weakly, so both spellings of the tag and * give a 304 with the tag and no body`, async () => {
    const { status, headers } = await get();
    const etag = headers.etag ?? "";
    assert.equal(status, 200);
    assert.match(etag, isWeak ? /^W\/"[^"]+"$/ : /^"[^"]+"$/);
    const opaque = etag.replace("W/", "");
    for (const list of [opaque, `W/${opaque}`, `"other", W/${opaque}`, `"a","b" ,${opaque}`, "*"]) {
      for (const method of ["GET", "HEAD"]) {
        const again = await get({ "if-none-match": list }, method);
        assert.deepEqual([again.status, again.headers.etag, again.body.length], [304, etag, 0], `${method} ${list}`);
        assert.equal(again.headers.vary, headers.vary, list);
        assert.equal(again.headers["cache-control"], headers["cache-control"], list);
      }
    }
    for (const list of ['"other"', opaque.slice(1, -1), `w/${opaque}`, ""]) {
      assert.equal((await get({ "if-none-match": list })).status, 200, list);
    }
  });

  test(`${name}: If-Match compares strongly and comes before If-None-Match`, async () => {
    const { etag = "" } = (await get()).headers;
    const opaque = etag.replace("W/", "");
    const strong = isWeak ? 412 : 200;
    for (const [list, status] of [
      [opaque, strong],
      [`"other", ${opaque}`, strong],
      [`W/${opaque}`, 412],
      ['"other"', 412],
      ["*", 200],
    ] as const) {
      assert.equal((await get({ "if-match": list })).status, status, list);
    }
    assert.equal((await get({ "if-match": '"other"', "if-none-match": etag })).status, 412);
    assert.equal((await get({ "if-match": "*", "if-none-match": etag })).status, 304);
  });
}

for (const name of ["a page", "openapi.json", "a published file"] as const) {
  test(`${name}: the coding is the best that Accept-Encoding takes, by its qualities, * and identity`, async () => {
    const { get } = places[name];
    const plain = await get();
    assert.equal(plain.headers["content-encoding"], undefined);
    assert.equal(plain.headers.vary, "Accept-Encoding");
    const chosen: [string, string | undefined][] = [
      ["gzip, br", "br"],
      ["GZIP;q=0.5, br;q=0", "gzip"],
      ["*", "br"],
      ["br;q=0, *;q=0.1", "gzip"],
      ["*;q=0", undefined],
      ["gzip;q=0, br;q=0, *", undefined],
      ["identity", undefined],
      ["identity, gzip;q=0.5", undefined],
      ["identity;q=0, gzip", "gzip"],
      ["identity;q=0", undefined],
      ["", undefined],
    ];
    for (const [header, coding] of chosen) {
      const { status, headers, body } = await get({ "accept-encoding": header });
      assert.deepEqual([status, headers["content-encoding"]], [200, coding], header);
      assert.deepEqual(decoded(body, coding), plain.body, header);
    }
  });
}

test("a missing page or file is a 404, whatever the preconditions", async () => {
  const preconditions: Headers[] = [{ "if-none-match": "*" }, { "if-match": '"other"' }];
  for (const headers of preconditions) {
    assert.equal((await ask("/nothing", { ...headers, accept: "text/html" })).status, 404);
    assert.equal((await fetchFrom(edge, host, "/nothing", { headers })).status, 404);
  }
});

function decoded(body: Buffer, coding: string | undefined): Buffer {
  if (coding === undefined) return body;
  return coding === "br" ? brotliDecompressSync(body) : gunzipSync(body);
}
