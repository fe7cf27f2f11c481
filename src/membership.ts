import { randomUUID } from "node:crypto";
import type { KeyVerifier } from "./callers/keys/verify.ts";
import type { Database } from "./platform/db/database.ts";
import { noOtherNodes, onlyNode, openAnnouncer, openNode, type Announcer, type Node, type NodeOptions } from "./platform/nodes/nodes.ts";

type Keys = Pick<KeyVerifier, "forgetAll" | "forgetAccount" | "forgetKey">;

/**
 * This process among those that serve the same database: SQLite's is its own, PostgreSQL's may have many.
 *
 * @param keys what this process keeps of keys, looked up when something is to be forgotten
 */
export function openMembership(db: Database, keys: () => Keys, log: NodeOptions["log"]): { node: Node; announcer: Announcer } {
  if (db.engine === "sqlite") return { node: onlyNode, announcer: noOtherNodes };
  const node = openNode({ db, id: randomUUID(), forget: (change) => forgetIn(keys(), change), log });
  const others = openAnnouncer({ db });
  const announcer: Announcer = {
    announce: (tx, change) => others.announce(tx, change),
    async confirmed(number) {
      await node.beat(); // this node's own confirmation need not wait for its turn
      await others.confirmed(number);
    },
  };
  return { node, announcer };
}

/** A kind that is not known here, from a newer version of the program, could be anything. */
function forgetIn(keys: Keys, change: Parameters<NodeOptions["forget"]>[0]): void {
  if (change?.kind === "key") keys.forgetKey(change.subject);
  else if (change?.kind === "account") keys.forgetAccount(change.subject);
  else keys.forgetAll();
}
