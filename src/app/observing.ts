import { readdir, stat } from "node:fs/promises";
import sql from "sql-template-tag";
import { lastBackupAt } from "../backup/manifest.ts";
import type { Limiter } from "../callers/limits/limits.ts";
import type { WebhookQueues } from "../events/webhooks/deliveries.store.ts";
import type { Clock } from "../platform/clock.ts";
import { fileLimit } from "../platform/connections.ts";
import type { Context } from "../platform/context.ts";
import { limitTo } from "../platform/db/batches.ts";
import type { Database } from "../platform/db/database.ts";
import { watchEventLoop } from "../platform/event-loop.ts";
import { type Faults, openFaults } from "../platform/faults.ts";
import { problemOf } from "../platform/http/answers.ts";
import { openSharedRuns } from "../platform/jobs/runs.ts";
import type { Logger, OpenLog } from "../platform/log.ts";
import { counter, gauge, type Metric, processMetrics } from "../platform/metrics.ts";
import { programVersion } from "../platform/program-version.ts";
import { countVisits, type EdgeTraffic, type OnVisit, openAccessLog } from "../publishing/edge/visits.ts";
import type { AppContext } from "./context.ts";
import { ownHostOf } from "./edge.ts";
import { type ComparedClock, type ContentWatch, type Health, openHealth } from "./health.ts";
import { countRefusals, databaseMetrics, limiterMetrics, type MetricsSource, type Refusals } from "./metrics.ts";
import type { Settings } from "./settings.ts";
import { databasePath } from "./storage.ts";
import type { Tracing } from "./tracing.ts";

/** Faults, refusals, visits and errors, which the service records from its start on. */
export type Observation = {
  faults: Faults;
  refusals: Refusals;
  /** Records a visit, and its span. */
  onVisit: OnVisit;
  /** Undefined without a collector. */
  tracing: Tracing | undefined;
  /** Logs an error of background work. */
  onError: (error: unknown) => void;
  /** Watches the parts of the service for /readyz and /metrics. */
  watch(context: AppContext, watched: WatchTargets): { health: Health; sources: MetricsSource[] };
};

/** What `watch` watches beside the context. */
type WatchTargets = {
  limiter: Limiter;
  content: ContentWatch;
  time: ComparedClock;
  /** When (ms) the certificate of the names below the platform domain expires; undefined without one. */
  platformCertificateExpiry: () => number | undefined;
  webhookMetrics: () => Metric[];
};

export async function openObserving(
  settings: Settings,
  { clock, log, logOutput }: Pick<Context, "clock" | "log"> & { logOutput?: Pick<OpenLog, "add" | "lost"> | undefined },
  opened: AsyncDisposableStack,
): Promise<Observation> {
  const faults = openFaults(log);
  const refusals = countRefusals();
  const visits = openVisits(settings, clock, log, logOutput);
  const tracing = settings.otlpEndpoint === "" ? undefined : (await import("./tracing.ts")).openTracing(settings, clock, log);
  opened.defer(() => tracing?.close());
  const onVisit: OnVisit = tracing ? (visit, ms) => (visits.onVisit(visit, ms), tracing.onVisit(visit, ms)) : visits.onVisit;
  const eventLoop = watchEventLoop();
  opened.defer(() => eventLoop.stop());

  const onError = (error: unknown): void => {
    const isKnown = problemOf(error).code === "unavailable" && faults.refusal() !== undefined;
    if (!isKnown) log.error({ err: error }, "background work failed"); // a fault has its own line, and the work runs again
  };

  const watch: Observation["watch"] = (context, { limiter, content, time, platformCertificateExpiry, webhookMetrics }) => {
    const { db, bounds } = context;
    const health = openHealth(context, faults, content, logOutput, time);
    opened.defer(() => health.stop());
    const sources: MetricsSource[] = [
      () => refusals.metrics(),
      () => bounds.metrics(),
      webhookMetrics,
      () => visits.metrics(),
      () => faults.metrics(),
      () => limiterMetrics(limiter),
      () => databaseMetrics(db),
      processMetrics,
      () => eventLoop.metrics(),
      () => machineMetrics(settings.dataDir, health, content, logOutput),
      openWorkMetrics(db, clock, platformCertificateExpiry, ownHostOf(settings)),
      async () => (db.engine === "sqlite" ? databaseFileMetrics(databasePath(settings.dataDir)) : []),
    ];
    return { health, sources };
  };

  return { faults, refusals, onVisit, tracing, onError, watch };
}

