import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test, type TestContext } from "node:test";
import { isDeepStrictEqual } from "node:util";
import sql from "sql-template-tag";
import { recordBackup } from "../src/backup/manifest.ts";
import { readWebhookQueues } from "../src/events/webhooks/deliveries.store.ts";
import { ask, engine, startService, testOnce } from "./support/service.ts";
import { until } from "./support/until.ts";
import { startReceiver } from "./support/webhooks.ts";

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

testOnce("metrics are in the text format of Prometheus, each with its help and its type", async (t) => {
  const { scrape } = await openScene(t);
  const { status, headers, body } = await scrape();
  assert.equal(status, 200);
  assert.equal(headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  assert.ok(body.endsWith("\n"));
  for (const line of body.trimEnd().split("\n")) {
    assert.match(line, /^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z_]+="[^"]*"(,[a-z_]+="[^"]*")*\})? (\+Inf|-?[\d.e+-]+))$/);
  }
  const names = [...body.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
  assert.deepEqual(names, [...new Set(names)]);
});

testOnce("requests count by class of status, and each falls into the histogram once", async (t) => {
  const { service, figure } = await openScene(t);
  await service.ask("GET", "/pets");
  await service.ask("GET", "/pets", { key: "" });
  assert.equal(await figure('petstore_http_requests_total{class="4xx"}'), 1);
  const answered = await figure("petstore_http_request_duration_seconds_count");
  assert.equal(await figure('petstore_http_request_duration_seconds_bucket{le="+Inf"}'), answered);
});

