import type { DatabaseSync } from "node:sqlite";

/**
 * Reads share one transaction from the first of them to the next durable commit, and so do not each lock the log, which
 * costs more than the read.
 */
export function openSnapshot(reader: DatabaseSync) {
  const begin = reader.prepare("BEGIN");
  const look = reader.prepare("SELECT 1 FROM sqlite_schema LIMIT 1");
  const commit = reader.prepare("COMMIT");
  return {
    take: () => void (reader.isTransaction || begin.run()),
    /** From here on reads see nothing that is committed later. */
    hold(): void {
      if (reader.isTransaction) return;
      begin.run();
      look.get(); // a transaction sees what was committed before its first read
    },
    release: () => void (reader.isTransaction && commit.run()),
  };
}
