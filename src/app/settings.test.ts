import assert from "node:assert/strict";
import { getServers } from "node:dns";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { throwAwayCertificate } from "../../test/support/test-edge.ts";
import { postgresUrl } from "../platform/db/postgres-url.ts";
import { SettingError } from "./setting.ts";
import { describeSettings, loadSettings } from "./settings.ts";

test("without any variable the documented defaults apply", () => {
  const settings = loadSettings({});
  assert.equal(settings.port, 8080);
  assert.equal(settings.host, "127.0.0.1");
  assert.equal(settings.publicUrl, "http://localhost:8080");
  assert.ok(settings.dataDir.endsWith("/data"));
  assert.equal(settings.trustedProxies.check("127.0.0.1"), false);
  assert.equal(settings.getPetSunset, Date.UTC(2027, 11, 31));
  assert.equal(settings.logLevel, "info");
});

test("the public URL follows the port unless it is set", () => {
  assert.equal(loadSettings({ PORT: "9000" }).publicUrl, "http://localhost:9000");
  assert.equal(loadSettings({ PORT: "9000", PUBLIC_URL: "https://pets.example.com/" }).publicUrl, "https://pets.example.com");
});

test("an empty variable counts as not set", () => {
  assert.equal(loadSettings({ PORT: "", GET_PET_SUNSET: "" }).port, 8080);
});

test("a trusted proxy is an address or a range, in either family", () => {
  const { trustedProxies } = loadSettings({ TRUSTED_PROXIES: "10.0.0.0/8, 192.0.2.7,2001:db8::/32" });
  assert.equal(trustedProxies.check("10.200.3.4"), true);
  assert.equal(trustedProxies.check("192.0.2.7"), true);
  assert.equal(trustedProxies.check("192.0.2.8"), false);
  assert.equal(trustedProxies.check("2001:db8::1", "ipv6"), true);
  assert.equal(trustedProxies.check("::ffff:10.1.1.1", "ipv6"), true);
});

const refused: [name: string, value: string][] = [
  ["PORT", "65536"],
  ["PORT", "08080"],
  ["PORT", "80a"],
  ["HOST", "a b"],
  ["PUBLIC_URL", "localhost:8080"],
  ["PUBLIC_URL", "https://example.com/shop"],
  ["PUBLIC_URL", "https://example.com/?a"],
  ["PUBLIC_URL", "https://user:pass@example.com"],
  ["PUBLIC_URL", "ftp://example.com"],
  ["DATA_DIR", "a\0b"],
  ["TRUSTED_PROXIES", "10.0.0.0/33"],
  ["TRUSTED_PROXIES", "10.0.0.0/8/8"],
  ["TRUSTED_PROXIES", "proxy.example.com"],
  ["GET_PET_SUNSET", "2027-12-31"],
  ["GET_PET_SUNSET", "2027-02-30T00:00:00Z"],
  ["GET_PET_SUNSET", "20271231T000000Z"],
  ["LOG_LEVEL", "loud"],
  ["PETSTORE_URL", "localhost:8080"],
];
for (const [name, value] of refused) {
  test(`${name}=${JSON.stringify(value)} is refused in one line that names it and the values that are allowed`, () => {
    assert.throws(
      () => loadSettings({ [name]: value }),
      (error: unknown) => {
        assert.ok(error instanceof SettingError);
        assert.ok(error.message.startsWith(`${name}=`));
        assert.match(error.message, /must be (an?|one|IP) .+/);
        assert.doesNotMatch(error.message, /\n/);
        return true;
      },
    );
  });
}

test("workers and the drain are bounded, and several workers need a database and a Redis that they share", () => {
  for (const [name, value] of [
    ["WORKERS", "0"],
    ["WORKERS", "65"],
    ["WORKERS", "many"],
    ["DRAIN_SECONDS", "-1"],
    ["DRAIN_SECONDS", "3601"],
    ["DRAIN_SECONDS", "1.5"],
  ] as const) {
    assert.throws(() => loadSettings({ [name]: value }), { name: "SettingError", message: new RegExp(`^${name}="${value}" [^\n]+$`) });
  }
  const shared = { DATABASE_URL: "postgres://127.0.0.1/shop", SECRETS_KEY: Buffer.alloc(32, 7).toString("base64") };
  const redis = { REDIS_URL: "redis://127.0.0.1" };
  for (const env of [{}, shared, redis]) {
    const message = /^WORKERS="2" is not allowed: it must be 1 unless DATABASE_URL and REDIS_URL are set[^\n]+$/;
    assert.throws(() => loadSettings({ ...env, WORKERS: "2" }), { name: "SettingError", message });
  }
  assert.equal(loadSettings({ ...shared, ...redis, WORKERS: "2" }).workers, 2);
  assert.equal(loadSettings({ ...shared, ...redis, WORKERS: "auto" }).workers, availableParallelism());
});

