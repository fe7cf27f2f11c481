import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { connect } from "node:tls";
import { temporaryFolder } from "./support/folder.ts";
import { freePort } from "./support/ports.ts";
import { addressOf, keyIn, spawnServer, type ServerProcess } from "./support/process.ts";
import { ask } from "./support/service.ts";
import { packSite } from "./support/sites.ts";
import { throwAwayCertificate } from "./support/test-edge.ts";
import { until } from "./support/until.ts";

/** Sends SIGHUP, and returns the line that the server logs about it. */
async function reload(server: ServerProcess) {
  const reloads = () => server.log().filter(({ msg = "" }) => /reload/.test(msg));
  const before = reloads().length;
  server.kill("SIGHUP");
  await server.logged(() => reloads().length > before);
  assert.equal(reloads().length, before + 1, "one line");
  return reloads().at(-1) as { level: number; msg: string; reason?: string; settings?: string[] };
}

/** The certificate that a server shows for a name, as PEM. */
async function certificateAt(port: number, servername: string): Promise<string> {
  const socket = connect({ host: "127.0.0.1", port, servername, rejectUnauthorized: false });
  await once(socket, "secureConnect");
  const pem = socket.getPeerX509Certificate()?.toString() ?? "";
  socket.destroy();
  return pem.trim();
}

async function openScene(t: TestContext) {
  const folder = temporaryFolder(t);
  const edgePort = await freePort();
  const files = { cert: join(folder, "cert.pem"), key: join(folder, "key.pem"), env: join(folder, "petstore.env") };
  const write = (pair: { cert: string; key: string }) => (writeFileSync(files.cert, pair.cert), writeFileSync(files.key, pair.key));
  const first = throwAwayCertificate("*.petstore.localhost");
  write(first);
  writeFileSync(files.env, `EDGE_CERT_FILE=${files.cert}\nEDGE_KEY_FILE=${files.key}\nMETRICS=off\n`);
  const server = spawnServer(t, join(folder, "data"), { ENV_FILE: files.env, EDGE_HTTPS_PORT: String(edgePort) });
  const address = await addressOf(server);
  const key = keyIn(server.out());
  const { body } = await ask<{ id: number }>(`${address}/v1/projects`, "POST", { key, body: { name: "Site", slug: "site" } });
  const archive = await packSite({ "index.html": "hello", "petstore.json": "{}" });
  await ask(`${address}/v1/projects/${body.id}/deployments`, "POST", {
    key,
    body: archive,
    headers: { "content-type": "application/gzip" },
  });
  return { files, write, first, server, address, key, certificate: () => certificateAt(edgePort, "site.petstore.localhost") };
}

test("SIGHUP reloads the wildcard certificate; a broken one changes nothing and is logged in one line", async (t) => {
  const { files, write, first, server, address, certificate } = await openScene(t);
  await until(async () => (await certificate().catch(() => "")) === first.cert.trim());
  const second = throwAwayCertificate("*.petstore.localhost");
  write(second);
  assert.equal((await reload(server)).msg, "reloaded");
  assert.equal(await certificate(), second.cert.trim());

  const third = throwAwayCertificate("*.petstore.localhost");
  const broken: [what: string, pair: { cert: string; key: string }, reason: RegExp][] = [
    ["no certificate", { cert: "petstore", key: third.key }, /^EDGE_CERT_FILE=[^\n]+ certificate as PEM$/],
    [
      "half of a renewal",
      { cert: third.cert, key: second.key },
      /^EDGE_KEY_FILE=[^\n]+ the private key of the certificate in EDGE_CERT_FILE$/,
    ],
    [
      "a broken chain",
      { ...third, cert: `${third.cert}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n` },
      /^EDGE_CERT_FILE=[^\n]+$/,
    ],
    [
      "another name",
      throwAwayCertificate("*.example.com"),
      /EDGE_CERT_FILE is not for the names below PLATFORM_DOMAIN \(petstore.localhost\)$/,
    ],
  ];
  for (const [what, pair, reason] of broken) {
    write(pair);
    const line = await reload(server);
    assert.deepEqual([line.msg, line.level], ["the reload changed nothing", 50], what);
    assert.match(line.reason ?? "", reason, what);
    assert.equal(await certificate(), second.cert.trim(), what);
  }
  writeFileSync(files.env, "LOG_LEVEL=loud\n");
  assert.match((await reload(server)).reason ?? "", /^LOG_LEVEL="loud" is not allowed/);
  assert.equal((await ask(`${address}/readyz`, "GET")).status, 200);
  assert.doesNotMatch(server.out(), /PRIVATE KEY/);
});

test("SIGHUP reads ENV_FILE again, applies what can change, and names what needs a restart", async (t) => {
  const { files, server, address, key } = await openScene(t);
  const metrics = (headers = {}) =>
    ask(`${address}/metrics`, "GET", { headers }).then(
      ({ status }) => status,
      () => 200,
    );
  assert.equal(await metrics(), 404);
  writeFileSync(files.env, "METRICS=127.0.0.1\nPLATFORM_DOMAIN=sites.test\nPORT=1\nTRUSTED_PROXIES=127.0.0.1\nDRAIN_SECONDS=3600\n");
  const line = await reload(server);
  assert.deepEqual(line.settings, ["PLATFORM_DOMAIN"], "the environment takes precedence for PORT");
  assert.deepEqual([await metrics(), await metrics({ "x-forwarded-for": "192.0.2.7" })], [200, 404]);
  const { status } = await ask(`${address}/v1/account`, "GET", { key });
  assert.equal(status, 200);

  writeFileSync(files.env, "METRICS=off\nDRAIN_SECONDS=3600\n");
  await reload(server);
  assert.equal(await metrics(), 404);
  writeFileSync(files.env, "LOG_LEVEL=warn\n");
  server.kill("SIGHUP");
  await until(async () => (await metrics()) === 200); // METRICS is its default again
  assert.equal((await ask(`${address}/v1/account`, "GET", { key, headers: { "x-request-id": "quiet" } })).status, 200);
  server.kill("SIGTERM");
  assert.equal(await server.ended, 0, "DRAIN_SECONDS is its default again");
  assert.ok(server.log().every(({ requestId }) => requestId !== "quiet"));
});
