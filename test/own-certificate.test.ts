import assert from "node:assert/strict";
import { request } from "node:https";
import { test } from "node:test";
import sql from "sql-template-tag";
import { settingsFor } from "./support/authorities.ts";
import { openScene, openTls } from "./support/certifying.ts";
import { runCommand } from "./support/commands.ts";
import { startDnsServer } from "./support/dns-server.ts";
import { read, visitorOf, type Site } from "./support/edge.ts";
import { temporaryFolder } from "./support/folder.ts";
import { startPebble } from "./support/pebble.ts";
import type { Platform } from "./support/platform.ts";
import { freePort, freePorts } from "./support/ports.ts";
import { addressOf, keyIn, signInLinkIn, spawnServer } from "./support/process.ts";
import { testOnce } from "./support/service.ts";

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const host = "pets.test";
/** Settings for a service at `https://pets.test`, with ports 80 and 443 mapped to the ports of the edge. */
const onItsOwn = {
  PUBLIC_URL: `https://${host}`,
  PUBLIC_URL_CERTIFICATE: "on",
  EDGE_PUBLIC_HTTP_PORT: "80",
  EDGE_PUBLIC_HTTPS_PORT: "443",
};

testOnce(
  "one machine with one address needs no proxy: the service orders a certificate for its own host, and serves the API and the dashboard over TLS",
  async (t) => {
    const dataDir = temporaryFolder(t);
    const [httpPort = 0, httpsPort = 0, nobody = 0] = await freePorts(3);
    const dns = await startDnsServer();
    t.after(() => dns.close());
    const pebble = await startPebble({ dns: dns.address, httpPort: nobody, tlsPort: httpsPort }); // so validation is over TLS
    t.after(() => pebble.stop());
    const env = {
      ...onItsOwn,
      PLATFORM_DOMAIN: "sites.test",
      EDGE_HTTP_PORT: String(httpPort),
      EDGE_HTTPS_PORT: String(httpsPort),
      ...settingsFor({ dns, pebble }),
    };
    const root = await pebble.root();
    const visitor = visitorOf({ httpPort, httpsPort, root });

    const first = spawnServer(t, dataDir, env);
    const problem = await first.logged(({ msg }) => msg?.startsWith("PUBLIC_URL has no new certificate") === true);
    assert.match(problem.msg!, /pets\.test has no address in DNS\. Create an A or AAAA record that leads to this machine\./);
    const address = await addressOf(first);
    assert.equal((await fetch(`${address}/readyz`)).status, 200, "it takes requests");
    const waiting = await visitor.http(host, "/dashboard");
    assert.deepEqual([waiting.status, waiting.headers["retry-after"]], [503, "60"]);
    await assert.rejects(visitor.https(host, "/healthz"));
    const key = keyIn(first.out());
    const link = signInLinkIn(first.out());
    assert.match(link, /^https:\/\/pets\.test\//);
    first.kill("SIGTERM");
    await first.ended;

    dns.set(host, "A", ["127.0.0.1"]);
    dns.set(host, "CAA", [{ flags: 0, tag: "issue", value: "ca.test" }]);
    const second = spawnServer(t, dataDir, env);
    await second.logged(({ msg }) => msg === "the certificate of PUBLIC_URL was issued");
    const redirect = await visitor.http(host, "/dashboard?x=1");
    assert.deepEqual([redirect.status, redirect.headers.location], [308, "https://pets.test/dashboard?x=1"]);
    assert.equal((await visitor.http(host, "/.well-known/acme-challenge/unknown")).status, 404);
    const call = (path: string, method = "GET", headers = {}, body = ""): Promise<Site> => {
      const sent = request({ host: "127.0.0.1", port: httpsPort, path, method, servername: host, ca: root, headers: { host, ...headers } });
      sent.write(body);
      return read(sent);
    };
    const account = await call("/v1/account", "GET", { authorization: `Bearer ${key}` });
    assert.equal(account.status, 200);
    assert.equal(account.headers["strict-transport-security"], "max-age=86400", "a day in the first week");
    assert.ok(account.headers["x-request-id"]);
    const chunks = "x".repeat(2_000_000); // in chunks, which the edge counts for the API
    assert.equal((await call("/v1/pets", "POST", { authorization: `Bearer ${key}` }, chunks)).status, 413);
    const metrics = await call("/metrics");
    assert.match(metrics.body, /^petstore_certificate_expiry_timestamp_seconds\{kind="public_url"\} \d{10}(\.\d+)?$/m);
    const page = await call("/dashboard", "GET", { accept: "text/html" });
    assert.match(String(page.headers["content-type"]), /text\/html/);
    const token = new URLSearchParams(new URL(link).hash.slice(1)).get("token");
    const signedIn = await call(
      "/dashboard/v1/sign-in/link",
      "POST",
      { "content-type": "application/json", origin: `https://${host}`, "sec-fetch-site": "same-origin" },
      JSON.stringify({ token }),
    );
    const [cookie] = signedIn.headers["set-cookie"] ?? [];
    assert.equal(signedIn.status, 200, signedIn.body);
    assert.match(cookie ?? "", /^__Host-[^;]+;.*; Secure/);
    const made = await call(
      "/v1/pets",
      "POST",
      { authorization: `Bearer ${key}`, expect: "100-continue", "content-type": "application/json" },
      "{}",
    );
    assert.deepEqual([made.status, made.headers["strict-transport-security"]], [400, "max-age=86400"]);
    const otherHost = await read(
      request({ host: "127.0.0.1", port: httpsPort, path: "/dashboard", servername: host, ca: root, headers: { host: "evil.test" } }),
    );
    assert.equal(otherHost.status, 400, "the pages answer at their own host only");
    await assert.rejects(visitor.https("other.test", "/"), "no certificate for any other name");

    second.kill("SIGTERM");
    await second.ended;
    const third = spawnServer(t, dataDir, env);
    await addressOf(third);
    assert.equal((await call("/healthz")).status, 200, "a restart keeps the certificate");
    assert.ok(!third.out().includes("was issued"));
  },
);

test("the certificate of PUBLIC_URL is renewed in time; after a failure the log says what to do and the worker pauses; sites are served all the while", async (t) => {
  const nobody = await freePort();
  const { platform, idle, orders, project } = await openScene(t, { env: onItsOwn, pebble: { tlsPort: nobody } });
  const { dns, time } = platform;
  const after = async (ms: number): Promise<string | null> => {
    time.now += ms;
    await idle();
    return (await stateOf(platform)).problem;
  };
  assert.match((await after(0)) ?? "", /pets\.test has no address in DNS/);
  dns.set(host, "A", ["127.0.0.1"]);
  // The second try is validated over TLS, at a port on which nothing listens.
  assert.match((await after(minuteMs)) ?? "", /The authority has to reach this machine as pets\.test at port 80 or 443/);
  assert.equal(orders(), 1);
  await after(9 * minuteMs);
  assert.equal(orders(), 1, "no other try within ten minutes");
  assert.equal(await after(minuteMs), null);
  assert.equal(orders(), 2);
  assert.equal((await platform.https(host, "/healthz")).status, 200);
  assert.equal((await platform.http("rex.sites.test", "/")).status, 200);
  const offered = await openTls(platform, host, { ALPNProtocols: ["h2", "http/1.1"], maxVersion: "TLSv1.3" });
  assert.equal(offered.alpnProtocol, "http/1.1");
  offered.destroy();
  assert.equal((await platform.addDomain(project, host)).status, 400, "no project can have the host of PUBLIC_URL as its domain");

  const serial = await serialOf(platform);
  dns.set(host, "CAA", [{ flags: 0, tag: "issue", value: "other.test" }]);
  const { not_after: notAfter } = await stateOf(platform);
  const blocked = await after(notAfter! - 5 * dayMs - time.now);
  assert.match(blocked ?? "", /The CAA records of pets\.test do not allow this authority\. Add one: 0 issue "ca\.test"\./);
  assert.equal(await serialOf(platform), serial, "the old one is served");
  dns.set(host, "CAA", [{ flags: 0, tag: "issue", value: "ca.test" }]);
  await after(minuteMs); // over TLS, which fails
  assert.equal(await after(10 * minuteMs), null);
  assert.notEqual(await serialOf(platform), serial);
});

testOnce("PUBLIC_URL_CERTIFICATE needs an https PUBLIC_URL with a public name, at the edge's port, and an authority", async () => {
  const authority = { ACME_DIRECTORY_URL: "https://ca.test/dir" };
  const on = { PUBLIC_URL_CERTIFICATE: "on", EDGE_HTTPS_PORT: "443", ...authority };
  const name =
    /^petstore: PUBLIC_URL="[^"]+" is not allowed: it must be an https URL with a public host name, such as https:\/\/pets\.example\.com, /;
  const port = /^petstore: PUBLIC_URL="[^"]+" is not allowed: it must be at the port of EDGE_PUBLIC_HTTPS_PORT \(\d+\), /;
  const cases: [Record<string, string>, RegExp][] = [
    [{ ...on, PUBLIC_URL_CERTIFICATE: "yes" }, /^petstore: PUBLIC_URL_CERTIFICATE="yes" is not allowed: it must be on or off\n$/],
    [on, name],
    [{ ...on, PUBLIC_URL: "http://pets.example.com" }, name],
    [{ ...on, PUBLIC_URL: "https://192.0.2.1" }, name],
    [{ ...on, PUBLIC_URL: "https://[2001:db8::1]" }, name],
    [{ ...on, PUBLIC_URL: "https://localhost" }, name],
    [{ ...on, PUBLIC_URL: "https://pets" }, name],
    [{ ...on, PUBLIC_URL: "https://pets.example.com:8443" }, port],
    [{ ...on, PUBLIC_URL: "https://pets.example.com", EDGE_PUBLIC_HTTPS_PORT: "8443" }, port],
    [
      { ...on, PUBLIC_URL: "https://pets.example.com", ACME_DIRECTORY_URL: "" },
      /^petstore: ACME_DIRECTORY_URL="" is not allowed: it must be set, because PUBLIC_URL_CERTIFICATE is on\n$/,
    ],
  ];
  for (const [env, message] of cases) {
    const { code, error } = await runCommand(["serve"], env);
    assert.match(error, message, JSON.stringify(env));
    assert.deepEqual([code, error.split("\n").length], [1, 2]);
  }
});

type State = { problem: string | null; not_after: number | null };

async function stateOf({ service }: Platform): Promise<State> {
  const [row] = await service.db.query<State>(
    sql`SELECT certificate_problem AS problem, certificate_expires_at AS not_after FROM service_domains WHERE hostname = ${host}`,
  );
  return row!;
}

async function serialOf(platform: Platform): Promise<string> {
  const socket = await openTls(platform, host, { maxVersion: "TLSv1.3" });
  const { serialNumber } = socket.getPeerCertificate();
  socket.destroy();
  return serialNumber;
}