/** Counts the visits to published sites, and writes the edge's access log unless it is switched off or `LOG_LEVEL` is above info. */
function openVisits(settings: Settings, clock: Clock, log: Logger, logOutput: Pick<OpenLog, "add"> | undefined): EdgeTraffic {
  const { onVisit: count, metrics } = countVisits(settings.platformDomain);
  if (!settings.edgeAccessLog || !logOutput) return { onVisit: count, metrics };
  const write = openAccessLog(clock, logOutput.add);
  const onVisit: OnVisit = (visit, ms) => {
    count(visit, ms);
    if (log.isLevelEnabled("info")) write(visit, ms);
  };
  return { onVisit, metrics };
}

/** How old figures from tables may be, and how long a scrape waits for them (ms). */
const queuesAgeMs = 5_000;
const certificatesAgeMs = 60_000;
const waitMs = 2_000;
/** The most rows that are counted. A longer queue shows this number. */
const countedMax = 10_000;

/**
 * Returns the metrics of the work that waits in tables, and of certificates. Scrapes at about the same time share one read of the tables.
 *
 * @param ownHost the host that the service gets a certificate for, with `PUBLIC_URL_CERTIFICATE`; null without it
 */
function openWorkMetrics(
  db: Database,
  clock: Clock,
  platformCertificateExpiry: () => number | undefined,
  ownHost: string | null,
): () => Promise<Metric[]> {
  const queues = remembered(queuesAgeMs, () => readQueues(db, clock()));
  const size = remembered(certificatesAgeMs, () => readSize(db));
  const certificates = remembered(certificatesAgeMs, () => readCertificates(db));
  const own = remembered(certificatesAgeMs, () => readOwnExpiry(db, ownHost));
  const webhooks = remembered(queuesAgeMs, async () => {
    const { readWebhookQueues } = await import("../events/webhooks/deliveries.store.ts");
    return webhookQueueMetrics(await readWebhookQueues(db, clock()), clock());
  });
  return async () => {
    const [waiting, rows, bytes, ownExpiry, ofWebhooks] = await Promise.all([queues(), certificates(), size(), own(), webhooks()]);
    return [
      ...present("petstore_database_size_bytes", databaseSizeHelp, bytes),
      ...queueMetrics(waiting),
      ...(ofWebhooks ?? []),
      ...certificateMetrics(rows ?? [], { platform: platformCertificateExpiry(), public_url: ownExpiry }),
    ];
  };
}

/** The size of a PostgreSQL database. The embedded one is a file. */
async function readSize(db: Database): Promise<number | undefined> {
  if (db.engine === "sqlite") return undefined;
  const [row] = await db.query<{ bytes: number }>(sql`SELECT pg_database_size(current_database()) AS bytes`);
  return row?.bytes;
}

type Queues = { uploads: number; domain_checks: number; certificate_orders: number };

async function readQueues(db: Database, now: number): Promise<Queues> {
  const rows = await db.query<Queues>(sql`
    SELECT
      (SELECT count(*) FROM (SELECT 1 FROM deployments WHERE status = 'queued' ${limitTo(countedMax)}) AS queued) AS uploads,
      (SELECT count(*) FROM (SELECT 1 FROM domains WHERE next_check_at <= ${now} ${limitTo(countedMax)}) AS due) AS domain_checks,
      (SELECT count(*) FROM (SELECT 1 FROM domains WHERE certificate_due_at <= ${now} ${limitTo(countedMax)}) AS late) AS certificate_orders`);
  return rows[0]!;
}

function queueMetrics(queues: Queues | undefined): Metric[] {
  if (!queues) return [];
  return [
    {
      name: "petstore_queue_waiting",
      type: "gauge",
      help: "Work that is due and waits or runs, of all nodes: uploads to unpack, domains to check, certificates to order; counted up to 10,000.",
      samples: Object.entries(queues).map(([queue, value]) => ({ labels: { queue }, value })),
    },
  ];
}

