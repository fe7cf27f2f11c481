import { randomUUID } from "node:crypto";
import type { KeyVerifier } from "./callers/keys/verify.ts";
import type { Database } from "./platform/db/database.ts";
import { openAnnouncer, openNode, type Announcer, type Change, type Node, type NodeOptions } from "./platform/nodes/nodes.ts";

/** What this process keeps of the database. */
export type Kept = {
  keys: Pick<KeyVerifier, "forgetAll" | "forgetAccount" | "forgetKey">;
  /** What is published; `take` reads again what a change names, and `lost` ends what is being served. */
  sites: { take(change: Change | undefined): Promise<void>; lost(): void };
};

/**
 * This process among those that serve the same database: SQLite's is its own, PostgreSQL's may have many.
 *
 * @param kept looked up when there is something to act on
 */
export function openMembership(db: Database, kept: () => Kept, log: NodeOptions["log"]): { node: Node; announcer: Announcer } {
  const act = async (change: Change | undefined): Promise<void> => {
    const { keys, sites } = kept();
    forgetIn(keys, change);
    await sites.take(change);
  };
  const node = openNode({ db, id: randomUUID(), act, lost: () => kept().sites.lost(), log });
  return { node, announcer: openAnnouncer({ db, node }) };
}

/** Changes that are nothing to keys. */
const ofSites = new Set(["project", "domain"]);

/** A kind that is not known here, from a newer version of the program, could be anything. */
function forgetIn(keys: Kept["keys"], change: Change | undefined): void {
  if (change?.kind === "key") keys.forgetKey(Number(change.subject));
  else if (change?.kind === "account") keys.forgetAccount(Number(change.subject));
  else if (!ofSites.has(change?.kind ?? "")) keys.forgetAll();
}
