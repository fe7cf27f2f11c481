import { randomUUID } from "node:crypto";
import type { KeyVerifier } from "../callers/keys/verify.ts";
import type { Database } from "../platform/db/database.ts";
import { openAnnouncer, openNode, type Announcer, type Change, type Node, type NodeOptions } from "../platform/nodes/nodes.ts";

/** What this process caches of the database. */
type NodeCaches = {
  keys: Pick<KeyVerifier, "forgetAll" | "forgetAccount" | "forgetKey">;
  /** The host map. `applyChange` reads again what a change names; `onLeaseLost` stops serving. */
  sites: { applyChange(change: Change | undefined): Promise<void>; onLeaseLost(): void };
  /** The delivery of webhooks, which reads again what a change names. */
  webhooks: { applyChange(change: Change | undefined): Promise<void>; onLeaseLost(): void };
};

export type ClusterNode = {
  node: Node;
  announcer: Announcer;
  /** Sets the handlers of changes. Before that this process caches nothing, so it can ignore changes. */
  attachCaches: (kept: NodeCaches) => void;
};

/** This process among the nodes of its database: SQLite has one node, PostgreSQL may have many. */
export function openClusterNode(
  { db, heartbeat }: { db: Database; heartbeat: NodeOptions["db"] },
  log: NodeOptions["log"],
  secretsKeys: string,
): ClusterNode {
  let kept: NodeCaches | undefined;
  const applyChange = async (change: Change | undefined): Promise<void> => {
    if (!kept) return;
    forgetIn(kept.keys, change);
    await kept.sites.applyChange(change);
    await kept.webhooks.applyChange(change);
  };
  const onLeaseLost = (): void => {
    kept?.sites.onLeaseLost();
    kept?.webhooks.onLeaseLost();
  };
  const node = openNode({ db: heartbeat, id: randomUUID(), secretsKeys, applyChange, onLeaseLost, log });
  return { node, announcer: openAnnouncer({ db, node }), attachCaches: (parts) => void (kept = parts) };
}

/** Changes that do not affect keys. */
const withoutKeys = new Set(["project", "domain", "webhook"]);

/** An unknown kind comes from a newer version of the program, and could affect any key. */
function forgetIn(keys: NodeCaches["keys"], change: Change | undefined): void {
  if (change?.kind === "key") keys.forgetKey(Number(change.subject));
  else if (change?.kind === "account") keys.forgetAccount(Number(change.subject));
  else if (!withoutKeys.has(change?.kind ?? "")) keys.forgetAll();
}
