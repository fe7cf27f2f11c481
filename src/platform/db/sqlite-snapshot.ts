import type { DatabaseSync } from "node:sqlite";

/**
 * Lets reads share one transaction, from the first read to the next durable commit, because locking the log for each read
 * costs more than the read.
 */
export function openSnapshot(reader: DatabaseSync) {
  const begin = reader.prepare("BEGIN");
  const look = reader.prepare("SELECT 1 FROM sqlite_schema LIMIT 1");
  const commit = reader.prepare("COMMIT");
  return {
    take: () => void (reader.isTransaction || begin.run()),
    /** From now on reads do not see later commits. */
    hold(): void {
      if (reader.isTransaction) return;
      begin.run();
      look.get(); // a transaction sees what was committed before its first read
    },
    release: () => void (reader.isTransaction && commit.run()),
  };
}
