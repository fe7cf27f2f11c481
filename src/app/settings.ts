import { createPrivateKey, X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import { isDeepStrictEqual } from "node:util";
import type { Place } from "../platform/listening.ts";
import type { LogFormat } from "../platform/log.ts";
import { attempt } from "../platform/parse.ts";
import { parseHostname } from "../publishing/dns/hostnames.ts";
import { settingTable } from "./setting-table.ts";
import {
  type Environment,
  fallbackOf,
  parsed,
  secretFileName,
  type Setting,
  SettingError,
  unknownNames,
  withEnvFile,
  withoutUser,
} from "./setting.ts";

/** The settings, parsed. Times are ms since the Unix epoch, `dataDir` is absolute, `publicUrl` has no slash at its end. */
export type Settings = { readonly [K in keyof typeof settingTable]: (typeof settingTable)[K] extends Setting<infer T> ? T : never };

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
  const settings = Object.fromEntries(Object.entries(settingTable).map(read)) as Settings;
  requireTogether(settings, all, needsSecretsKey);
  return settings;
}

/** Every place at which the service listens. */
export function placesOf({ host, port, edgeHttpPort, edgeHttpsPort }: Settings): Place[] {
  const ports = { PORT: port, EDGE_HTTP_PORT: edgeHttpPort, EDGE_HTTPS_PORT: edgeHttpsPort };
  return Object.entries(ports).map(([setting, number]) => ({ setting, host, port: number }));
}

/** Returns the names of the settings that differ and that only a restart can change. */
export function needingRestart(before: Settings, after: Settings): string[] {
  const fields = Object.keys(settingTable) as (keyof Settings)[];
  return fields
    .filter((field) => !settingTable[field].reloads && !isDeepStrictEqual(before[field], after[field]))
    .map((field) => settingTable[field].name);
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
  pair(settings.redisCa !== "" && !/^rediss[:+]/i.test(settings.redisUrl), "REDIS_CA_FILE", "a rediss:// REDIS_URL");
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
  const names = Object.values<Setting<unknown>>(settingTable).flatMap(({ name, secret }) =>
    secret ? [name, secretFileName(name)] : [name],
  );
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
  return Object.values<Setting<unknown>>(settingTable).flatMap((entry) => {
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

/** By default, lines for people on a terminal and JSON elsewhere. */
export function logFormatOf({ logFormat }: { logFormat: "auto" | LogFormat }): LogFormat {
  if (logFormat === "auto") return process.stdout.isTTY ? "text" : "json";
  return logFormat;
}
