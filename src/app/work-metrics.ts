import sql from "sql-template-tag";
import { limitTo } from "../platform/db/batches.ts";
import type { WebhookQueues } from "../events/webhooks/queue.store.ts";
import type { Clock } from "../platform/clock.ts";
import type { Database } from "../platform/db/database.ts";
import { openSharing } from "../platform/jobs/runs.ts";
import type { Metric } from "../platform/metrics.ts";
import { databaseSizeHelp, present } from "./machine-metrics.ts";

/** How old figures from tables may be, and how long a scrape waits for them (ms). */
const queuesAgeMs = 5_000;
const certificatesAgeMs = 60_000;
const waitMs = 2_000;
/** The most rows that are counted. A longer queue shows this number. */
const countedMax = 10_000;

type Parts = {
  db: Database;
  clock: Clock;
  platformCertificateExpiry: () => number | undefined;
  /** The host that the service gets a certificate for, with `PUBLIC_URL_CERTIFICATE`; null without it. */
  ownHost: string | null;
};

/** Returns the metrics of the work that waits in tables, and of certificates. Scrapes at about the same time share one read of the tables. */
export function openWorkMetrics({ db, clock, platformCertificateExpiry, ownHost }: Parts): () => Promise<Metric[]> {
  const queues = remembered(queuesAgeMs, () => readQueues(db, clock()));
  const size = remembered(certificatesAgeMs, () => readSize(db));
  const certificates = remembered(certificatesAgeMs, () => readCertificates(db));
  const own = remembered(certificatesAgeMs, () => readOwnExpiry(db, ownHost));
  const webhooks = remembered(queuesAgeMs, async () => {
    const { readWebhookQueues } = await import("../events/webhooks/queue.store.ts");
    return webhookMetrics(await readWebhookQueues(db, clock()), clock());
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

function webhookMetrics({ accepting, failing, disabled }: WebhookQueues, now: number): Metric[] {
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
  const reading = openSharing<"value", void>();
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
