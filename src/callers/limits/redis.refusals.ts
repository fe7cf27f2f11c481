import { lostError } from "./redis.generation.ts";

export type LinkLog = { info(fields: object, text: string): void; warn(fields: object, text: string): void };
/** `warn`: an outage begins or goes on. `info`: it has ended. `note`: a warning of another kind. */
export type ShardLog = LinkLog & { note: LinkLog["warn"] };

/** Whether Redis refused a script because it has lost counts. */
export const isLoss = (error: unknown): boolean => error instanceof Error && error.message.startsWith(lostError);

/** Returns the beginning of a log line: why Redis does not count, and until when. */
export function textOf(error: unknown): string {
  if (!(error instanceof Error) || error.name !== "ReplyError") return "Redis cannot be reached: until it can";
  if (isLoss(error)) return "Redis has lost counts: until all nodes have restored those that they know";
  return "Redis answers, but refuses to count (`petstore doctor` says why): until it does";
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
