import type { Redis } from "iovalkey";
import { recordFoundBan } from "./redis.bans.ts";
import { type Ledger, recordMeter } from "./redis.ledger.ts";

/** How many keys Redis looks at for each `SCAN`, in less than a millisecond. */
const keysPerScan = 1_000;
const meterBytes = 32;
const [meterNames, banNames] = [/^(account|address|person|visitor|publishable|spared):/, /^(visitor-)?ban:/];

const nothingLeft: Promise<[string, string[]]> = Promise.resolve(["0", []]);

/**
 * Reads all counts and bans in Redis, so that this node knows what others counted while it was not listening to their reports. Drops the bans that Redis
 * has no longer. Redis answers other requests between the pages.
 *
 * @param isCurrent returns false once the connection is given up
 */
export async function readCounts(client: Redis, ledger: Ledger, isCurrent: () => boolean): Promise<void> {
  const { bans, prefix } = ledger;
  const unseen = new Map(bans.known);
  const isWanted = (key: string): boolean => meterNames.test(key.slice(prefix.length)) || banNames.test(key.slice(prefix.length));
  let keys: string[] = [];
  for (let cursor: string | undefined = "0"; cursor !== undefined || keys.length > 0;) {
    const page: Promise<[string, string[]]> =
      cursor === undefined ? nothingLeft : client.scan(cursor, "MATCH", `${prefix}*`, "COUNT", keysPerScan);
    // The values of one page and the names of the next share a round trip.
    const [[next, names], values] = await Promise.all([page, keys.length === 0 ? [] : client.mgetBuffer(keys)]);
    if (!isCurrent()) return;
    values.forEach((value, i) => record(ledger, keys[i]!, value, unseen));
    cursor = next === "0" ? undefined : next;
    keys = names.filter(isWanted);
  }
  for (const [name, ban] of unseen) if (bans.known.peek(name) === ban) bans.known.delete(name);
}

/** Records a count or a ban, which may have expired meanwhile. */
function record(ledger: Ledger, key: string, value: Buffer | null, unseen: Map<string, unknown>): void {
  if (!value) return;
  const name = key.slice(ledger.prefix.length);
  if (banNames.test(name)) {
    unseen.delete(key);
    recordFoundBan(ledger.bans, key, value.toString());
  } else if (value.length === meterBytes) recordMeter(ledger, name, value);
}
