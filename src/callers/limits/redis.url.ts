import { attempt, integer, NotAllowed, splitUrl, withPlus } from "../../platform/parse.ts";

export type Host = { host: string; port: number };
type Login = { username?: string; password?: string };
type Common = { hosts: Host[]; login: Login; isTls: boolean };

/** Where the Redis of `REDIS_URL` is. */
export type RedisPlace =
  | ({ kind: "single"; db: number; family: 0 | 4 | 6 } & Common)
  | ({ kind: "sentinel"; master: string; sentinelLogin: Login; db: number } & Common)
  | ({ kind: "cluster" } & Common);

const hostsMax = 32;
const dbMax = 99_999;
const form = /^redis(s?)(?:\+(sentinel|cluster))?:\/\//i;

/** Completes "it must be …". */
export const redisUrlForms =
  "a redis:// or rediss:// URL, redis+sentinel://HOST:26379,HOST:26379/MASTER or redis+cluster://HOST:6379,HOST:6379, the latter two also with rediss";

/**
 * Parses a URL of one of these forms, each also with `rediss`:
 *   redis://user:password@host:6379/0?family=0
 *   redis+sentinel://user:password@host1:26379,host2:26379/master?db=0&sentinelUsername=…&sentinelPassword=…
 *   redis+cluster://user:password@host1:6379,host2:6379
 *
 * @throws NotAllowed
 */
export function parseRedisUrl(text: string): RedisPlace {
  const [start, secure, kind = "single"] = form.exec(text) ?? [];
  if (start === undefined) throw new NotAllowed(redisUrlForms);
  const { login, hosts, path, query } = splitUrl(text);
  const isSentinel = kind.toLowerCase() === "sentinel";
  const isSingle = kind === "single";
  const [username = "", ...password] = login.slice(0, -1).split(":").map(decodeURIComponent);
  const parsed = hosts.split(",").map((one) => parseHost(one, isSentinel ? 26_379 : 6_379));
  if (parsed.length > (isSingle ? 1 : hostsMax) || !parsed.every((one) => one !== undefined))
    throw new NotAllowed(
      `a URL with ${isSingle ? "one host" : `up to ${hostsMax} hosts`}, a name or an address with a port up to 65535 or none`,
    );
  const common = { hosts: parsed, login: loginOf(username, password.join(":")), isTls: secure !== "" };
  if (isSentinel) return sentinelOf(path, query, common);
  if (isSingle) return singleOf(path, query, common);
  if (query !== "") throw new NotAllowed("a URL without parameters");
  if (path.length > 1) throw new NotAllowed("a URL without a path: a cluster has only one database");
  return { kind: "cluster", ...common };
}

/** `family`: whether to reach the server by IPv4 (4, the default), IPv6 (6) or either (0). */
function singleOf(path: string, query: string, common: Common): RedisPlace {
  const { db = "0", family = "4", ...unknown } = Object.fromEntries(new URLSearchParams(query));
  if (Object.keys(unknown).length > 0 || !["0", "4", "6"].includes(family))
    throw new NotAllowed("a URL without parameters but db and family, which is 0, 4 or 6");
  return { kind: "single", db: parseDb(path.slice(1) || db), family: Number(family) as 0 | 4 | 6, ...common };
}

function sentinelOf(path: string, query: string, common: Common): RedisPlace {
  const parameters = Object.fromEntries(new URLSearchParams(withPlus(query)));
  const { db = "0", sentinelUsername = "", sentinelPassword = "", ...unknown } = parameters;
  if (Object.keys(unknown).length > 0) throw new NotAllowed("a URL without parameters but db, sentinelUsername and sentinelPassword");
  const [, master] = /^\/([\w.-]+)$/.exec(path) ?? [];
  if (master === undefined) throw new NotAllowed("a URL whose path is the name of the master, as in redis+sentinel://HOST:26379/MASTER");
  return { kind: "sentinel", master, db: parseDb(db), sentinelLogin: loginOf(sentinelUsername, sentinelPassword), ...common };
}

function parseDb(text: string): number {
  const db = integer(0, dbMax)(text);
  if (db === undefined) throw new NotAllowed("a URL whose database is a number, such as 0");
  return db;
}

function parseHost(text: string, defaultPort: number): Host | undefined {
  if (!/^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i.test(text)) return undefined;
  const url = attempt(() => new URL(`redis://${text}`));
  if (!url) return undefined;
  const port = url.port === "" ? defaultPort : Number(url.port);
  return port > 0 ? { host: url.hostname.replace(/^\[|\]$/g, ""), port } : undefined;
}

const loginOf = (username: string, password: string): Login => ({
  ...(username !== "" && { username }),
  ...(password !== "" && { password }),
});
