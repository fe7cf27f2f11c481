import { lostError } from "./redis.generation.ts";

export type LinkLog = { info(fields: object, text: string): void; warn(fields: object, text: string): void };
/** `warn`: an outage begins or goes on. `info`: it has ended. `note`: a warning of another kind. */
export type ShardLog = LinkLog & { note: LinkLog["warn"] };

/** Whether Redis refused a script because it has lost counts. */
export const isLoss = (error: unknown): boolean => error instanceof Error && error.message.startsWith(lostError);

/** Whether an error is an answer of Redis. */
export const isAnswer = (error: unknown): error is Error => error instanceof Error && error.name === "ReplyError";

/** Removes the arguments of an unknown command, which Redis repeats: those of AUTH are the user and the password. */
export const withoutArguments = (reason: string): string => reason.replace(/, with args beginning with:.*/s, "");

/** The section of the guide that says what the limiter needs. */
const guide = "(docs/operating.md, “Limits on Redis”)";
const permissions = /NOPERM|user executing the script can't/;

/** What to do, by what Redis answered or why it could not be reached. */
const remedies: [reason: RegExp, remedy: string][] = [
  [/WRONGPASS|NOAUTH|invalid password/, "correct the user and the password in REDIS_URL"],
  [permissions, `give the user of REDIS_URL the commands, keys and channels that the limiter needs ${guide}`],
  [
    /READONLY|MASTERDOWN/,
    "set REDIS_URL to the master or to its sentinels: this server is a replica. If it names sentinels or a cluster, wait for the failover",
  ],
  [/CLUSTERDOWN/, `give each slot of the cluster a server that runs, and begin REDIS_URL with redis+cluster:// ${guide}`],
  [
    /MOVED|CROSSSLOT/,
    `begin REDIS_URL with redis+cluster:// ${guide}: this server is part of a cluster. If it does, wait: keys are moving to another server`,
  ],
  [/cluster support disabled/, "begin REDIS_URL with redis:// or redis+sentinel://: this server is not part of a cluster"],
  [/No such master/, "end REDIS_URL with the name that the sentinels have for the master"],
  [/unknown command ['`]?SENTINEL/i, "name sentinels in REDIS_URL, usually at port 26379: this server is not one"],
  [/OOM/, "raise maxmemory: Redis has no room for counts"],
  [/MISCONF/, "make room on the disk of Redis, or set stop-writes-on-bgsave-error no"],
  [/NOREPLICAS/, "bring a replica of the master back"],
  [
    /certificate|altname|CERT_/i,
    "name the certificate authority of Redis in REDIS_CA_FILE, and in REDIS_URL the server by a name in its certificate",
  ],
];

/** What an operator can do so that Redis counts. */
export function remedyOf(error: unknown): string {
  const known = remedies.find(([reason]) => reason.test(String(error)))?.[1];
  if (known !== undefined) return known;
  if (isAnswer(error)) return "look up this answer in the documentation of Redis";
  return "check the server, the network and REDIS_URL, which begins with redis:// or, if Redis has TLS there, with rediss://";
}

/** Whether Redis answered that its user lacks a permission. */
export const isForbidden = (error: unknown): boolean => isAnswer(error) && permissions.test(error.message);

/** Returns a log line: why Redis does not count, what this node does meanwhile, and what to do. */
export function textOf(error: unknown): string {
  const end = isLoss(error) ? "" : `. To fix this, ${remedyOf(error)}`;
  return `${beginningOf(error)}, this node admits its share of each limit${end}`;
}

function beginningOf(error: unknown): string {
  if (!isAnswer(error)) return "Redis cannot be reached: until it can";
  if (isLoss(error)) return "Redis has lost counts: until all nodes have restored those that they know";
  return "Redis answers, but refuses to count: until it does";
}

/** Warns of a policy by which Redis may evict counts. */
export function noteEviction(log: ShardLog, policy: string | undefined): void {
  if (policy !== undefined)
    log.note({ policy }, "Redis may evict counts, and limits are then counted by shares: set maxmemory-policy to noeviction");
}

/** Warns if the user may not read all counts. Ignores a connection that was lost meanwhile. */
export function noteReading(log: ShardLog, error: unknown): void {
  if (!String(error).includes("NOPERM")) return;
  const text = "Redis does not let this node read all counts, so a node that starts does not know those of others: allow +scan and +mget";
  log.note({ reason: String(error) }, text);
}
