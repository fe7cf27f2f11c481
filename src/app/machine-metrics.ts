import { readdir, stat } from "node:fs/promises";
import { lastBackupAt } from "../backup/last-backup.ts";
import { fileLimit } from "../platform/file-limit.ts";
import type { OpenLog } from "../platform/log.ts";
import { counter, gauge, type Metric } from "../platform/metrics.ts";
import type { ContentWatch } from "./content-watch.ts";
import type { Health } from "./health.ts";
import { programVersion } from "./upgrade.ts";

type Parts = {
  dataDir: string;
  health: Pick<Health, "disk">;
  content: Pick<ContentWatch, "missing">;
  logOutput: Pick<OpenLog, "lost"> | undefined;
};

/** The version, the disk, open files, missing published files, lost log lines and the last backup. */
export async function machineMetrics({ dataDir, health, content, logOutput }: Parts): Promise<Metric[]> {
  const { free, total } = (await health.disk()) ?? {};
  const backupAt = lastBackupAt(dataDir);
  return [
    {
      name: "petstore_build_info",
      type: "gauge",
      help: "The version of this program and of Node, as labels; always 1.",
      samples: [{ labels: { version: programVersion(), node: process.versions.node }, value: 1 }],
    },
    ...present("petstore_disk_free_bytes", "Free bytes of the disk of DATA_DIR.", free),
    ...present("petstore_disk_size_bytes", "Size of the disk of DATA_DIR.", total),
    ...present("process_open_fds", "Open files and sockets.", await openFiles()),
    gauge("process_max_fds", "How many files the process may open.", fileLimit()),
    gauge(
      "petstore_published_files_missing",
      "Published files that visitors requested and that the service cannot read now.",
      content.missing(),
    ),
    ...present(
      "petstore_backup_last_success_timestamp_seconds",
      "When the last complete backup was made, in seconds since the epoch; absent before the first.",
      backupAt === undefined ? undefined : backupAt / 1_000,
    ),
    counter("petstore_log_lines_lost_total", "Log lines that standard output did not take.", logOutput?.lost().lines ?? 0),
  ];
}

/** The size of the embedded database and of its log (WAL). */
export async function databaseFileMetrics(file: string): Promise<Metric[]> {
  const size = (path: string): Promise<number | undefined> =>
    stat(path).then(
      (found) => found.size,
      () => undefined,
    );
  return [
    ...present("petstore_database_size_bytes", databaseSizeHelp, await size(file)),
    ...present("petstore_database_wal_size_bytes", "Size of the embedded database's write-ahead log.", await size(`${file}-wal`)),
  ];
}

export const databaseSizeHelp = "Size of the database: of its file, or of all its tables and indexes on PostgreSQL.";

/** A gauge, if there is a value. */
export function present(name: string, help: string, value: number | undefined): Metric[] {
  return value === undefined ? [] : [gauge(name, help, value)];
}

/** The number of open files; undefined on a system that does not list them in /proc. */
function openFiles(): Promise<number | undefined> {
  return readdir("/proc/self/fd").then(
    (names) => names.length,
    () => undefined,
  );
}