test("a secret is read and never shown", () => {
  const env = { PETSTORE_KEY: "psk_secret" };
  assert.equal(loadSettings(env).clientKey, "psk_secret");
  assert.doesNotMatch(JSON.stringify(describeSettings(env)), /psk_secret/);
  const redisUrl = "redis://:hush@127.0.0.1:6379";
  assert.equal(loadSettings({ REDIS_URL: redisUrl }).redisUrl, redisUrl);
  assert.doesNotMatch(JSON.stringify(describeSettings({ REDIS_URL: redisUrl })), /hush/);
  assert.throws(
    () => loadSettings({ REDIS_URL: "http://:hush@127.0.0.1" }),
    (error: Error) => !error.message.includes("hush"),
  );
  const databaseUrl = "postgres://shop:hush@127.0.0.1:5432/shop";
  const shared = { DATABASE_URL: databaseUrl, SECRETS_KEY: Buffer.alloc(32, 7).toString("base64") };
  assert.equal(loadSettings(shared).databaseUrl, databaseUrl);
  assert.doesNotMatch(JSON.stringify(describeSettings({ DATABASE_URL: databaseUrl })), /hush/);
  assert.throws(
    () => loadSettings({ DATABASE_URL: "mysql://shop:hush@127.0.0.1" }),
    (error: Error) => !error.message.includes("hush"),
  );
});

test("nodes that share a PostgreSQL database need SECRETS_KEY, and one line asks for it", () => {
  assert.throws(() => loadSettings({ DATABASE_URL: "postgres://shop:hush@127.0.0.1/shop" }), {
    name: "SettingError",
    message: /^SECRETS_KEY="" is not allowed: it must be set where DATABASE_URL is, and the same on every node[^\n]*$/,
  });
});

