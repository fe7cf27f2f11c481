import { createPrivateKey, X509Certificate } from "node:crypto";
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { createSecureContext } from "node:tls";
import { isDeepStrictEqual } from "node:util";
import { postgresUrl } from "../platform/db/postgres-url.ts";
import { parseDateTime } from "../platform/http/dates.ts";
import { parseHostname } from "../publishing/dns/hostnames.ts";
import { addressList, attempt, contactUri, host, integer, items, origin } from "../platform/parse.ts";
import { clientTable } from "./client-settings.ts";
import { observingSettings } from "./observing-settings.ts";
import { backupSettings } from "./backup-settings.ts";
import { publishingSettings } from "./publishing-settings.ts";
import { spaceSettings } from "./space-settings.ts";
import {
  certificateFile,
  envFileName,
  type Environment,
  fallbackOf,
  onOff,
  parsed,
  port,
  secretFileName,
  setting,
  type Setting,
  SettingError,
  unknownNames,
  withEnvFile,
  withoutUser,
} from "./setting.ts";

const workersMax = 64;

/** Every setting of the service (specification 7.1). An empty variable counts as not set. */
const table = {
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
    parse: (text) => (text === "" ? "" : attempt(() => postgresUrl(text))),
    allowed: "a postgres:// or postgresql:// URL with a host; with sslmode=verify-full its sslrootcert, sslcert and sslkey are PEM files",
    meaning: "PostgreSQL database that all nodes share; without it the data is in DATA_DIR",
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
  ...spaceSettings,
  ...backupSettings,
  getPetSunset: setting({
    name: "GET_PET_SUNSET",
    fallback: "2027-12-31T00:00:00Z",
    parse: parseDateTime,
    allowed: "an RFC 3339 date and time with a zone",
    meaning: "When GET /pets/{petId} goes away",
  }),
  ...publishingSettings,
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
  ...observingSettings,
};

/** The settings, parsed. Times are ms since the Unix epoch, `dataDir` is absolute, `publicUrl` has no slash at its end. */
export type Settings = { readonly [K in keyof typeof table]: (typeof table)[K] extends Setting<infer T> ? T : never };

/**
 * Reads and validates every setting: the environment, the file of `ENV_FILE` and the files of secrets. The only place where the
 * environment is read.
 *
 * @param options.needsSecretsKey whether `DATABASE_URL` needs `SECRETS_KEY`. Default: true; a restore finds the key in the backup
 * @throws SettingError for the first invalid one
 */
export function loadSettings(env: Environment = process.env, { needsSecretsKey = true } = {}): Settings {
  const all = withEnvFile(env);
  const read = ([field, entry]: [string, Setting<unknown>]) => [field, parsed(entry, all)];
  const settings = Object.fromEntries(Object.entries(table).map(read)) as Settings;
  requireTogether(settings, all, needsSecretsKey);
  return settings;
}

/** Returns the names of the settings that differ and that only a restart can change. */
export function needingRestart(before: Settings, after: Settings): string[] {
  const fields = Object.keys(table) as (keyof Settings)[];
  return fields
    .filter((field) => !table[field].reloads && !isDeepStrictEqual(before[field], after[field]))
    .map((field) => table[field].name);
}

/** Checks the rules between settings. */
function requireTogether(settings: Settings, env: Environment, needsSecretsKey: boolean): void {
  const { publicUrl, platformDomain, edgeCert, edgeKey, acmeEabKid, acmeEabHmac } = settings;
  const publicHost = new URL(publicUrl).hostname.replace(/\.$/, "");
  if (publicHost === platformDomain || publicHost.endsWith(`.${platformDomain}`)) {
    throw new SettingError(
      "PUBLIC_URL",
      publicUrl,
      `outside of PLATFORM_DOMAIN (${platformDomain}), where other people's pages are served`,
    );
  }
  if (needsSecretsKey && settings.databaseUrl !== "" && settings.secretsKey === null) {
    throw new SettingError(
      "SECRETS_KEY",
      "",
      "set where DATABASE_URL is, and the same on every node: make one with `openssl rand -base64 32`",
    );
  }
  if (settings.workers > 1 && (settings.databaseUrl === "" || settings.redisUrl === "")) {
    const allowed = "1 unless DATABASE_URL and REDIS_URL are set, through which several nodes share data and limits";
    throw new SettingError("WORKERS", env["WORKERS"] ?? "", allowed);
  }
  requireOwnPorts(settings);
  if (settings.publicUrlCertificate) requireCertifiable(settings);
  const pair = (set: boolean, name: string, other: string): void => {
    if (set) throw new SettingError(name, env[name] ?? "", `set together with ${other}`);
  };
  pair((edgeCert === "") !== (edgeKey === ""), "EDGE_CERT_FILE", "EDGE_KEY_FILE");
  if (edgeCert !== "" && !new X509Certificate(edgeCert).checkPrivateKey(createPrivateKey(edgeKey)))
    throw new SettingError("EDGE_KEY_FILE", env["EDGE_KEY_FILE"] ?? "", "the private key of the certificate in EDGE_CERT_FILE");
  if (edgeCert !== "" && !attempt(() => createSecureContext({ cert: edgeCert, key: edgeKey })))
    throw new SettingError("EDGE_CERT_FILE", env["EDGE_CERT_FILE"] ?? "", "a file of certificates that TLS can use");
  pair(settings.redisCa !== "" && !/^rediss:/i.test(settings.redisUrl), "REDIS_CA_FILE", "a rediss:// REDIS_URL");
  pair((acmeEabKid === "") !== (acmeEabHmac === ""), "ACME_EAB_KID", "ACME_EAB_HMAC");
}

