import { randomUUID } from "node:crypto";
import type { KeyVerifier } from "../callers/keys/verify.ts";
import type { Database } from "../platform/db/database.ts";
import { openAnnouncer, openNode, type Announcer, type Change, type Node, type NodeOptions } from "../platform/nodes/nodes.ts";

/** What this process caches of the database. */
type NodeCaches = {
  keys: Pick<KeyVerifier, "forgetAll" | "forgetAccount" | "forgetKey">;
  /** The host map. `applyChange` reads again what a change names; `onLeaseLost` stops serving. */
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

/** Changes that do not affect keys. */
const ofSites = new Set(["project", "domain"]);

/** An unknown kind comes from a newer version of the program, and could affect any key. */
function forgetIn(keys: NodeCaches["keys"], change: Change | undefined): void {
  if (change?.kind === "key") keys.forgetKey(Number(change.subject));
  else if (change?.kind === "account") keys.forgetAccount(Number(change.subject));
  else if (!ofSites.has(change?.kind ?? "")) keys.forgetAll();
}
