import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { attempt, NotAllowed, splitUrl, withPlus } from "../parse.ts";

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
  host: (host) => host !== "" && !host.includes(","),
  port: (port) => !port.includes(","),
};

/** The most hosts of a URL: each may cost a time-out. */
const hostsMax = 16;

/** Completes "it must be …". */
export const postgresUrlForm =
  "a postgres:// or postgresql:// URL with a host or several, as host1:5432,host2:5433, or with the folder of a socket, as postgres:///DATABASE?host=/FOLDER; " +
  "sslrootcert, sslcert and sslkey are PEM files; target_session_attrs is any, primary or read-write: a standby takes no writes";

/**
 * Returns the URL of a PostgreSQL server, or of several that are replicas of each other. Refuses unknown TLS parameters, which the driver would ignore,
 * and servers that take no writes.
 *
 * @throws NotAllowed for any other text, and if a file that it names cannot be used
 */
export function postgresUrl(text: string): string {
  if (!/^postgres(ql)?:\/\//i.test(text) || !isUsable(text)) throw new NotAllowed(postgresUrlForm);
  return text;
}

function isUsable(text: string): boolean {
  const { hosts } = partsOf(text);
  const urls = urlsOf(text);
  if (urls.length > hostsMax || /^,|,,|,$/.test(hosts) || !urls.every((url) => URL.canParse(url))) return false;
  const found = urls.flatMap((url) => [...new URL(url).searchParams]);
  if (hosts === "" && !found.some(([name]) => name === "host")) return false;
  return found.every(([name, value]) => {
    const check = parameters[name];
    return check ? attempt(() => check(value)) : !name.startsWith("ssl");
  });
}

/** A % that begins no code is itself, as the driver has it. */
const partsOf = (url: string): ReturnType<typeof splitUrl> => splitUrl(url.replaceAll(/%(?![\da-f]{2})/gi, "%25"));

/** The URLs of the single servers of a URL, in its order: the driver takes only one host. It takes a space for a sign that nothing is encoded. */
export function urlsOf(url: string): string[] {
  const { scheme, login, hosts, path, query } = partsOf(url);
  const urlOf = (host: string): string => `${scheme}://${login}${host}${path}${withPlus(query)}`.replaceAll(" ", "%20");
  return (hosts || "localhost").split(",").map(urlOf);
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

/** The addresses of a URL's servers and the database, without user and password. */
export function serverOf(url: string): string {
  const parsed = urlsOf(url).map((one) => new URL(one));
  const hosts = parsed.map(({ host, searchParams }) => {
    const port = searchParams.get("port");
    return `${searchParams.get("host") ?? host}${port === null ? "" : `:${port}`}`;
  });
  return `${hosts.join(",")}${parsed[0]!.pathname}`;
}
