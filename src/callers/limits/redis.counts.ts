import type { Redis } from "iovalkey";
import { recordFoundBan } from "./redis.bans.ts";
import { type Ledger, recordMeter } from "./redis.ledger.ts";

/** How many keys Redis looks at for each `SCAN`, in less than a millisecond. */
const keysPerScan = 1_000;
const meterBytes = 32;
const [meterNames, banNames] = [/^(account|address|person|visitor|publishable|spared):/, /^(visitor-)?ban:/];

/**
 * Reads all counts and bans in Redis, so that this node knows what others counted while it was not listening to their reports. Drops the bans that Redis
 * has no longer. Redis answers other requests between the pages.
 *
 * @param isCurrent returns false once the connection is given up
 */
export async function readCounts(client: Redis, ledger: Ledger, isCurrent: () => boolean): Promise<void> {
  const { bans, prefix } = ledger;
  const unseen = new Map(bans.known);
  for (let cursor = "0", isFirst = true; isFirst || cursor !== "0"; isFirst = false) {
    const [next, keys] = await client.scan(cursor, "MATCH", `${prefix}*`, "COUNT", keysPerScan);
    const names = keys.map((key) => key.slice(prefix.length)).filter((name) => meterNames.test(name) || banNames.test(name));
    const values = names.length === 0 ? [] : await client.mgetBuffer(names.map((name) => `${prefix}${name}`));
    if (!isCurrent()) return;
    names.forEach((name, i) => {
      const value = values[i];
      if (!value) return; // it has expired
      if (banNames.test(name)) {
        unseen.delete(`${prefix}${name}`);
        recordFoundBan(bans, `${prefix}${name}`, value.toString());
      } else if (value.length === meterBytes) recordMeter(ledger, name, value);
    });
    cursor = next;
  }
  for (const [name, ban] of unseen) if (bans.known.peek(name) === ban) bans.known.delete(name);
}
