import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { test, type TestContext } from "node:test";
import { startRedis } from "./support/redis-process.ts";
import { ask, startService } from "./support/service.ts";
import { packSite } from "./support/sites.ts";
import { until } from "./support/until.ts";
import { startReceiver } from "./support/webhooks.ts";

type Span = {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  status: { code?: number };
  attributes: { key: string; value: { stringValue?: string; intValue?: string } }[];
};
type Resource = { attributes: { key: string; value: { stringValue: string } }[] };
type Export = { resourceSpans: { resource: Resource; scopeSpans: { spans: Span[] }[] }[] };

/** A collector that keeps what it gets; with `hangs` it never answers. */
async function openCollector(t: TestContext, { hangs = false } = {}) {
  const exports: Export[] = [];
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    void json(request).then((sent) => {
      exports.push(sent as Export);
      return hangs ? undefined : response.end("{}");
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const spans = (): Span[] =>
    exports.flatMap(({ resourceSpans }) => resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((one) => one.spans)));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, exports, requests, spans };
}

const attributesOf = (span: Span): Record<string, string | number> =>
  Object.fromEntries(span.attributes.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)]));

async function start(t: TestContext, endpoint: string, more: Record<string, string> = {}) {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_HEADERS: "x-token=hush", OTEL_EXPORTER_OTLP_TIMEOUT: "60000" };
  const service = await startService({ env: { ...env, OTEL_SERVICE_NAME: "shop", OTEL_BSP_SCHEDULE_DELAY: "20", ...more } });
  t.after(() => service.close());
  return service;
}

test("each request is a span by the conventions of OpenTelemetry with operation, status and account, which continues the caller's trace", async (t) => {
  const collector = await openCollector(t);
  const service = await start(t, collector.url);
  const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
  const headers = (flags: string) => ({ traceparent: `00-${traceId}-00f067aa0ba902b7-${flags}` });
  await service.ask("GET", "/pets?limit=77", { headers: headers("01") });
  await service.ask("GET", "/categories", { headers: headers("00") });
  await service.ask("GET", "/pets", { key: "" });
  const ofRequests = () => collector.spans().filter(({ kind }) => kind === 2);
  await until(() => ofRequests().length === 2);
  const [span, refused] = ofRequests();
  assert.deepEqual([span?.traceId, span?.parentSpanId, span?.name, span?.kind], [traceId, "00f067aa0ba902b7", "GET /v1/pets", 2]);
  const { "petstore.request_id": requestId, ...attributes } = attributesOf(span!);
  assert.match(String(requestId), /^[\w-]+$/);
  assert.deepEqual(attributes, {
    "http.request.method": "GET",
    "http.route": "/v1/pets",
    "url.scheme": "http",
    "url.path": "/v1/pets",
    "http.response.status_code": 200,
    "network.protocol.version": "1.1",
    "petstore.operation": "listPets",
    "petstore.account_id": service.accountId,
  });
  assert.ok(BigInt(span!.endTimeUnixNano) >= BigInt(span!.startTimeUnixNano));
  assert.match(refused!.traceId, /^[0-9a-f]{32}$/);
  assert.equal(refused!.parentSpanId, undefined);
  assert.equal(collector.requests[0]?.url, "/v1/traces");
  assert.equal(collector.requests[0]?.headers["x-token"], "hush");
  assert.equal(collector.exports[0]?.resourceSpans[0]?.resource.attributes[0]?.value.stringValue, "shop");
  assert.doesNotMatch(JSON.stringify(collector.exports), /hush|limit=77/);
});

test("a span has the template of its path in its name, and no more methods than the conventions know", async (t) => {
  const collector = await openCollector(t);
  const service = await start(t, collector.url);
  const request = (method: string, path: string) => ask(service.address + path, method, { key: service.key });
  await request("GET", "/v1/pets/77");
  await request("PROPFIND", "/v1/pets/77");
  await request("GET", "/v1/nothing/77");
  await request("PROPFIND", "/nothing");
  const ofRequests = () => collector.spans().filter(({ kind }) => kind === 2);
  await until(() => ofRequests().length === 4);
  const names = ["http.route", "http.request.method", "http.request.method_original", "http.response.status_code"];
  const shown = ofRequests().map((span) => [span.name, ...names.map((name) => attributesOf(span)[name])]);
  assert.deepEqual(
    shown.toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
    [
      ["GET", undefined, "GET", undefined, 404],
      ["GET /v1/pets/{petId}", "/v1/pets/{petId}", "GET", undefined, 404],
      ["HTTP", undefined, "_OTHER", "PROPFIND", 404],
      ["HTTP /v1/pets/{petId}", "/v1/pets/{petId}", "_OTHER", "PROPFIND", 405],
    ],
  );
});