test("files of certificates and keys must hold them, and those of the edge must belong together", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "petstore-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const fileOf = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const [own, other] = [throwAwayCertificate("*.sites.test"), throwAwayCertificate("*.sites.test")];
  const [cert, key, otherKey] = [fileOf("cert", own.cert), fileOf("key", own.key), fileOf("other", other.key)];

  const read = loadSettings({ EDGE_CERT_FILE: cert, EDGE_KEY_FILE: key, ACME_CA_FILE: cert });
  assert.deepEqual([read.edgeCert, read.edgeKey, read.acmeCa], [own.cert, own.key, own.cert]);

  const refusals: [Record<string, string>, RegExp][] = [
    [{ EDGE_CERT_FILE: key, EDGE_KEY_FILE: key }, /^EDGE_CERT_FILE="[^\n]+ must be [^\n]+ certificate as PEM$/],
    [{ EDGE_CERT_FILE: cert, EDGE_KEY_FILE: cert }, /^EDGE_KEY_FILE="[^\n]+ must be [^\n]+ private key as PEM$/],
    [
      { EDGE_CERT_FILE: cert, EDGE_KEY_FILE: otherKey },
      /^EDGE_KEY_FILE="[^\n]+ must be the private key of the certificate in EDGE_CERT_FILE$/,
    ],
    [{ ACME_CA_FILE: fileOf("text", "petstore") }, /^ACME_CA_FILE="[^\n]+ must be [^\n]+ certificate as PEM$/],
    [{ ACME_CA_FILE: join(folder, "absent") }, /^ACME_CA_FILE="[^\n]+ must be a file that can be read/],
  ];
  for (const [env, message] of refusals) assert.throws(() => loadSettings(env), { name: "SettingError", message });
});

test("the list shows each setting's value beside its default", () => {
  const lines = describeSettings({ PORT: "9000" });
  const port = lines.find((line) => line.name === "PORT");
  assert.deepEqual(port, { name: "PORT", value: "9000", default: "8080", meaning: "Port of the API, the dashboard and the API reference" });
  assert.ok(lines.every((line) => line.meaning.length > 0));
});

test("no setting shows the user and password of a URL, whether it takes the URL or not, and only those of databases take them", () => {
  const names = describeSettings({}).map(({ name }) => name);
  const taking: string[] = [];
  for (const name of names) {
    for (const scheme of ["http", "https", "postgres", "redis", "rediss", "ftp"]) {
      const env = {
        [name]: `${scheme}://shop:hush@127.0.0.1:5432/1`,
        ...(name === "DATABASE_URL" && { SECRETS_KEY: "A".repeat(43) + "=" }),
      };
      try {
        loadSettings(env);
        if (/_URL$|_ENDPOINT$|CONTACT/.test(name)) taking.push(`${name}=${scheme}`);
        assert.doesNotMatch(JSON.stringify(describeSettings(env)), /hush/, `${name}=${scheme}`);
      } catch (error) {
        assert.ok(error instanceof SettingError, String(error));
        assert.doesNotMatch(error.message, /hush|\n/);
      }
    }
  }
  assert.deepEqual(taking, ["DATABASE_URL=postgres", "REDIS_URL=redis", "REDIS_URL=rediss"]);
  assert.throws(() => loadSettings({ AWS_ENDPOINT_URL: "https://shop:hu/sh@h:ush@store" }), {
    message: 'AWS_ENDPOINT_URL="https://***@store" is not allowed: it must be an http or https URL without user and password',
  });
});

test("settings that contradict each other are refused in one line that names both", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "petstore-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const pair = throwAwayCertificate("*.petstore.localhost");
  const [cert, key] = [join(folder, "cert"), join(folder, "key")];
  writeFileSync(cert, pair.cert);
  writeFileSync(key, pair.key);
  const shared = { DATABASE_URL: "postgres://127.0.0.1/shop", SECRETS_KEY: Buffer.alloc(32, 7).toString("base64") };
  const certified = { PUBLIC_URL_CERTIFICATE: "on", ACME_DIRECTORY_URL: "https://acme.example/directory", EDGE_PUBLIC_HTTPS_PORT: "443" };
  const contradictions: [env: Record<string, string>, named: string[]][] = [
    [{ WORKERS: "2" }, ["WORKERS", "DATABASE_URL", "REDIS_URL"]],
    [{ ...shared, WORKERS: "2" }, ["WORKERS", "REDIS_URL"]],
    [{ REDIS_URL: "redis://127.0.0.1", WORKERS: "2" }, ["WORKERS", "DATABASE_URL"]],
    [{ DATABASE_URL: shared.DATABASE_URL }, ["SECRETS_KEY", "DATABASE_URL"]],
    [{ EDGE_CERT_FILE: cert }, ["EDGE_CERT_FILE", "EDGE_KEY_FILE"]],
    [{ EDGE_KEY_FILE: key }, ["EDGE_CERT_FILE", "EDGE_KEY_FILE"]],
    [{ REDIS_CA_FILE: cert }, ["REDIS_CA_FILE", "REDIS_URL"]],
    [{ REDIS_CA_FILE: cert, REDIS_URL: "redis://127.0.0.1" }, ["REDIS_CA_FILE", "REDIS_URL"]],
    [{ ACME_EAB_KID: "kid" }, ["ACME_EAB_KID", "ACME_EAB_HMAC"]],
    [{ ACME_EAB_HMAC: "aHVzaA" }, ["ACME_EAB_KID", "ACME_EAB_HMAC"]],
    [{ PORT: "8081" }, ["EDGE_HTTP_PORT", "PORT"]],
    [{ PORT: "8443" }, ["EDGE_HTTPS_PORT", "PORT"]],
    [{ EDGE_HTTP_PORT: "8443" }, ["EDGE_HTTPS_PORT", "EDGE_HTTP_PORT"]],
    [{ PUBLIC_URL: "https://shop.petstore.localhost" }, ["PUBLIC_URL", "PLATFORM_DOMAIN"]],
    [{ ...certified, PUBLIC_URL: "http://pets.example.com" }, ["PUBLIC_URL", "PUBLIC_URL_CERTIFICATE"]],
    [{ ...certified, PUBLIC_URL: "https://192.0.2.7" }, ["PUBLIC_URL", "PUBLIC_URL_CERTIFICATE"]],
    [{ ...certified, PUBLIC_URL: "https://pets.example.com:444" }, ["PUBLIC_URL", "EDGE_PUBLIC_HTTPS_PORT", "PUBLIC_URL_CERTIFICATE"]],
    [{ ...certified, PUBLIC_URL: "https://pets.example.com", ACME_DIRECTORY_URL: "" }, ["ACME_DIRECTORY_URL", "PUBLIC_URL_CERTIFICATE"]],
    [{ PETSTORE_KEY: "psk", PETSTORE_KEY_FILE: key }, ["PETSTORE_KEY_FILE", "PETSTORE_KEY"]],
  ];
  for (const [env, named] of contradictions) {
    assert.throws(
      () => loadSettings(env),
      (error: Error) =>
        error instanceof SettingError && !error.message.includes("\n") && named.every((name) => error.message.includes(name)),
      `${Object.keys(env).join(", ")}: ${named.join(", ")}`,
    );
  }
  assert.equal(loadSettings({ PORT: "0", EDGE_HTTP_PORT: "0", EDGE_HTTPS_PORT: "0" }).port, 0);
});

test("without DNS_SERVERS the resolvers of the system are asked, by every part that takes them from the settings", () => {
  assert.deepEqual(loadSettings({}).dnsServers, getServers());
  assert.deepEqual(loadSettings({ DNS_SERVERS: "192.0.2.1:5353" }).dnsServers, ["192.0.2.1:5353"]);
});

test("REDIS_URL names a server, sentinels or servers of a cluster; another form is refused in one line without the secret", () => {
  const allowed = [
    "rediss://shop:hush@redis.example.com:6380/2",
    "redis://redis.example.com?db=2&family=6",
    "redis+sentinel://shop:hush@s1:26379,s2,[::1]:26380/shop?db=1&sentinelUsername=a&sentinelPassword=b%20c",
    "rediss+sentinel://s1/shop",
    "redis+cluster://:hush@r1:7000,r2:7001",
  ];
  for (const url of allowed) assert.equal(loadSettings({ REDIS_URL: url }).redisUrl, url);
  const encoded = "a URL whose user and password are percent-encoded: ";
  const wrong: [url: string, must: string][] = [
    ["redis://:50%hush@r1", "a URL in which each % begins the code of a character"],
    ["redis://:ha%ffhush@r1", "a URL in which each % begins the code of a character"],
    ["redis://:ha/hush@r1", encoded],
    ["redis://:ha?hush@r1", encoded],
    ["redis://shop:12#hush@r1", encoded],
    ["redis+sentinel://shop:123/hush@s1", encoded],
    ["redis://:hush@r1/shop", "a URL whose database is a number"],
    ["redis://:hush@r1/-1", "a URL whose database is a number"],
    ["redis://:hush@r1/0/1", "a URL whose database is a number"],
    ["redis://:hush@r1?keyPrefix=hush", "a URL without parameters but db and family"],
    ["redis://:hush@r1?family=5", "a URL without parameters but db and family"],
    ["redis://:hush@r1,r2", "a URL with one host"],
    ["redis://:hush@r1:0", "a URL with one host"],
    ["redis://:hush@", "a URL with one host"],
    ["redis+sentinel://:hush@s1:26379", "a URL whose path is the name of the master"],
    ["redis+sentinel://:hush@s1:26379/shop/1", "a URL whose path is the name of the master"],
    ["redis+sentinel://:hush@s1:26379/shop?password=x", "a URL without parameters but db, sentinelUsername and sentinelPassword"],
    ["redis+sentinel://:hush@s1:26379/shop?db=x", "a URL whose database is a number"],
    ["redis+cluster://:hush@r1:7000,,r2", "a URL with up to 32 hosts"],
    ["redis+cluster://:hush@r1:70000", "a URL with up to 32 hosts"],
    ["redis+cluster://:hush@r1:7000/1", "a URL without a path"],
    ["redis+cluster://:hush@r1:7000?db=1", "a URL without parameters"],
    ["redis+other://:hush@r1:7000", "a redis:// or rediss:// URL"],
  ];
  for (const [url, must] of wrong) requireRefused("REDIS_URL", url, must);
});

/** Requires one line that says what a URL must be, and shows nothing of it. */
function requireRefused(name: string, url: string, must: string): void {
  assert.throws(
    () => loadSettings({ [name]: url }),
    ({ message }: Error) =>
      message.startsWith(`${name}="(secret)" is not allowed: it must be ${must}`) && !message.includes("\n") && !message.includes("hush"),
    url,
  );
}

test("a DATABASE_URL whose password is not percent-encoded is refused in one line without the secret", () => {
  const encoded = "a URL whose user and password are percent-encoded: ";
  assert.equal(postgresUrl("postgres://shop:50%off@db/shop"), "postgres://shop:50%off@db/shop");
  for (const [url, must] of [
    ["postgres://shop:100%abhush@db/shop", "a URL in which each % begins the code of a character"],
    ["postgres://shop:123/hush@db/shop", encoded],
    ["postgres://shop:12@3/hush@db/shop", encoded],
    ["postgres://shop:12?hush@db/shop", encoded],
    ["postgres://shop:12#hush@db/shop", encoded],
    ["postgres://shop:hush@/shop", "a postgres:// or postgresql:// URL with a host"],
    ["mysql://shop:hush@db/shop", "a postgres:// or postgresql:// URL with a host"],
  ] as const)
    requireRefused("DATABASE_URL", url, must);
});
