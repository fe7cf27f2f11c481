import { randomUUID } from "node:crypto";
import type { KeyVerifier } from "../callers/keys/verify.ts";
import type { Database } from "../platform/db/database.ts";
import { openAnnouncer, openNode, type Announcer, type Change, type Node, type NodeOptions } from "../platform/nodes/nodes.ts";

/** What this process keeps of the database. */
export type Kept = {
  keys: Pick<KeyVerifier, "forgetAll" | "forgetAccount" | "forgetKey">;
  /** What is published; `take` reads again what a change names, and `lost` ends what is being served. */
  sites: { take(change: Change | undefined): Promise<void>; lost(): void };
};

export type Membership = {
  node: Node;
  announcer: Announcer;
  /** Sets the handlers of changes. Before that this process caches nothing, so it can ignore changes. */
  keep: (kept: Kept) => void;
};

/** This process among the nodes of its database: SQLite has one node, PostgreSQL may have many. */
export function openMembership({ db, heartbeat }: { db: Database; heartbeat: NodeOptions["db"] }, log: NodeOptions["log"]): Membership {
  let kept: Kept | undefined;
  const act = async (change: Change | undefined): Promise<void> => {
    if (!kept) return;
    forgetIn(kept.keys, change);
    await kept.sites.take(change);
  };
  const node = openNode({ db: heartbeat, id: randomUUID(), act, lost: () => kept?.sites.lost(), log });
  return { node, announcer: openAnnouncer({ db, node }), keep: (parts) => void (kept = parts) };
}

/** Changes that are nothing to keys. */
const ofSites = new Set(["project", "domain"]);

/** A kind that is not known here, from a newer version of the program, could be anything. */
function forgetIn(keys: Kept["keys"], change: Change | undefined): void {
  if (change?.kind === "key") keys.forgetKey(Number(change.subject));
  else if (change?.kind === "account") keys.forgetAccount(Number(change.subject));
  else if (!ofSites.has(change?.kind ?? "")) keys.forgetAll();
}
