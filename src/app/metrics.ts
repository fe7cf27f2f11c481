import type { Limiter, Mode } from "../callers/limits/limits.ts";
import type { Verdict } from "../callers/limits/windows.ts";
import { forwardedAddress } from "../platform/addresses.ts";
import type { Database } from "../platform/db/database.ts";
import { sendText } from "../platform/http/answers.ts";
import type { App } from "../platform/http/app.ts";
import { addressesOf, clientAddress, type Exchange } from "../platform/http/exchange.ts";
import { addPage } from "../platform/http/router.ts";
import { notFound } from "../platform/http/validation.ts";
import { counter, gauge, metricsType, renderMetrics, type Metric } from "../platform/metrics.ts";
import { hasAddress, type AddressList } from "../platform/parse.ts";
import { joinMetrics } from "./worker-metrics.ts";

const modes: Mode[] = ["process", "shared", "alone"];

/** Counts the requests that were refused because of a limit or a ban, or because too many waited to be counted. */
export type Refusals = { count: (verdict: Verdict) => void; metrics: () => Metric[] };

/** Counts from zero, for the life of this process. */
export function countRefusals(): Refusals {
  const counts = { rate_limit_exceeded: 0, key_banned: 0, unavailable: 0 };
  return {
    count(verdict) {
      if (verdict !== "pass") counts[verdict] += 1;
    },
    metrics: () => [
      {
        name: "petstore_limit_refusals_total",
        type: "counter",
        help: "Requests refused because of a limit or a ban, or because too many waited to be counted, by code.",
        samples: Object.entries(counts).map(([code, value]) => ({ labels: { code }, value })),
      },
    ],
  };
}

type CountedLimiter = Pick<Limiter, "mode" | "decidedAlone" | "waiting" | "mayLoseCounts">;

/** Part of the metrics. One that rejects is left out of this scrape. */
export type MetricsSource = () => Metric[] | Promise<Metric[]>;

/** Adds `GET /metrics`, in the text format of Prometheus. Addresses outside of `metricsFrom` get a 404. */
export function addMetrics(app: Pick<App, "add">, sources: readonly MetricsSource[], metricsFrom: AddressList): void {
  const collect = joinMetrics(async () => {
    const read = sources.map(async (source) => source()).map((metrics) => metrics.catch((): Metric[] => []));
    return (await Promise.all(read)).flat();
  });
  addPage(app, "/metrics", { hosts: "direct", isProbe: true }, async (exchange) => {
    if (!mayRead(exchange, metricsFrom)) {
      exchange.isProbe = false;
      throw notFound();
    }
    sendText(exchange, 200, renderMetrics(await collect()), metricsType);
  });
}

/** Refuses requests from a proxy that is not trusted, because all its clients have the proxy's address. */
function mayRead(exchange: Exchange, from: AddressList): boolean {
  const { headers } = exchange;
  const addresses = addressesOf(exchange);
  const isPassedOn = headers["x-forwarded-for"] !== undefined || headers.forwarded !== undefined;
  if (isPassedOn && (addresses.length < 2 || forwardedAddress(addresses.at(-1)!) === undefined)) return false;
  return hasAddress(from, clientAddress(exchange));
}

const waitName = "petstore_database_wait_seconds";
const waitHelp = "How long reads and transactions waited for a connection, if none was free.";

/** Work of the database, and waits for a connection. */
export function databaseMetrics(db: Pick<Database, "load">): Metric[] {
  const { reads, writes, pool, commitSizes } = db.load();
  const underWay = "Reads and transactions of the database that run or wait.";
  const all = [byKind("petstore_database_under_way", "gauge", underWay, { reads, writes })];
  if (commitSizes) all.push(commitSizes.metric("petstore_database_commit_writes", "Writes that shared a commit of the embedded database."));
  if (pool === undefined) return all;
  const { connections, connectionsMax, waiting, refused, waits } = pool;
  const waited = Object.entries(waits).flatMap(([kind, seconds]) => seconds.metric(waitName, waitHelp, { kind }).samples);
  return [
    ...all,
    gauge("petstore_database_connections_in_use", "Connections to PostgreSQL that run a transaction.", connections),
    gauge("petstore_database_connections_max", "Connections to PostgreSQL that this node may use for transactions.", connectionsMax),
    byKind("petstore_database_waiting", "gauge", "Reads and transactions that wait for a connection.", waiting),
    byKind(
      "petstore_database_refused_total",
      "counter",
      "Reads and transactions that waited too long, or found too many waiting.",
      refused,
    ),
    { name: waitName, type: "histogram", help: waitHelp, samples: waited },
  ];
}

function byKind(name: string, type: Metric["type"], help: string, values: Record<string, number>): Metric {
  return { name, type, help, samples: Object.entries(values).map(([kind, value]) => ({ labels: { kind }, value })) };
}

/** The mode of the limiter, and how it works without Redis. */
export function limiterMetrics(limiter: CountedLimiter): Metric[] {
  const current = limiter.mode();
  return [
    {
      name: "petstore_limiter_mode",
      type: "gauge",
      help: "How requests are counted: in this process, shared in Redis, or alone because Redis cannot be reached.",
      samples: modes.map((mode) => ({ labels: { mode }, value: mode === current ? 1 : 0 })),
    },
    counter(
      "petstore_limiter_local_decisions_total",
      "Requests that this node decided by its share of a limit because Redis could not be reached.",
      limiter.decidedAlone(),
    ),
    gauge("petstore_limiter_waiting", "Requests that wait for Redis to count them.", limiter.waiting()),
    gauge(
      "petstore_limiter_may_lose_counts",
      "1 if Redis may evict counts: it has a maxmemory, and its maxmemory-policy is not noeviction.",
      Number(limiter.mayLoseCounts()),
    ),
  ];
}
