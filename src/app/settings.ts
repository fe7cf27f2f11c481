import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { postgresUrl } from "../platform/db/postgres-url.ts";
import { parseDateTime } from "../platform/http/dates.ts";
import { addressList, attempt, contactUri, host, integer, items, origin, type Parse } from "../platform/parse.ts";
import { parseBudget, parseSecretsKeys } from "../publishing/certificates/certificates.ts";
import { isPlatformDomain, parseNameserver } from "../publishing/dns/dns.ts";

/** An invalid setting. The message is one line with its name, its value (unless secret) and what is allowed. */
export class SettingError extends Error {
  constructor(name: string, value: string, allowed: string) {
    super(`${name}=${JSON.stringify(value)} is not allowed: it must be ${allowed}`);
    this.name = "SettingError";
  }
}

type Environment = Record<string, string | undefined>;
type Setting<T> = {
  name: string;
  /** The default as text, or a function that returns it from the environment. */
  fallback: string | ((env: Environment) => string);
  parse: Parse<T>;
  /** Completes "it must be …". */
  allowed: string;
  meaning: string;
  secret?: boolean;
};

const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;

/** Every setting of the service (specification 7.1). An empty variable counts as not set. */
const table = {
  port: port("PORT", "8080", "Port of the API, the dashboard and the API reference"),
  host: setting({
    name: "HOST",
    fallback: "127.0.0.1",
    parse: host,
    allowed: "an IP address or a host name",
    meaning: "Address to listen on; 0.0.0.0 or :: for every interface",
  }),
  publicUrl: setting({
    name: "PUBLIC_URL",
    fallback: (env) => `http://localhost:${env["PORT"] || "8080"}`,
    parse: origin,
    allowed: "an http or https origin without a path, such as https://pets.example.com",
    meaning: "The origin that people see; the API is at its /v1",
  }),
  dataDir: setting({
    name: "DATA_DIR",
    fallback: "./data",
    parse: (text) => (text.includes("\0") ? undefined : resolve(text)),
    allowed: "a folder",
    meaning: "Folder of this process alone, with the embedded database; made if absent (mode 0700)",
  }),
  contentCacheMib: setting({
    name: "CONTENT_CACHE_MIB",
    fallback: "2048",
    parse: integer(256, 1_000_000),
    allowed: "MiB from 256 to 1000000",
    meaning: "With DATABASE_URL: how much of the published files DATA_DIR caches; the service fetches the rest when it is requested",
  }),
  databaseUrl: setting({
    name: "DATABASE_URL",
    fallback: "",
    parse: (text) => (text === "" ? "" : attempt(() => postgresUrl(text))),
    allowed: "a postgres:// or postgresql:// URL with a host; with sslmode=verify-full its sslrootcert, sslcert and sslkey are PEM files",
    meaning: "PostgreSQL database that all nodes share; without it the data is in DATA_DIR",
    secret: true,
  }),
  redisUrl: setting({
    name: "REDIS_URL",
    fallback: "",
    parse: (text) => (text === "" || (/^rediss?:\/\/[^/]/i.test(text) && URL.canParse(text)) ? text : undefined),
    allowed: "a redis:// or rediss:// URL",
    meaning: "Redis or Valkey in which all nodes count limits together; without it each process counts alone",
    secret: true,
  }),
  redisCa: certificateFile("REDIS_CA_FILE", "PEM file of the authorities that the certificate of a rediss:// REDIS_URL may come from"),
  trustedProxies: setting({
    name: "TRUSTED_PROXIES",
    fallback: "",
    parse: addressList,
    allowed: "IP addresses and CIDR ranges, separated by commas",
    meaning: "Proxies whose X-Forwarded-For, and at the edge X-Forwarded-Proto, is believed",
  }),
  connectionsPerAddress: setting({
    name: "CONNECTIONS_PER_ADDRESS",
    fallback: "1024",
    parse: integer(1, 1_000_000),
    allowed: "a number from 1 to 1000000",
    meaning: "Connections that one address may hold to the API, and as many to published projects; TRUSTED_PROXIES are exempt",
  }),
  metricsFrom: setting({
    name: "METRICS",
    fallback: "127.0.0.0/8,::1",
    parse: (text) => addressList(text === "off" ? "" : text),
    allowed: "off, or IP addresses and CIDR ranges, separated by commas",
    meaning: "Who may read /metrics",
  }),
  securityContact: setting({
    name: "SECURITY_CONTACT",
    fallback: "",
    parse: (text) => items(text, contactUri),
    allowed: "email addresses, or mailto:, https: or tel: URIs, separated by commas",
    meaning: "Where to report a weakness, shown in /.well-known/security.txt; without it that path is a 404",
  }),
  getPetSunset: setting({
    name: "GET_PET_SUNSET",
    fallback: "2027-12-31T00:00:00Z",
    parse: parseDateTime,
    allowed: "an RFC 3339 date and time with a zone",
    meaning: "When GET /pets/{petId} goes away",
  }),
  platformDomain: setting({
    name: "PLATFORM_DOMAIN",
    fallback: "petstore.localhost",
    parse: (text) => (isPlatformDomain(text) ? text : undefined),
    allowed: "a host name in lower case with at least two parts, such as sites.example.com",
    meaning: "Published projects are at names below it, and customers' CNAME records lead to it",
  }),
  edgeHttpPort: port("EDGE_HTTP_PORT", "8081", "Port of published projects over HTTP"),
  edgeHttpsPort: port("EDGE_HTTPS_PORT", "8443", "Port of published projects over HTTPS"),
  edgePublicHttpPort: port(
    "EDGE_PUBLIC_HTTP_PORT",
    (env) => env["EDGE_HTTP_PORT"] || "8081",
    "EDGE_HTTP_PORT as people see it, where a proxy or firewall maps it",
  ),
  edgePublicHttpsPort: port(
    "EDGE_PUBLIC_HTTPS_PORT",
    (env) => env["EDGE_HTTPS_PORT"] || "8443",
    "EDGE_HTTPS_PORT as people see it, where a proxy or firewall maps it",
  ),
  edgeCert: certificateFile("EDGE_CERT_FILE", "PEM file of the wildcard certificate for the names below PLATFORM_DOMAIN"),
  edgeKey: pemFile("EDGE_KEY_FILE", "private key", createPrivateKey, "PEM file of its private key"),
  acmeDirectoryUrl: setting({
    name: "ACME_DIRECTORY_URL",
    fallback: "",
    parse: (text) => (text === "" || (text.startsWith("https://") && URL.canParse(text)) ? text : undefined),
    allowed: "the https URL of an ACME directory, such as https://acme-v02.api.letsencrypt.org/directory",
    meaning: "The authority that issues the certificates of custom domains; without it none are issued",
  }),
  acmeCa: certificateFile("ACME_CA_FILE", "PEM file of the authorities that the directory's own certificate may come from"),
  acmeEmail: matching("ACME_EMAIL", /^[^\s@,]+@[^\s@,]+$/, "an email address", "Where the authority may write to"),
  acmeEabKid: matching(
    "ACME_EAB_KID",
    /^[\x21-\x7e]{1,500}$/,
    "a key identifier",
    "Key identifier of the account at the authority, where it binds one",
  ),
  acmeEabHmac: { ...matching("ACME_EAB_HMAC", /^[\w+/=-]{1,500}$/, "a base64url key", "The HMAC key that belongs to it"), secret: true },
  acmeCaaIdentities: setting({
    name: "ACME_CAA_IDENTITIES",
    fallback: "",
    parse: (text) => items(text, (item) => (/^[a-z0-9.-]{1,253}$/i.test(item) ? item.toLowerCase() : undefined)),
    allowed: "domain names, separated by commas",
    meaning: "The authority's names in CAA records, in place of the directory's caaIdentities",
  }),
  acmeBudget: setting({
    name: "ACME_BUDGET",
    fallback: "",
    parse: (text) => attempt(() => parseBudget(text)),
    allowed: "such as failures=5/1h,duplicates=5/7d,domain=50/7d,orders=300/3h; =off lifts one",
    meaning: "The authority's limits, which the service keeps to; without it those of Let's Encrypt",
  }),
  secretsKey: setting({
    name: "SECRETS_KEY",
    fallback: "",
    parse: (text) => (text === "" ? null : attempt(() => parseSecretsKeys(text))),
    allowed: "32 bytes as base64, or several with commas between: the one in use first, then earlier ones",
    meaning: "Encrypts private keys; the same on all nodes; without DATABASE_URL the first start makes it, in DATA_DIR/secrets.key",
    secret: true,
  }),
  dnsServers: setting({
    name: "DNS_SERVERS",
    fallback: "",
    parse: (text) => items(text, (item) => attempt(() => (parseNameserver(item), item))),
    allowed: "IP addresses with or without a port, separated by commas",
    meaning: "The DNS resolvers that domains are checked with; without it the system's",
  }),
  clientUrl: setting({
    name: "PETSTORE_URL",
    fallback: "http://localhost:8080",
    parse: (text) => (/^https?:\/\//i.test(text) && URL.canParse(text) ? text : undefined),
    allowed: "an http or https URL",
    meaning: "The service that commands such as `import` and `deploy` call",
  }),
  clientKey: setting({
    name: "PETSTORE_KEY",
    fallback: "",
    parse: (text) => text,
    allowed: "an API key",
    meaning: "The API key that they call it with",
    secret: true,
  }),
  logLevel: setting({
    name: "LOG_LEVEL",
    fallback: "info",
    parse: (text) => logLevels.find((level) => level === text),
    allowed: `one of ${logLevels.join(", ")}`,
    meaning: "The least severe lines that are logged",
  }),
};

/** The settings, parsed. Times are ms since the Unix epoch, `dataDir` is absolute, `publicUrl` has no slash at its end. */
export type Settings = { readonly [K in keyof typeof table]: (typeof table)[K] extends Setting<infer T> ? T : never };

/**
 * Reads and validates every setting. The only place where the environment is read.
 *
 * @throws SettingError for the first invalid one
 */
export function loadSettings(env: Environment = process.env): Settings {
  const read = ([field, entry]: [string, Setting<unknown>]) => [field, parsed(entry, env)];
  const settings = Object.fromEntries(Object.entries(table).map(read)) as Settings;
  requireTogether(settings, env);
  return settings;
}

/** Checks the rules between settings. */
function requireTogether(settings: Settings, env: Environment): void {
  const { publicUrl, platformDomain, edgeCert, edgeKey, acmeEabKid, acmeEabHmac } = settings;
  const publicHost = new URL(publicUrl).hostname.replace(/\.$/, "");
  if (publicHost === platformDomain || publicHost.endsWith(`.${platformDomain}`)) {
    throw new SettingError(
      "PUBLIC_URL",
      publicUrl,
      `outside of PLATFORM_DOMAIN (${platformDomain}), where other people's pages are served`,
    );
  }
  if (settings.databaseUrl !== "" && settings.secretsKey === null) {
    throw new SettingError(
      "SECRETS_KEY",
      "",
      "set where DATABASE_URL is, and the same on every node: make one with `openssl rand -base64 32`",
    );
  }
  const pair = (set: boolean, name: string, other: string): void => {
    if (set) throw new SettingError(name, env[name] ?? "", `set together with ${other}`);
  };
  pair((edgeCert === "") !== (edgeKey === ""), "EDGE_CERT_FILE", "EDGE_KEY_FILE");
  if (edgeCert !== "" && !new X509Certificate(edgeCert).checkPrivateKey(createPrivateKey(edgeKey)))
    throw new SettingError("EDGE_KEY_FILE", env["EDGE_KEY_FILE"] ?? "", "the private key of the certificate in EDGE_CERT_FILE");
  pair(settings.redisCa !== "" && !/^rediss:/i.test(settings.redisUrl), "REDIS_CA_FILE", "a rediss:// REDIS_URL");
  pair((acmeEabKid === "") !== (acmeEabHmac === ""), "ACME_EAB_KID", "ACME_EAB_HMAC");
}

type SettingLine = { name: string; value: string; default: string; meaning: string };

/** Returns each setting as it was written, with secrets masked. */
export function describeSettings(env: Environment = process.env): SettingLine[] {
  return Object.values<Setting<unknown>>(table).map((entry) => {
    const fallback = fallbackOf(entry, env);
    const value = env[entry.name] || fallback;
    return { name: entry.name, value: entry.secret && value ? "(set)" : value, default: fallback, meaning: entry.meaning };
  });
}

function setting<T>(entry: Setting<T>): Setting<T> {
  return entry;
}

function port(name: string, fallback: Setting<number>["fallback"], meaning: string): Setting<number> {
  return { name, fallback, parse: integer(0, 65_535), allowed: "a port from 0 to 65535 (0 takes a free one)", meaning };
}

function matching(name: string, form: RegExp, allowed: string, meaning: string): Setting<string> {
  return { name, fallback: "", parse: (value) => (value === "" || form.test(value) ? value : undefined), allowed, meaning };
}

function certificateFile(name: string, meaning: string): Setting<string> {
  return pemFile(name, "certificate", (pem) => new X509Certificate(pem), meaning);
}

/** Declares a setting that names a PEM file; its value is the file's text, empty if not set. `read` throws if the text is invalid. */
function pemFile(name: string, content: string, read: (pem: string) => unknown, meaning: string): Setting<string> {
  const pemOf = (path: string): string => {
    const pem = readFileSync(path, "utf8");
    read(pem);
    return pem;
  };
  return {
    name,
    fallback: "",
    parse: (path) => (path === "" ? "" : attempt(() => pemOf(path))),
    allowed: `a file that can be read and holds a ${content} as PEM`,
    meaning,
  };
}

function fallbackOf(entry: Setting<unknown>, env: Environment): string {
  return typeof entry.fallback === "string" ? entry.fallback : entry.fallback(env);
}

function parsed(entry: Setting<unknown>, env: Environment): unknown {
  const text = env[entry.name] || fallbackOf(entry, env);
  const value = entry.parse(text);
  if (value === undefined) throw new SettingError(entry.name, entry.secret ? "(secret)" : text, entry.allowed);
  return value;
}
