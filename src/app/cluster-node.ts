import { randomUUID } from "node:crypto";
import type { KeyVerifier } from "../callers/keys/verify.ts";
import type { Database } from "../platform/db/database.ts";
import { type Announcer, type Change, type Node, type NodeOptions, openAnnouncer, openNode } from "../platform/nodes/nodes.ts";

/** The data of the database that this process caches. */
type NodeCaches = {
  keys: Pick<KeyVerifier, "forgetAll" | "forgetAccount" | "forgetKey">;
  /** The host map. `applyChange` rereads what a change names; `onLeaseLost` stops serving. */
  sites: { applyChange(change: Change | undefined): Promise<void>; onLeaseLost(): void };
  /** The delivery of webhooks, which rereads what a change names. */
  webhooks: { applyChange(change: Change | undefined): Promise<void>; onLeaseLost(): void };
  /** The bounds of the event logs, which change with an account's plan. */
  logs: { check(accountId: number): void };
};

export type ClusterNode = {
  node: Node;
  announcer: Announcer;
  /** Sets the handlers of changes. Before that this process caches nothing, so it can ignore changes. */
  attachCaches: (caches: NodeCaches) => void;
};

/** This process among the nodes of its database: SQLite has one node, PostgreSQL may have many. */
export function openClusterNode(
  { db, heartbeat, rewinds }: { db: Database; heartbeat: NodeOptions["db"]; rewinds: NodeOptions["rewinds"] },
  log: NodeOptions["log"],
  secretsKeys: string,
): ClusterNode {
  let caches: NodeCaches | undefined;
  const applyChange = async (change: Change | undefined): Promise<void> => {
    if (!caches) return;
    forgetIn(caches.keys, change);
    if (change?.kind === "account") caches.logs.check(Number(change.subject));
    await caches.sites.applyChange(change);
    await caches.webhooks.applyChange(change);
  };
  const onLeaseLost = (): void => {
    caches?.sites.onLeaseLost();
    caches?.webhooks.onLeaseLost();
  };
  const node = openNode({ db: heartbeat, id: randomUUID(), secretsKeys, applyChange, rewinds, onLeaseLost, log });
  return { node, announcer: openAnnouncer(db, node), attachCaches: (parts) => void (caches = parts) };
}

/** Changes that do not affect keys. */
const withoutKeys = new Set(["project", "domain", "webhook"]);

/** An unknown kind comes from a newer version of the program, and could affect any key. */
function forgetIn(keys: NodeCaches["keys"], change: Change | undefined): void {
  if (change?.kind === "key") keys.forgetKey(Number(change.subject));
  else if (change?.kind === "account") keys.forgetAccount(Number(change.subject));
  else if (!withoutKeys.has(change?.kind ?? "")) keys.forgetAll();
}
