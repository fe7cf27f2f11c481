import { attempt } from "../../platform/parse.ts";

export type Host = { host: string; port: number };
type Login = { username?: string; password?: string };

/** Where the Redis of `REDIS_URL` is. `single`: the client reads the URL itself. */
export type RedisPlace =
  | { kind: "single"; url: string }
  | { kind: "sentinel"; hosts: Host[]; master: string; login: Login; sentinelLogin: Login; db: number; isTls: boolean }
  | { kind: "cluster"; hosts: Host[]; login: Login; isTls: boolean };

const hostsMax = 32;
const kinds = /^(rediss?)\+(sentinel|cluster):\/\//i;

/**
 * Reads a URL of one of these forms, each also with `rediss`:
 *   redis://user:password@host:6379/0
 *   redis+sentinel://user:password@host1:26379,host2:26379/master?db=0&sentinelUsername=…&sentinelPassword=…
 *   redis+cluster://user:password@host1:6379,host2:6379
 * Returns undefined if it is none.
 */
export function parseRedisUrl(text: string): RedisPlace | undefined {
  if (/^rediss?:\/\/[^/]/i.test(text)) return URL.canParse(text) ? { kind: "single", url: text } : undefined;
  const [start = "", scheme = "", kind = ""] = kinds.exec(text) ?? [];
  if (start === "") return undefined;
  const rest = text.slice(start.length);
  const end = rest.search(/[/?#]/);
  const authority = end < 0 ? rest : rest.slice(0, end);
  const at = authority.lastIndexOf("@");
  const url = attempt(() => new URL(`http://${authority.slice(0, at + 1)}host${end < 0 ? "" : rest.slice(end)}`));
  const isSentinel = kind.toLowerCase() === "sentinel";
  const hosts = authority
    .slice(at + 1)
    .split(",")
    .map((one) => parseHost(one, isSentinel ? 26_379 : 6_379));
  if (!url || url.hash !== "" || hosts.length > hostsMax || !hosts.every((one) => one !== undefined)) return undefined;
  const [username, password] = [attempt(() => decodeURIComponent(url.username)), attempt(() => decodeURIComponent(url.password))];
  if (username === undefined || password === undefined) return undefined;
  const common = { hosts, login: loginOf(username, password), isTls: scheme.toLowerCase() === "rediss" };
  return isSentinel ? sentinelOf(url, common) : clusterOf(url, common);
}

type Common = { hosts: Host[]; login: Login; isTls: boolean };

function sentinelOf({ pathname, searchParams }: URL, common: Common): RedisPlace | undefined {
  const master = attempt(() => decodeURIComponent(pathname.slice(1)));
  const { db = "0", sentinelUsername = "", sentinelPassword = "", ...unknown } = Object.fromEntries(searchParams);
  if (!master || master.includes("/") || !/^\d{1,5}$/.test(db) || Object.keys(unknown).length > 0) return undefined;
  return { kind: "sentinel", master, db: Number(db), sentinelLogin: loginOf(sentinelUsername, sentinelPassword), ...common };
}

function clusterOf({ pathname, search }: URL, common: Common): RedisPlace | undefined {
  return pathname === "/" && search === "" ? { kind: "cluster", ...common } : undefined;
}

function parseHost(text: string, defaultPort: number): Host | undefined {
  if (!/^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i.test(text)) return undefined;
  const url = attempt(() => new URL(`http://${text}`));
  if (!url) return undefined;
  const port = /:\d+$/.test(text.replace(/^\[.*\]/, "")) ? Number(text.slice(text.lastIndexOf(":") + 1)) : defaultPort;
  return port > 0 && port <= 65_535 ? { host: url.hostname.replace(/^\[|\]$/g, ""), port } : undefined;
}

const loginOf = (username: string, password: string): Login => ({
  ...(username !== "" && { username }),
  ...(password !== "" && { password }),
});