function webhookQueueMetrics({ accepting, failing, disabled }: WebhookQueues, now: number): Metric[] {
  const queues = Object.entries({ accepting, failing });
  return [
    {
      name: "petstore_webhook_waiting",
      type: "gauge",
      help: "Messages of all nodes that wait for webhook endpoints, by whether these accepted the last message: new events, and deliveries to send again.",
      samples: queues.flatMap(([endpoints, queue]) => [
        { labels: { endpoints, message: "new" }, value: queue.new },
        { labels: { endpoints, message: "retry" }, value: queue.retry },
      ]),
    },
    {
      name: "petstore_webhook_oldest_seconds",
      type: "gauge",
      help: "For how long the oldest message that may be sent now has waited for its endpoint.",
      samples: queues.map(([endpoints, { dueSince }]) => ({
        labels: { endpoints },
        value: dueSince === null ? 0 : Math.max(0, now - dueSince) / 1_000,
      })),
    },
    {
      name: "petstore_webhook_disabled_endpoints",
      type: "gauge",
      help: "Webhook endpoints that are disabled, by reason.",
      samples: Object.entries(disabled).map(([because, value]) => ({ labels: { because }, value })),
    },
  ];
}

type CertificateRow = { status: string; domains: number; soonest: number | null };

function readCertificates(db: Database): Promise<CertificateRow[]> {
  return db.query<CertificateRow>(sql`
    SELECT certificate_status AS status, count(*) AS domains, min(certificate_expires_at) AS soonest FROM domains GROUP BY certificate_status`);
}

/** When the certificate of the host of `PUBLIC_URL` expires; undefined if the service gets none for it, or has none yet. */
async function readOwnExpiry(db: Database, ownHost: string | null): Promise<number | undefined> {
  if (ownHost === null) return undefined;
  const [row] = await db.query<{ at: number | null }>(
    sql`SELECT certificate_expires_at AS at FROM service_domains WHERE hostname = ${ownHost}`,
  );
  return row?.at ?? undefined;
}

const statuses = ["none", "issuing", "issued", "failing"];

function certificateMetrics(rows: CertificateRow[], expiries: Record<string, number | undefined>): Metric[] {
  const soonest = Math.min(...rows.map((row) => row.soonest ?? Infinity));
  const all = { domain: soonest === Infinity ? undefined : soonest, ...expiries };
  return [
    {
      name: "petstore_certificate_domains",
      type: "gauge",
      help: "Custom domains by the status of their certificate.",
      samples: statuses.map((status) => ({ labels: { status }, value: rows.find((row) => row.status === status)?.domains ?? 0 })),
    },
    {
      name: "petstore_certificate_expiry_timestamp_seconds",
      type: "gauge",
      help: "When the first certificate expires, in Unix seconds: of all custom domains, of the platform domain, or of PUBLIC_URL.",
      samples: Object.entries(all).flatMap(([kind, at]) => (at === undefined ? [] : [{ labels: { kind }, value: at / 1_000 }])),
    },
  ];
}

/** Reads again once the last value is `ageMs` old. Returns the last value if the new one takes too long or fails. */
function remembered<T>(ageMs: number, read: () => Promise<T>): () => Promise<T | undefined> {
  let last: T | undefined;
  let readAt = -Infinity;
  const reading = openSharedRuns<"value", void>();
  async function readAgain(): Promise<void> {
    try {
      last = await read();
      readAt = performance.now();
    } catch {
      // health.ts reports the fault of the database
    }
  }

  return async () => {
    if (performance.now() - readAt < ageMs) return last;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, waitMs);
    await Promise.race([reading.run("value", readAgain), promise]).finally(() => clearTimeout(timer));
    return last;
  };
}

/** The version, the disk, open files, missing published files, lost log lines and the last backup. */
async function machineMetrics(
  dataDir: string,
  health: Pick<Health, "disk">,
  content: Pick<ContentWatch, "missing">,
  logOutput: Pick<OpenLog, "lost"> | undefined,
): Promise<Metric[]> {
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
async function databaseFileMetrics(file: string): Promise<Metric[]> {
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

const databaseSizeHelp = "Size of the database: of its file, or of all its tables and indexes on PostgreSQL.";

/** A gauge, if there is a value. */
function present(name: string, help: string, value: number | undefined): Metric[] {
  return value === undefined ? [] : [gauge(name, help, value)];
}

/** The number of open files; undefined on a system that does not list them in /proc. */
function openFiles(): Promise<number | undefined> {
  return readdir("/proc/self/fd").then(
    (names) => names.length,
    () => undefined,
  );
}