test("each query of a request is a span within that of the request, also of a request with a body", async (t) => {
  const collector = await openCollector(t);
  const service = await start(t, collector.url);
  await Promise.all([
    service.ask("POST", "/categories", { body: { name: "Dogs" } }),
    service.ask("GET", "/pets", { key: service.key }),
    service.ask("GET", "/categories", { headers: { traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00" } }),
  ]);
  const named = (name: string) => collector.spans().filter((span) => span.name === name);
  await until(() => named("POST /v1/categories").length > 0 && named("GET /v1/pets").length > 0);
  const childrenOf = (parent: Span | undefined) =>
    collector
      .spans()
      .filter(({ parentSpanId, traceId }) => parentSpanId === parent?.spanId && traceId === parent?.traceId)
      .map((span) => [span.name, span.kind, attributesOf(span)["db.system.name"]]);
  const system = service.db.engine === "postgres" ? "postgresql" : "sqlite";
  assert.deepEqual(childrenOf(named("POST /v1/categories")[0]), [["transaction", 3, system]]);
  assert.deepEqual(childrenOf(named("GET /v1/pets")[0]), [["SELECT", 3, system]]);
  assert.equal(collector.spans().length, 4, "none of the request that is not sampled, and none without a request");
});

test("calls to Redis and look-ups of DNS are spans within their request, and visits to sites and background work have traces of their own", async (t) => {
  const collector = await openCollector(t);
  const redis = await startRedis();
  t.after(() => redis.remove());
  const service = await start(t, collector.url, {
    REDIS_URL: redis.url,
    ACME_DIRECTORY_URL: "https://127.0.0.1:9/directory",
    DNS_SERVERS: "127.0.0.1:9",
  });
  const spans = (name: RegExp) => collector.spans().filter((span) => name.test(span.name));
  await service.ask("GET", "/pets");
  await service.ask("GET", "/categories", { headers: { traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00" } });
  const edge = `http://127.0.0.1:${service.publishing.addresses()!.http.port}`;
  await ask(`${edge}/page`, "GET", { headers: { traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" } });
  await until(() => spans(/^GET \/v1\/pets$/).length > 0 && spans(/^GET$/).length > 0 && spans(/^acme exchange/).length > 0);
  const [pets] = spans(/^GET \/v1\/pets$/);
  const [asked, ...others] = spans(/^redis /);
  assert.deepEqual(
    [asked?.traceId, asked?.parentSpanId, others.length],
    [pets?.traceId, pets?.spanId, 0],
    "none of the request that is not sampled",
  );
  const [visit] = spans(/^GET$/);
  assert.deepEqual([visit?.traceId, visit?.parentSpanId, visit?.kind], ["4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7", 2]);
  const [acme] = spans(/^acme exchange/);
  assert.equal(acme?.parentSpanId, undefined);
  assert.deepEqual(acme?.status, { code: 2 });
  assert.ok(acme?.attributes.some(({ key }) => key === "error.type"));

  const { body: project } = await service.ask<{ id: number }>("POST", "/projects", { body: { name: "Shop", slug: "traced" } });
  const archive = await packSite({ "index.html": "hello", "petstore.json": "{}" });
  const headers = { "content-type": "application/gzip" };
  await ask(`${service.address}/v1/projects/${project.id}/deployments`, "POST", { key: service.key, body: archive, headers });
  await service.publishing.idle();
  const added = await service.ask("POST", `/projects/${project.id}/domains`, { body: { hostname: "shop.traced-pets.com" } });
  assert.equal(added.status, 201, JSON.stringify(added.body));
  await until(() => spans(/^dns lookUp/).some(({ status }) => status.code === 2));
});

test("each attempt to deliver a webhook is a span with the account, the endpoint, the request of the change and the answer, and no address", async (t) => {
  const collector = await openCollector(t);
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  let answers = 0;
  receiver.answer = (_, response) => void response.writeHead(answers++ === 0 ? 500 : 204).end();
  const service = await start(t, collector.url, { WEBHOOK_PRIVATE_ADDRESSES: "on" });
  const { body: webhook } = await service.ask<{ id: number }>("POST", "/webhooks", {
    body: { url: receiver.url, types: ["category.created"] },
  });
  const sent = () => collector.spans().filter(({ name }) => name === "send webhook");
  for (const [i, name] of ["Cats", "Dogs"].entries()) {
    await service.ask("POST", "/categories", { body: { name }, headers: { "x-request-id": `made-${name}` } });
    await until(() => sent().length > i);
  }
  const [failed, delivered] = sent();
  const shared = {
    "messaging.system": "webhook",
    "messaging.operation.name": "send",
    "messaging.operation.type": "send",
    "messaging.destination.name": `webhook/${webhook.id}`,
    "petstore.event_type": "category.created",
    "petstore.account_id": service.accountId,
    "petstore.webhook_id": webhook.id,
  };
  const attributes = (span: Span) => {
    const { "messaging.message.id": id, ...others } = attributesOf(span);
    assert.match(String(id), /^evt_|^msg_/);
    return others;
  };
  assert.deepEqual(attributes(failed!), {
    ...shared,
    "petstore.request_id": "made-Cats",
    "http.response.status_code": 500,
    "error.type": "500",
  });
  assert.deepEqual(attributes(delivered!), { ...shared, "petstore.request_id": "made-Dogs", "http.response.status_code": 204 });
  assert.deepEqual([failed!.status, delivered!.status, failed!.kind, failed!.parentSpanId], [{ code: 2 }, {}, 4, undefined]);
  assert.doesNotMatch(JSON.stringify(sent()), /127\.0\.0\.1|\/hook/);
});

test("requests are answered as usual while the collector hangs or is unreachable", async (t) => {
  const collector = await openCollector(t, { hangs: true });
  for (const url of [collector.url, "http://127.0.0.1:9"]) {
    const service = await start(t, url, { OTEL_EXPORTER_OTLP_TIMEOUT: "200" });
    for (let i = 0; i < 20; i++) assert.equal((await service.ask("GET", "/pets")).status, 200);
  }
  await until(() => collector.requests.length > 0);
});

test("a service that serves more than a batch of spans at once delivers all of them", async (t) => {
  const collector = await openCollector(t);
  const service = await start(t, collector.url);
  const requests = 700;
  for (let i = 0; i < requests; i += 50) await Promise.all(Array.from({ length: 50 }, () => service.ask("GET", "/pets")));
  const delivered = () => collector.spans().filter(({ kind }) => kind === 2).length;
  await until(() => delivered() === requests);
});