testOnce("the metrics show refusals by bounds, the bounded resources and the delay of the event loop", async (t) => {
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

/** A service that has served the API and the edge, with its scrape. */
async function openBusy(t: TestContext) {
  const scene = await openScene(t);
  const { service } = scene;
  await service.ask("GET", "/pets");
  await service.ask("POST", "/categories", { body: { name: "Dogs" } });
  await service.ask("GET", "/pets", { key: "" });
  await ask(`${service.address}/nowhere`, "GET");
  await ask(`http://127.0.0.1:${service.publishing.addresses()?.http.port}/`, "GET");
  assert.doesNotMatch((await scene.scrape()).body, /petstore_backup_last_success/, "before the first backup");
  await recordBackup(service.dataDir, 1_700_000_000_000);
  return { ...scene, text: (await scene.scrape()).body };
}

const namesIn = (text: string): Set<string> => new Set([...text.matchAll(/^([a-z_]+)[{ ]/gm)].map(([, name = ""]) => name));

testOnce("promtool finds nothing wrong with the metrics of a busy service", async (t) => {
  const { text } = await openBusy(t);
  assert.match(text, /^petstore_backup_last_success_timestamp_seconds 1700000000$/m);
  const { stdout, stderr, status, error } = spawnSync("promtool", ["check", "metrics"], { input: text, encoding: "utf8" });
  assert.equal(error, undefined);
  assert.deepEqual([status, stdout, stderr], [0, "", ""]);
});

testOnce("requests count by operation and status: one series for each operation, whatever the paths", async (t) => {
  const { service, scrape } = await openScene(t);
  for (let id = 1; id <= 3; id++) await service.ask("GET", `/pets?id=${id}`);
  await service.ask("GET", "/pets", { key: "" });
  for (let i = 0; i < 3; i++) await ask(`${service.address}/nowhere/${i}`, "GET");
  await ask(`${service.address}/openapi.json`, "GET");
  const { body } = await scrape();
  const counted = body.split("\n").filter((line) => line.startsWith("petstore_route_requests_total"));
  assert.deepEqual(counted.toSorted(), [
    'petstore_route_requests_total{route="listPets",class="2xx"} 3',
    'petstore_route_requests_total{route="listPets",class="4xx"} 1',
    'petstore_route_requests_total{route="none",class="4xx"} 3',
    'petstore_route_requests_total{route="pages",class="2xx"} 1',
  ]);
  assert.match(body, /^petstore_route_request_duration_seconds_count\{route="listPets"\} 4$/m);
});

test("the metrics show disk, database, commits or waits, queues, certificates, files and the version", async (t) => {
  const { text } = await openBusy(t);
  const own =
    engine === "sqlite"
      ? ["petstore_database_wal_size_bytes", "petstore_database_commit_writes_count"]
      : ["petstore_database_wait_seconds_count"];
  const names = namesIn(text);
  for (const name of [
    "petstore_disk_free_bytes",
    "petstore_disk_size_bytes",
    "petstore_database_size_bytes",
    "petstore_queue_waiting",
    "petstore_certificate_domains",
    "process_open_fds",
    "process_max_fds",
    "petstore_log_lines_lost_total",
    "petstore_ready",
    ...own,
  ])
    assert.ok(names.has(name), name);
  assert.match(text, /^petstore_build_info\{version="\d+\.\d+\.\d+",node="26\.[\d.]+"\} 1$/m);
  assert.match(text, /^petstore_edge_requests_total\{host="unknown",protocol="http\/1.1",class="4xx"\} 1$/m);
  assert.match(text, /^petstore_ready 1$/m);
});

test("the example dashboard and the alerts name only metrics that a scrape has", async (t) => {
  const { text } = await openBusy(t);
  const names = namesIn(text);
  const otherEngine = /^petstore_database_(waiting|refused_total|wait_seconds_\w+|connections_\w+|wal_size_bytes|commit_writes_\w+)$/;
  // without a certificate there is no date
  const known = (name: string) => names.has(name) || name === "petstore_certificate_expiry_timestamp_seconds" || otherEngine.test(name);
  for (const file of ["grafana-dashboard.json", "alerts.yaml"]) {
    const content = readFileSync(new URL(`../deploy/${file}`, import.meta.url), "utf8");
    const named = [...content.matchAll(/\b(?:petstore|process|nodejs)_[a-z_]+\b/g)].map(([name]) => name);
    assert.ok(named.length > 10, file);
    assert.deepEqual(
      [...new Set(named)].filter((name) => !known(name)),
      [],
      file,
    );
  }
});

test("each panel of the example dashboard shows something of a service without certificates, on either database", async (t) => {
  const { service, scrape } = await openScene(t);
  await service.ask("GET", "/pets");
  const names = namesIn((await scrape()).body);
  const { panels } = JSON.parse(readFileSync(new URL("../deploy/grafana-dashboard.json", import.meta.url), "utf8")) as {
    panels: { title: string; targets: { expr: string }[] }[];
  };
  const metricsOf = (expr: string) => expr.match(/\b(?:petstore|process|nodejs)_[a-z_]+\b/g) ?? [];
  const shows = ({ expr }: { expr: string }) => metricsOf(expr).every((name) => names.has(name));
  assert.deepEqual(
    panels.filter(({ targets }) => !targets.some(shows)).map(({ title }) => title),
    [],
  );
});

test("the metrics show when the next certificate expires, without a name", async (t) => {
  const { service, scrape } = await openScene(t);
  const { body: project } = await service.ask<{ id: number }>("POST", "/projects", { body: { name: "Luna", slug: "luna" } });
  await service.db.write((tx) =>
    tx.query(sql`
    INSERT INTO domains (account_id, id, project_id, hostname, registrable_domain, kind, status, is_primary, problems, caa, proof_needed,
      certificate_status, certificate_expires_at, version, created_at)
    VALUES (${service.accountId}, 900, ${project.id}, 'secret.example', 'secret.example', 'apex', 'verified', ${false}, '[]', 'allowed', ${false},
      'issued', ${2_000_000_000_000}, 1, 0)`),
  );
  const { body } = await scrape();
  assert.match(body, /^petstore_certificate_expiry_timestamp_seconds\{kind="domain"\} 2000000000$/m);
  assert.match(body, /^petstore_certificate_domains\{status="issued"\} 1$/m);
  assert.ok(!body.includes("secret.example"));
});

test("the metrics show the messages that wait for webhook endpoints, for how long, and disabled endpoints, apart from failing ones", async (t) => {
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  const { service, figure } = await openScene(t, { WEBHOOK_PRIVATE_ADDRESSES: "on" });
  const queues = () => readWebhookQueues(service.db, Date.now());
  const hook = (more: object) =>
    service.ask<{ id: number }>("POST", "/webhooks", { body: { url: receiver.url, types: ["category.created"], ...more } });
  receiver.answer = (_, response) => void response.writeHead(500).end();
  const { body: failing } = await hook({ ordered: true });
  const { body: off } = await hook({});
  await service.ask("PATCH", `/webhooks/${off.id}`, { body: { enabled: false } });
  await until(async () => isDeepStrictEqual((await queues()).accepting, { new: 0, retry: 0, dueSince: null }));
  for (const name of ["1", "2", "3"]) await service.ask("POST", "/categories", { body: { name } });
  await until(async () => isDeepStrictEqual((({ new: fresh, retry }) => [fresh, retry])((await queues()).failing), [2, 1]));
  const { accepting, disabled } = await queues();
  // It is paused by its own retry, so nothing is late.
  assert.deepEqual([accepting.new, accepting.dueSince, disabled], [0, null, { failing: 0, gone: 0, request: 1 }]);
  await service.db.write((tx) =>
    tx.query(sql`UPDATE webhooks SET lease_until = ${Date.now() + 600_000}, lease_id = 'another' WHERE id = ${failing.id}`),
  );
  await service.db.write((tx) => tx.query(sql`UPDATE webhooks SET failing_since = NULL, takes_new = ${true} WHERE id = ${failing.id}`));
  const late = await queues();
  assert.ok(late.accepting.new >= 2 && late.accepting.retry === 1 && late.failing.new === 0);
  assert.ok(Date.now() - late.accepting.dueSince! < 60_000, "since the oldest event");
  assert.equal(await figure('petstore_webhook_waiting{endpoints="accepting",message="retry"}'), 1);
  assert.ok((await figure('petstore_webhook_oldest_seconds{endpoints="accepting"}')) > 0);
  assert.equal(await figure('petstore_webhook_oldest_seconds{endpoints="failing"}'), 0);
  assert.equal(await figure('petstore_webhook_disabled_endpoints{because="request"}'), 1);
});

testOnce("refusals count by code", async (t) => {
  const { service, figure } = await openScene(t);
  const { key } = await service.newAccount("enterprise", { perMinute: 1, perDay: 1 });
  for (let i = 0; i < 24; i++) await service.ask("GET", "/pets", { key });
  assert.equal(await figure('petstore_limit_refusals_total{code="rate_limit_exceeded"}'), 20);
  assert.equal(await figure('petstore_limit_refusals_total{code="key_banned"}'), 3);
});

testOnce("metrics name no account, key or address", async (t) => {
  const { service, scrape } = await openScene(t);
  await service.ask("GET", "/pets");
  const { body } = await scrape();
  assert.ok(!body.includes(service.key.slice(0, 8)));
  assert.doesNotMatch(body, /127\.0\.0\.1|account|key=|Test shop/);
});

testOnce("a client that METRICS does not name gets a 404, and so does one behind an untrusted proxy", async (t) => {
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
