import cluster from "node:cluster";
import { HistoryError } from "../platform/db/migrate.ts";
import { SettingError } from "./setting.ts";

/**
 * The report of a worker to its supervisor: it catches signals, it takes requests, or it cannot start. `isLasting` says that another start
 * would fail in the same way, because a setting or the schema is wrong.
 */
export type Report = { petstore: "catching" } | { petstore: "ready" } | { petstore: "failed"; isLasting: boolean };

/** Reports to the supervisor, if there is one. */
export function report(message: Report): void {
  if (cluster.isWorker && process.connected) process.send?.(message);
}

export function reportFailure(error: unknown): void {
  report({ petstore: "failed", isLasting: isLasting(error) });
}

/** Whether a setting or the schema is the reason for an error. */
function isLasting(error: unknown): boolean {
  if (error instanceof SettingError || error instanceof HistoryError) return true;
  return error instanceof Error && error.cause !== undefined && isLasting(error.cause);
}