/** Checks that the listeners have a port each; 0 takes a free one. */
function requireOwnPorts({ port: api, edgeHttpPort, edgeHttpsPort }: Settings): void {
  const fail = (name: string, value: number, other: string): never => {
    throw new SettingError(name, String(value), `another port than that of ${other}`);
  };
  if (edgeHttpPort !== 0 && edgeHttpPort === api) fail("EDGE_HTTP_PORT", edgeHttpPort, "PORT");
  if (edgeHttpsPort !== 0 && edgeHttpsPort === api) fail("EDGE_HTTPS_PORT", edgeHttpsPort, "PORT");
  if (edgeHttpsPort !== 0 && edgeHttpsPort === edgeHttpPort) fail("EDGE_HTTPS_PORT", edgeHttpsPort, "EDGE_HTTP_PORT");
}

/** Returns the folder from which relative paths on the command line start: `npm run petstore` changes to the package's folder. */
export function callerFolder(env: Environment = process.env): string {
  return (env["npm_lifecycle_event"] === "petstore" && env["INIT_CWD"]) || process.cwd();
}

/** Checks what a certificate for the host of PUBLIC_URL needs. */
function requireCertifiable({ publicUrl, platformDomain, acmeDirectoryUrl, edgePublicHttpsPort }: Settings): void {
  const fail = (name: string, value: string, allowed: string): never => {
    throw new SettingError(name, value, `${allowed}, because PUBLIC_URL_CERTIFICATE is on`);
  };
  const { protocol, hostname, port: ownPort } = new URL(publicUrl);
  const isPublic = attempt(() => parseHostname(hostname, { platformDomain, publicHost: "" })) !== undefined;
  if (protocol !== "https:" || !isPublic)
    fail("PUBLIC_URL", publicUrl, "an https URL with a public host name, such as https://pets.example.com");
  if (Number(ownPort || "443") !== edgePublicHttpsPort)
    fail("PUBLIC_URL", publicUrl, `at the port of EDGE_PUBLIC_HTTPS_PORT (${edgePublicHttpsPort}), where the edge answers it`);
  if (acmeDirectoryUrl === "") fail("ACME_DIRECTORY_URL", "", "set");
}

/** Returns a line for each name in the file of `ENV_FILE` that is not a setting, at most ten, with the setting that may be meant. */
export function unknownSettings(env: Environment = process.env): string[] {
  const names = Object.values<Setting<unknown>>(table).flatMap(({ name, secret }) => (secret ? [name, secretFileName(name)] : [name]));
  return unknownNames(env, names);
}

/** Whether the environment or the file of `ENV_FILE` sets a setting, as opposed to its default. */
export function isSet(name: string, env: Environment = process.env): boolean {
  return Boolean(withEnvFile(env)[name]);
}

type SettingLine = { name: string; value: string; default: string; meaning: string };

/** Returns each setting as it was written, with secrets masked. */
export function describeSettings(env: Environment = process.env): SettingLine[] {
  const all = withEnvFile(env);
  return Object.values<Setting<unknown>>(table).flatMap((entry) => {
    const fallback = fallbackOf(entry, all);
    const { name, meaning } = entry;
    if (!entry.secret) return [{ name, value: withoutUser(all[name] || fallback), default: fallback, meaning }];
    const file = all[secretFileName(name)] || "";
    return [
      { name, value: all[name] || file || fallback ? "(set)" : "", default: fallback, meaning },
      { name: secretFileName(name), value: file, default: "", meaning: `File that holds ${name}` },
    ];
  });
}
