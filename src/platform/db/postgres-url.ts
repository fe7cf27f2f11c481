import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";

const sslModes = new Set(["disable", "prefer", "require", "verify-ca", "verify-full", "no-verify"]);
const readCertificate = (path: string): unknown => new X509Certificate(readFileSync(path, "utf8"));

/** Which server of several to use. Of libpq's values, those that find a server that takes writes, and `any`. */
const targets = ["any", "primary", "read-write"] as const;
export type Target = (typeof targets)[number];
const targetParameter = "target_session_attrs";
/** In seconds, for each host, as libpq has it. */
const timeoutParameter = "connect_timeout";

/** The parameters of a PostgreSQL URL that are checked. Each check throws or returns false if the value cannot be used. */
const parameters: Record<string, (value: string) => unknown> = {
  ssl: () => true,
  sslnegotiation: () => true,
  sslmode: (mode) => sslModes.has(mode),
  sslrootcert: readCertificate,
  sslcert: readCertificate,
  sslkey: (path) => createPrivateKey(readFileSync(path, "utf8")),
  [targetParameter]: (target) => (targets as readonly string[]).includes(target),
  [timeoutParameter]: (seconds) => /^[1-9]\d{0,3}$/.test(seconds),
  host: (host) => !host.includes(","),
  port: (port) => !port.includes(","),
};

/** The most hosts of a URL: each may cost a time-out. */
const hostsMax = 16;

/**
 * Parses the URL of a PostgreSQL server, or of several that are replicas of each other; returns undefined for any other text. Refuses unknown TLS
 * parameters, which the driver would ignore, and servers that take no writes.
 *
 * @throws if a file that it names cannot be used
 */
export function postgresUrl(text: string): string | undefined {
  if (!/^postgres(ql)?:\/\/[^/]/i.test(text)) return undefined;
  const urls = urlsOf(text);
  if (urls.length > hostsMax || !urls.every((url) => URL.canParse(url) && (urls.length === 1 || new URL(url).host !== "")))
    return undefined;
  for (const [name, value] of urls.flatMap((url) => [...new URL(url).searchParams])) {
    const check = parameters[name];
    if (check ? !check(value) : name.startsWith("ssl")) return undefined;
  }
  return text;
}

/** A URL's scheme, user and password, hosts, and the rest. The user and password end at the last `@` before the path. */
const form = /^([a-z]+:\/\/)((?:[^/?#]*@)?)([^/?#]*)(.*)$/is;

/** The URLs of the single servers of a URL, in its order: the driver takes only one host. */
export function urlsOf(url: string): string[] {
  const [, scheme = "", login = "", hosts = "", rest = ""] = form.exec(url) ?? [];
  return hosts.includes(",") ? hosts.split(",").map((host) => scheme + login + host + rest) : [url];
}

/** Which of its servers a URL asks for. Several servers are asked for the one that takes writes, which the service needs. */
export function targetOf(url: string): Target {
  const urls = urlsOf(url);
  const target = (parametersOf(url).get(targetParameter) ?? "any") as Target;
  return target === "any" && urls.length > 1 ? "read-write" : target;
}

/** How long (ms) a URL lets each of its servers take to connect; undefined if it does not say. */
export function connectMsOf(url: string): number | undefined {
  const seconds = parametersOf(url).get(timeoutParameter);
  return seconds === null ? undefined : Number(seconds) * 1_000;
}

const parametersOf = (url: string): URLSearchParams => new URL(urlsOf(url)[0]!).searchParams;

/** The addresses of a URL's servers for messages: without user and password. */
export function serverOf(url: string): string {
  const parsed = urlsOf(url).map((one) => new URL(one));
  return `${parsed.map(({ host }) => host || "localhost").join(",")}${parsed[0]!.pathname}`;
}
