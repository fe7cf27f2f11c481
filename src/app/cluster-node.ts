import { randomUUID } from "node:crypto";
import type { KeyVerifier } from "../callers/keys/verify.ts";
import type { Database } from "../platform/db/database.ts";
import { openAnnouncer, openNode, type Announcer, type Change, type Node, type NodeOptions } from "../platform/nodes/nodes.ts";

/** What this process keeps of the database. */
type NodeCaches = {
  keys: Pick<KeyVerifier, "forgetAll" | "forgetAccount" | "forgetKey">;
  /** What is published; `applyChange` reads what a change names again, and `onLeaseLost` ends what is being served. */
  sites: { applyChange(change: Change | undefined): Promise<void>; onLeaseLost(): void };
};

export type ClusterNode = {
  node: Node;
  announcer: Announcer;
  /** Sets the handlers of changes. Before that this process caches nothing, so it can ignore changes. */
  attachCaches: (kept: NodeCaches) => void;
};

/** This process among the nodes of its database: SQLite has one node, PostgreSQL may have many. */
export function openClusterNode({ db, heartbeat }: { db: Database; heartbeat: NodeOptions["db"] }, log: NodeOptions["log"]): ClusterNode {
  let kept: NodeCaches | undefined;
  const applyChange = async (change: Change | undefined): Promise<void> => {
    if (!kept) return;
    forgetIn(kept.keys, change);
    await kept.sites.applyChange(change);
  };
  const node = openNode({ db: heartbeat, id: randomUUID(), applyChange, onLeaseLost: () => kept?.sites.onLeaseLost(), log });
  return { node, announcer: openAnnouncer({ db, node }), attachCaches: (parts) => void (kept = parts) };
}

/** Changes that are nothing to keys. */
const ofSites = new Set(["project", "domain"]);

/** A kind that is not known here, from a newer version of the program, could be anything. */
function forgetIn(keys: NodeCaches["keys"], change: Change | undefined): void {
  if (change?.kind === "key") keys.forgetKey(Number(change.subject));
  else if (change?.kind === "account") keys.forgetAccount(Number(change.subject));
  else if (!ofSites.has(change?.kind ?? "")) keys.forgetAll();
}
