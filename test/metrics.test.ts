import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { ask, startService } from "./support/service.ts";

async function openScene(t: TestContext, env: Record<string, string> = {}) {
  const service = await startService({ env });
  t.after(() => service.close());
  const scrape = (headers: Record<string, string> = {}) => ask<string>(`${service.address}/metrics`, "GET", { headers });
  const figure = async (name: string) => {
    const { body } = await scrape();
    const line = body.split("\n").find((text) => text.startsWith(`${name} `));
    return Number(line?.split(" ").at(-1) ?? assert.fail(`${name} is not among the metrics`));
  };
  return { service, scrape, figure };
}

test("metrics are in the text format of Prometheus, each with its help and its type", async (t) => {
  const { scrape } = await openScene(t);
  const { status, headers, body } = await scrape();
  assert.equal(status, 200);
  assert.equal(headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  assert.ok(body.endsWith("\n"));
  for (const line of body.trimEnd().split("\n")) {
    assert.match(line, /^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? (\+Inf|-?[\d.e+-]+))$/);
  }
  const names = [...body.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
  assert.deepEqual(names, [...new Set(names)]);
});

test("requests count by class of status, and each falls into the histogram once", async (t) => {
  const { service, figure } = await openScene(t);
  await service.ask("GET", "/pets");
  await service.ask("GET", "/pets", { key: "" });
  assert.equal(await figure('petstore_http_requests_total{class="4xx"}'), 1);
  const answered = await figure("petstore_http_request_duration_seconds_count");
  assert.equal(await figure('petstore_http_request_duration_seconds_bucket{le="+Inf"}'), answered + 1);
});

test("what the bounds refused, what they bound and the delay of the event loop are shown", async (t) => {
  const { figure } = await openScene(t);
  const kinds = ["connections", "connections_per_address", "connections_idle", "pipelined_requests", "requests_in_flight", "body_bytes"];
  for (const reason of [...kinds, "uploads"]) assert.equal(await figure(`petstore_bound_refusals_total{reason="${reason}"}`), 0);
  assert.ok((await figure('petstore_connections_open{listener="api"}')) > 0);
  assert.equal(await figure('petstore_connections_open{listener="edge"}'), 0);
  for (const name of ["petstore_requests_in_flight", "petstore_requests_waiting", "petstore_body_bytes"])
    assert.equal(await figure(`${name}{listener="api"}`), 0);
  for (const name of ['nodejs_eventloop_delay_seconds{quantile="0.99"}', "nodejs_eventloop_delay_max_seconds"])
    assert.ok((await figure(name)) >= 0);
});

test("refusals count by code", async (t) => {
  const { service, figure } = await openScene(t);
  const { key } = await service.newAccount("enterprise", { perMinute: 1, perDay: 1 });
  for (let i = 0; i < 24; i++) await service.ask("GET", "/pets", { key });
  assert.equal(await figure('petstore_limit_refusals_total{code="rate_limit_exceeded"}'), 20);
  assert.equal(await figure('petstore_limit_refusals_total{code="key_banned"}'), 3);
});

test("metrics name no account, key or address", async (t) => {
  const { service, scrape } = await openScene(t);
  await service.ask("GET", "/pets");
  const { body } = await scrape();
  assert.ok(!body.includes(service.key.slice(0, 8)));
  assert.doesNotMatch(body, /127\.0\.0\.1|account|key=|Test shop/);
});

test("who is not named by METRICS finds nothing there, nor does who comes through a proxy", async (t) => {
  const { scrape } = await openScene(t);
  assert.equal((await scrape({ "x-forwarded-for": "127.0.0.1" })).status, 404);
  const off = await openScene(t, { METRICS: "off" });
  assert.equal((await off.scrape()).status, 404);
  const elsewhere = await openScene(t, { METRICS: "192.0.2.0/24", TRUSTED_PROXIES: "127.0.0.1" });
  assert.equal((await elsewhere.scrape()).status, 404);
  assert.equal((await elsewhere.scrape({ "x-forwarded-for": "192.0.2.7" })).status, 200);
  assert.equal((await elsewhere.scrape({ "x-forwarded-for": "198.51.100.1" })).status, 404);
  const behind = await openScene(t, { TRUSTED_PROXIES: "127.0.0.1" });
  assert.equal((await behind.scrape({ "x-forwarded-for": "127.0.0.1:4711" })).status, 200);
  assert.equal((await behind.scrape({ "x-forwarded-for": "nonsense" })).status, 404);
});
