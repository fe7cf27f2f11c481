import assert from "node:assert/strict";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { test, type TestContext } from "node:test";
import { fetchFrom, openTestEdge, throwAwayCertificate } from "../../../test/support/test-edge.ts";
import { until } from "../../../test/support/until.ts";
import { renderMetrics } from "../../platform/metrics.ts";
import { countVisits, openAccessLog, type OnVisit } from "./visits.ts";

type Line = Record<string, unknown>;

/** An edge with a site at a platform name and at a custom one, the lines of its access log, and its metrics. */
async function openScene(t: TestContext) {
  const lines: Line[] = [];
  const write = openAccessLog(
    () => 1_000,
    (line) => void lines.push(JSON.parse(line) as Line),
  );
  const { onVisit: count, metrics } = countVisits("petstore.localhost");
  const onVisit: OnVisit = (visit, ms) => {
    write(visit, ms);
    count(visit, ms);
  };
  const edge = await openTestEdge({ onVisit });
  t.after(() => edge.close(0));
  for (const host of ["shop.petstore.localhost", "shop.example"]) await edge.publish(host, { "index.html": "<h1>Shop</h1>" });
  const counted = (labels: string): number =>
    Number(new RegExp(`^petstore_edge_requests_total\\{${labels}\\} (\\d+)$`, "m").exec(renderMetrics(metrics()))?.[1]);
  return { edge, lines, counted, metrics };
}

const plain = (line: Line | undefined): Line => {
  const { ms, requestId, ...more } = line ?? {};
  assert.ok(typeof ms === "number" && ms >= 0 && ms < 60_000, String(ms));
  assert.match(String(requestId), /^[\w.-]{1,128}$/);
  return more;
};

test("each visit is one line, with its host and without its query", async (t) => {
  const { edge, lines } = await openScene(t);
  const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  await fetchFrom(edge, "Shop.Example:80", "/?token=hush", { headers: { "x-request-id": "mine-1", traceparent } });
  assert.equal(lines[0]?.["requestId"], "mine-1");
  assert.deepEqual(plain(lines[0]), {
    level: 30,
    time: 1_000,
    host: "shop.example",
    method: "GET",
    path: "/",
    status: 200,
    bytes: 13,
    protocol: "http/1.1",
    traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
  });
  await fetchFrom(edge, "nobody.example", '/a"b');
  await fetchFrom(edge, "a b", "/x");
  await fetchFrom(edge, "shop.example", "/", { method: "HEAD" });
  const shown = lines.slice(1).map(({ host, path, status, bytes }) => [host, path, status, bytes]);
  assert.deepEqual(shown.at(-1), ["shop.example", "/", 200, 0]);
  assert.deepEqual(shown[0]?.slice(0, 3), ["nobody.example", '/a"b', 404]);
  assert.deepEqual(shown[1]?.slice(0, 3), [null, "/x", 400]);
  assert.ok(!JSON.stringify(lines).includes("hush"));
});

test("visits over HTTP/2 are lines too, and metrics count visits by kind of host, protocol and status, never by name", async (t) => {
  const { edge, lines, counted, metrics } = await openScene(t);
  edge.certificates.set("shop.example", throwAwayCertificate("shop.example"));
  const client = connectHttp2(`https://localhost:${edge.addresses.https?.port}`, { servername: "shop.example", rejectUnauthorized: false });
  t.after(() => client.destroy());
  const stream = client.request({ ":authority": "shop.example", ":path": "/?x" });
  stream.resume();
  await once(stream, "close");
  assert.deepEqual([lines[0]?.["protocol"], lines[0]?.["path"], lines[0]?.["bytes"]], ["h2", "/", 13]);
  await fetchFrom(edge, "shop.petstore.localhost", "/");
  await fetchFrom(edge, "nobody.example", "/");
  assert.equal(counted('host="custom",protocol="h2",class="2xx"'), 1);
  assert.equal(counted('host="platform",protocol="http/1.1",class="2xx"'), 1);
  assert.equal(counted('host="unknown",protocol="http/1.1",class="4xx"'), 1);
  assert.doesNotMatch(renderMetrics(metrics()), /shop|nobody/);
});

test("a 500 logs host, path and request id with its cause, and its answer has the same id", async (t) => {
  const { edge, lines } = await openScene(t);
  rmSync(edge.folder, { recursive: true });
  const { status, headers } = await fetchFrom(edge, "shop.example", "/?token=hush");
  assert.equal(status, 500);
  const [cause] = edge.lines as Line[];
  assert.deepEqual([cause?.["host"], cause?.["path"], cause?.["requestId"]], ["shop.example", "/", headers["x-request-id"]]);
  assert.match(String(cause?.["err"]), /ENOENT/);
  assert.deepEqual([lines[0]?.["status"], lines[0]?.["requestId"]], [500, headers["x-request-id"]]);
});

test("the line of an answer that the visitor did not wait for says so, with the bytes that were sent", async (t) => {
  const { edge, lines } = await openScene(t);
  await edge.publish("large.example", { "large.bin": Buffer.alloc(64 << 20) });
  const socket = connect(edge.addresses.http.port, "127.0.0.1");
  socket.write("GET /large.bin HTTP/1.1\r\nHost: large.example\r\n\r\n");
  await once(socket, "data");
  socket.destroy();
  await until(async () => lines.length === 1);
  assert.equal(lines[0]?.["cut"], true);
  assert.ok(Number(lines[0]?.["bytes"]) < 64 << 20);
});
