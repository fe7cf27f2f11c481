import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { petstore } from "./support/commands.ts";
import { temporaryFolder } from "./support/folder.ts";
import { freePorts } from "./support/ports.ts";
import { keyIn, spawnServer } from "./support/process.ts";
import { ask } from "./support/service.ts";
import { mountSmallDisk } from "./support/small-disk.ts";
import { until } from "./support/until.ts";

type Line = Record<string, unknown>;

/** The lines of a log file; each must be whole. */
const linesIn = (path: string): Line[] =>
  (existsSync(path) ? readFileSync(path, "utf8") : "")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);

/** A service whose standard output goes to a file. */
async function startInto(t: TestContext, file: string, env: Record<string, string> = {}) {
  const dataDir = join(temporaryFolder(t), "data");
  const [port, edgePort] = await freePorts(2);
  const ports = { PORT: `${port}`, EDGE_HTTP_PORT: `${edgePort}` };
  const server = spawnServer(t, dataDir, { ...ports, ...env }, ["sh", "-c", 'exec "$@" >>"$0"', file]);
  const address = `http://127.0.0.1:${port}`;
  await until(async () => (await ask(`${address}/readyz`, "GET").catch(() => undefined))?.status === 200);
  return { server, dataDir, address, edge: `http://127.0.0.1:${edgePort}` };
}

/** The key of a first start. It is in the log soon after the service is ready, and a moment before it works. */
async function keyOf(file: string, address: string): Promise<string> {
  let key = "";
  await until(async () => {
    key = keyIn(readFileSync(file, "utf8"));
    return key !== "" && (await ask(`${address}/v1/account`, "GET", { key })).status === 200;
  });
  return key;
}

test("a full log disk loses lines and nothing else, shows in /readyz and /metrics, and recovers without a restart", async (t) => {
  const disk = mountSmallDisk(t, 64 * 1_024);
  const file = join(disk.path, "log");
  const { address, server } = await startInto(t, file);
  const key = await keyOf(file, address);
  disk.fill();
  const get = () => ask(`${address}/v1/pets`, "GET", { key });
  const size = () => statSync(file).size;
  for (let i = 0; i < 400; i++) assert.equal((await get()).status, 200);
  const lost = async () =>
    Number(/^petstore_log_lines_lost_total (\d+)$/m.exec((await ask<string>(`${address}/metrics`, "GET")).body)?.[1]);
  await until(async () => (await lost()) > 0);
  const ready = await ask<{ warnings?: string[] }>(`${address}/readyz`, "GET");
  assert.equal(ready.status, 200);
  assert.match(String(ready.body.warnings), /log lines are lost: standard output cannot be written \(ENOSPC\)/);

  disk.empty();
  const full = size();
  await until(() => size() > full);
  const requests = () => linesIn(file).filter(({ path }) => path === "/v1/pets").length;
  const before = requests();
  await get();
  await until(() => requests() > before);
  await until(() => linesIn(file).some(({ msg, lines }) => msg === "log lines were lost" && Number(lines) > 0));
  await until(async () => !("warnings" in (await ask<object>(`${address}/readyz`, "GET")).body));
  server.kill("SIGTERM");
  assert.equal(await server.ended, 0);
  assert.equal(server.err(), "");
});

test("a log file over its limit loses lines and nothing else", async (t) => {
  const file = join(temporaryFolder(t), "log");
  // The limit holds for the database's files too, and its write-ahead log is largest on the first start.
  const { server: first, dataDir } = await startInto(t, join(temporaryFolder(t), "first-log"));
  first.kill("SIGTERM");
  assert.equal(await first.ended, 0);
  const server = spawnServer(t, dataDir, { LOG_LEVEL: "trace" }, ["sh", "-c", 'ulimit -f 4096; exec "$@" >>"$0"', file]);
  const lines = (): Line[] => linesIn(file);
  await until(async () => lines().some(({ msg }) => msg === "started"));
  const address = String(lines().find(({ msg }) => msg === "started")?.["address"]);
  // 4,096 blocks of 512 bytes; each line repeats its path
  const path = `/${"x".repeat(12_000)}`;
  for (let i = 0; i < 300; i++) assert.equal((await ask(address + path, "GET")).status, 404);
  assert.equal((await ask(`${address}/healthz`, "GET")).status, 200);
  assert.equal(statSync(file).size, 4_096 * 512);
  server.kill("SIGTERM");
  assert.equal(await server.ended, 0);
});

