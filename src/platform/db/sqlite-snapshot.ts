import type { DatabaseSync } from "node:sqlite";

/**
 * Lets reads share one transaction, from the first read to the next durable commit, because locking the log for each read
 * costs more than the read.
 */
export function openSnapshot(reader: DatabaseSync) {
  const begin = reader.prepare("BEGIN");
  const firstRead = reader.prepare("SELECT 1 FROM sqlite_schema LIMIT 1");
  const commit = reader.prepare("COMMIT");
  const rollback = reader.prepare("ROLLBACK");
  let isOpen = false;

  /** Opens the snapshot. From now on reads do not see later commits. */
  function open(): void {
    if (isOpen) return;
    if (!reader.isTransaction) begin.run();
    firstRead.get(); // a transaction sees what was committed before its first read
    isOpen = true;
  }

  return {
    open,
    /** Called after a read that failed, which may have ended the transaction. */
    failed: () => void (isOpen &&= reader.isTransaction),
    /** Lets further reads see the latest commit. @throws if the database cannot be read; even then the next read opens a new snapshot */
    release(): void {
      isOpen = false;
      if (!reader.isTransaction) return;
      try {
        commit.run();
      } finally {
        if (reader.isTransaction) rollback.run();
      }
    },
  };
}
