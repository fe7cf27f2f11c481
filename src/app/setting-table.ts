import { createPrivateKey } from "node:crypto";
import { getServers } from "node:dns";
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { parseRedisUrl, redisUrlForms } from "../callers/limits/redis.url.ts";
import { hourMs } from "../platform/clock.ts";
import { postgresUrl, postgresUrlForm } from "../platform/db/postgres-url.ts";
import { parseDateTime } from "../platform/http/dates.ts";
import { addressList, attempt, contactUri, host, integer, items, origin, serverUrl } from "../platform/parse.ts";
import { parseSecretsKeys } from "../platform/secrets.ts";
import { parseBudget } from "../publishing/certificates/budget.ts";
import { isPlatformDomain } from "../publishing/dns/hostnames.ts";
import { parseNameserver } from "../publishing/dns/lookup.ts";
import { clientTable } from "./client-settings.ts";
import { certificateFile, envFileName, httpUrl, matching, onOff, pemFile, port, secret, setting, withReload } from "./setting.ts";

const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
const workersMax = 64;

/** Every setting of the service (specification 7.1), in the order of `petstore settings`. An empty variable counts as not set. */
export const settingTable = {
  envFile: setting({
    name: envFileName,
    fallback: "",
    parse: (text) => text,
    allowed: "a file",
    meaning: "File of further settings, one NAME=value a line, which a reload reads again; variables of the environment take precedence",
  }),
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
    allowed: "an http or https origin without user or path, such as https://pets.example.com",
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
    parse: (text) => (text === "" ? "" : postgresUrl(text)),
    allowed: postgresUrlForm,
    meaning: "PostgreSQL database that all nodes share, and its replicas; without it the data is in DATA_DIR",
    secret: true,
  }),
  allowEmptyDatabase: onOff(
    "ALLOW_EMPTY_DATABASE",
    "off",
    "Whether the service starts on a DATABASE_URL without an account although DATA_DIR has an embedded database with one",
  ),
  redisUrl: setting({
    name: "REDIS_URL",
    fallback: "",
    parse: (text) => (text === "" || parseRedisUrl(text) ? text : undefined),
    allowed: redisUrlForms,
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
    reloads: true,
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
    reloads: true,
  }),
  securityContact: setting({
    name: "SECURITY_CONTACT",
    fallback: "",
    parse: (text) => items(text, contactUri),
    allowed: "email addresses, or mailto:, https: or tel: URIs, separated by commas",
    meaning: "Where to report a weakness, shown in /.well-known/security.txt; without it that path is a 404",
  }),
  webhookPrivateAddresses: onOff(
    "WEBHOOK_PRIVATE_ADDRESSES",
    "off",
    "Whether webhooks may go to plain HTTP and to private and loopback addresses: for development only",
  ),
  // How long the service keeps data that would otherwise grow without end.
  usageDaysKept: setting({
    name: "KEEP_USAGE_DAYS",
    fallback: "90",
    parse: integer(1, 3_650),
    allowed: "days from 1 to 3650",
    meaning: "How long the counts of requests are kept; GET /usage shows at most the last 90 days",
  }),
  eventDaysKept: setting({
    name: "KEEP_EVENT_DAYS",
    fallback: "30",
    parse: integer(1, 3_650),
    allowed: "days from 1 to 3650",
    meaning: "How long events are kept",
  }),
  auditDaysKept: setting({
    name: "KEEP_AUDIT_DAYS",
    fallback: "365",
    parse: integer(1, 3_650),
    allowed: "days from 1 to 3650",
    meaning: "How long events of keys, members, the account, sites and webhooks are kept for the audit",
  }),
  answersKeptMs: setting({
    name: "KEEP_IDEMPOTENCY_HOURS",
    fallback: "24",
    parse: (text) => {
      const hours = integer(24, 720)(text);
      return hours === undefined ? undefined : hours * hourMs;
    },
    allowed: "hours from 24 to 720",
    meaning: "How long a request with an Idempotency-Key can be sent again for its first answer",
  }),
  deploymentsKept: setting({
    name: "KEEP_DEPLOYMENTS",
    fallback: "10",
    parse: integer(2, 1_000),
    allowed: "a number from 2 to 1000",
    meaning: "Deployments of each project that are kept, the one that is served included",
  }),
  // Where `petstore backup --to s3://…` finds its store: the variables that AWS' own tools read.
  s3Endpoint: httpUrl("AWS_ENDPOINT_URL", "The S3-compatible store of `backup --to s3://…`; without it AWS in AWS_REGION"),
  s3Region: matching("AWS_REGION", /^[a-z0-9-]{1,40}$/, "a region, such as eu-central-1", "The region of that store. Default: us-east-1"),
  s3KeyId: matching("AWS_ACCESS_KEY_ID", /^[\w+/=.-]{1,200}$/, "an access key id", "The access key of that store"),
  s3Secret: secret(matching("AWS_SECRET_ACCESS_KEY", /^[\x21-\x7e]{1,200}$/, "a secret access key", "The secret of that access key")),
  getPetSunset: setting({
    name: "GET_PET_SUNSET",
    fallback: "2027-12-31T00:00:00Z",
    parse: parseDateTime,
    allowed: "an RFC 3339 date and time with a zone",
    meaning: "When GET /pets/{petId} goes away",
  }),
  // Published projects: the edge, domains, DNS and certificates.
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
  edgeCert: withReload(certificateFile("EDGE_CERT_FILE", "PEM file of the wildcard certificate for the names below PLATFORM_DOMAIN")),
  edgeKey: withReload(pemFile("EDGE_KEY_FILE", "private key", createPrivateKey, "PEM file of the private key of EDGE_CERT_FILE")),
  publicUrlCertificate: onOff(
    "PUBLIC_URL_CERTIFICATE",
    "off",
    "Whether the service gets a certificate for PUBLIC_URL's host from ACME_DIRECTORY_URL, and answers it at EDGE_HTTPS_PORT",
  ),
  acmeDirectoryUrl: setting({
    name: "ACME_DIRECTORY_URL",
    fallback: "",
    parse: (text) => (text === "" ? "" : serverUrl(["https:"])(text)),
    allowed: "the https URL of an ACME directory, such as https://acme-v02.api.letsencrypt.org/directory",
    meaning: "The authority that issues the certificates of custom domains; without it none are issued",
  }),
  acmeCa: certificateFile("ACME_CA_FILE", "PEM file of the authorities that the directory's own certificate may come from"),
  acmeEmail: matching("ACME_EMAIL", /^[^\s@,]+@[^\s@,]+$/, "an email address", "Where the authority may write to"),
  acmeEabKid: matching(
    "ACME_EAB_KID",
    /^[\x21-\x7e]{1,500}$/,
    "a key identifier",
    "Key identifier of your account at the authority, if it requires one",
  ),
  acmeEabHmac: secret(matching("ACME_EAB_HMAC", /^[\w+/=-]{1,500}$/, "a base64url key", "The HMAC key of ACME_EAB_KID")),
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
    parse: (text) => (text === "" ? getServers() : items(text, (item) => attempt(() => (parseNameserver(item), item)))),
    allowed: "IP addresses with or without a port, separated by commas",
    meaning: "The DNS resolvers that domains are checked with; without it the system's",
  }),
  ...clientTable,
  workers: setting({
    name: "WORKERS",
    fallback: "1",
    parse: (text) => (text === "auto" ? availableParallelism() : integer(1, workersMax)(text)),
    allowed: `auto, or a number from 1 to ${workersMax}`,
    meaning: "How many nodes this machine runs, supervised; auto is one for each core. More than one need DATABASE_URL and REDIS_URL",
  }),
  drainSeconds: setting({
    name: "DRAIN_SECONDS",
    fallback: "0",
    parse: integer(0, 3_600),
    allowed: "seconds from 0 to 3600",
    meaning: "How long /readyz is 503 after SIGTERM, while requests are still served, before the service stops",
    reloads: true,
  }),
  // Logs and traces.
  logLevel: setting({
    name: "LOG_LEVEL",
    fallback: "info",
    parse: (text) => logLevels.find((level) => level === text),
    allowed: `one of ${logLevels.join(", ")}`,
    meaning: "The least severe lines that are logged",
    reloads: true,
  }),
  logFormat: setting({
    name: "LOG_FORMAT",
    fallback: "auto",
    parse: (text) => (["auto", "json", "text"] as const).find((format) => format === text),
    allowed: "auto, json or text",
    meaning: "How lines are logged: as JSON, or as text for people; auto takes text on a terminal and JSON elsewhere",
  }),
  edgeAccessLog: onOff("EDGE_ACCESS_LOG", "on", "Whether each visit to a published site is logged, at the level info"),
  otlpEndpoint: httpUrl(
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OpenTelemetry collector that gets a span of each request, as OTLP/HTTP with JSON at its /v1/traces; without it no spans are sent",
  ),
  otlpHeaders: setting({
    name: "OTEL_EXPORTER_OTLP_HEADERS",
    fallback: "",
    parse: headersOf,
    allowed: "name=value pairs, separated by commas",
    meaning: "Headers that the collector requires",
    secret: true,
  }),
  otlpTimeoutMs: setting({
    name: "OTEL_EXPORTER_OTLP_TIMEOUT",
    fallback: "10000",
    parse: integer(1, 60_000),
    allowed: "ms from 1 to 60000",
    meaning: "How long the collector may take to answer",
  }),
  otlpDelayMs: setting({
    name: "OTEL_BSP_SCHEDULE_DELAY",
    fallback: "5000",
    parse: integer(10, 60_000),
    allowed: "ms from 10 to 60000",
    meaning: "How often spans are sent",
  }),
  otlpServiceName: setting({
    name: "OTEL_SERVICE_NAME",
    fallback: "petstore",
    parse: (text) => (/^[\w .-]{1,100}$/.test(text) ? text : undefined),
    allowed: "up to 100 letters, numbers, spaces, dots and dashes",
    meaning: "The name of this service in its spans",
  }),
};

/** Parses `name=value,…`, with values in percent-encoding. */
function headersOf(text: string): Record<string, string> | undefined {
  const pairs = text === "" ? [] : text.split(",").map((pair) => /^ *([\w-]+)=([\x21-\x7e]*) *$/.exec(pair));
  return attempt(() => Object.fromEntries(pairs.map((pair) => [pair![1]!.toLowerCase(), decodeURIComponent(pair![2]!)])));
}