test("one log for the API, the edge and the commands: JSON lines and nothing else, without probes, scrapes, queries and secrets", async (t) => {
  const file = join(temporaryFolder(t), "log");
  const settings = join(temporaryFolder(t), "env");
  writeFileSync(settings, "PUBLIC_URL=https://pets.example\nPROT=80\n");
  const { address, edge, dataDir, server } = await startInto(t, file, { ENV_FILE: settings });
  const key = await keyOf(file, address);
  const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
  for (const path of ["/healthz", "/readyz", "/metrics"]) assert.equal((await ask(address + path, "GET")).status, 200);
  await ask(`${address}/v1/pets?name=hush`, "GET", {
    key,
    headers: { traceparent: `00-${trace}-00f067aa0ba902b7-01`, "x-request-id": "api-1" },
  });
  await ask(`${edge}/page?hush`, "GET", { headers: { "x-request-id": "edge-1" } });
  const created = await petstore({ dataDir, address, key }, "keys", "create", "--account", "1", "--json");
  const { key: second, id } = JSON.parse(created.out) as { key: string; id: number };
  assert.equal((await petstore({ dataDir, address, key }, "keys", "revoke", "999")).code, 3);
  const invited = await petstore({ dataDir, address, key }, "members", "invite", "--account", "1", "--email", "ann@pets.example");
  assert.equal(invited.error, "");
  const [, link, token = ""] = /^(.*#token=)([\w-]+)$/m.exec(invited.out) ?? [];
  assert.equal(link, "https://pets.example/sign-in#token=", "the service's own PUBLIC_URL, which the command does not have");
  await ask(`${address}/v1/pets/${second}`, "GET", { key, headers: { "x-request-id": "api-2" } });
  await ask(`${edge}/${second}/${token}?key=${second}`, "GET", { headers: { "x-request-id": "edge-2" } });
  server.kill("SIGTERM");
  assert.equal(await server.ended, 0);

  const lines = linesIn(file);
  const text = readFileSync(file, "utf8");
  assert.ok(!text.includes("hush") && !text.includes(second) && !text.includes(token));
  const pathOf = (asked: string) => lines.find(({ requestId }) => requestId === asked)?.["path"];
  assert.deepEqual([pathOf("api-2"), pathOf("edge-2")], ["/v1/pets/psk_***", "/psk_***/***"]);
  const unknown = lines.filter(({ msg }) => String(msg).startsWith("ENV_FILE sets"));
  assert.deepEqual(
    unknown.map(({ level, msg }) => [level, msg]),
    [[40, "ENV_FILE sets PROT, which is not a setting: did you mean PORT?"]],
  );
  assert.equal(lines.find(({ requestId }) => requestId === "api-1")?.["traceId"], trace);
  const visit = lines.find(({ requestId }) => requestId === "edge-1");
  assert.deepEqual([visit?.["host"], visit?.["path"], visit?.["status"]], ["127.0.0.1", "/page", 404]);
  assert.deepEqual(
    lines.filter(({ path }) => ["/healthz", "/readyz", "/metrics"].includes(String(path))),
    [],
  );
  const commands = lines.filter(({ msg }) => msg === "administrative command");
  assert.deepEqual(
    commands.map(({ command, target, made, refused }) => ({ command, target, made, refused })),
    [
      { command: "keys create", target: { account: 1 }, made: { id }, refused: undefined },
      { command: "keys revoke", target: { id: 999 }, made: undefined, refused: "not_found" },
      { command: "members invite", target: { account: 1 }, made: undefined, refused: undefined },
    ],
  );
  assert.ok(commands.every(({ operator }) => typeof operator === "string" && operator !== ""));
});

test("probes and scrapes do not count as traffic, and other requests for /metrics do", async (t) => {
  const file = join(temporaryFolder(t), "log");
  const { address } = await startInto(t, file, { EDGE_ACCESS_LOG: "off", TRUSTED_PROXIES: "127.0.0.1" });
  const counted = async (status: string) => {
    const { body } = await ask<string>(`${address}/metrics`, "GET");
    return Number(new RegExp(`^petstore_http_requests_total\\{class="${status}"\\} (\\d+)$`, "m").exec(body)?.[1]);
  };
  for (let i = 0; i < 3; i++) for (const path of ["/healthz", "/readyz", "/metrics"]) await ask(address + path, "GET");
  assert.equal(await counted("2xx"), 0);
  assert.equal((await ask(`${address}/metrics`, "GET", { headers: { "x-forwarded-for": "198.51.100.1" } })).status, 404);
  assert.equal(await counted("4xx"), 1);
  await until(async () => linesIn(file).some(({ path, status }) => path === "/metrics" && status === 404));
});

test("the edge's access log can be switched off, and LOG_FORMAT=text writes lines for people", async (t) => {
  const file = join(temporaryFolder(t), "log");
  const { address, edge, server } = await startInto(t, file, { EDGE_ACCESS_LOG: "off", LOG_FORMAT: "text" });
  await ask(`${edge}/page`, "GET");
  await ask(`${address}/nothing`, "GET");
  server.kill("SIGTERM");
  assert.equal(await server.ended, 0);
  const text = readFileSync(file, "utf8");
  assert.match(text, /^\d\d:\d\d:\d\d\.\d{3} INFO {2}GET \/nothing 404 [\d.]+ ms requestId=/m);
  assert.match(text, /^\d\d:\d\d:\d\d\.\d{3} INFO {2}started address=http/m);
  assert.doesNotMatch(text, /^\{|\/page/m);
});

test("a collector of traces that does not answer is one line of the log, and requests go on", async (t) => {
  const file = join(temporaryFolder(t), "log");
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9", OTEL_BSP_SCHEDULE_DELAY: "20" };
  const { address, server } = await startInto(t, file, env);
  const lost = () => linesIn(file).filter(({ msg }) => String(msg).startsWith("spans cannot be delivered"));
  for (let i = 0; i < 3; i++) {
    assert.equal((await ask(`${address}/v1/pets`, "GET")).status, 401);
    await until(() => lost().length > 0);
  }
  assert.equal((await ask(`${address}/readyz`, "GET")).status, 200);
  server.kill("SIGTERM");
  assert.equal(await server.ended, 0);
  assert.deepEqual(
    lost().map(({ level }) => level),
    [40],
  );
});
