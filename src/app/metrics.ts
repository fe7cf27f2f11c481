import type { BlockList } from "node:net";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Limiter, Mode, Verdict } from "../callers/limits/limits.ts";
import type { Bounds } from "../platform/bounds.ts";
import type { Database } from "../platform/db/database.ts";
import type { EventLoopDelay } from "../platform/event-loop.ts";
import type { Traffic } from "../platform/http/traffic.ts";
import { counter, gauge, metricsType, processMetrics, renderMetrics, type Metric } from "../platform/metrics.ts";
import { forwardedAddress } from "../platform/addresses.ts";
import { clientAddress } from "../platform/http/caller.ts";
import { hasAddress } from "../platform/parse.ts";

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

type CountedLimiter = Pick<Limiter, "mode" | "decidedAlone" | "waiting">;

export type MetricsOptions = {
  db: Pick<Database, "load">;
  limiter: CountedLimiter;
  refusals: Refusals;
  bounds: Bounds;
  eventLoop: Pick<EventLoopDelay, "metrics">;
  /** The addresses that may read the metrics. Others get a 404. */
  metricsFrom: BlockList;
};

/** Adds `GET /metrics`, in the text format of Prometheus. */
export function addMetrics(
  app: FastifyInstance,
  { db, limiter, refusals, bounds, eventLoop, metricsFrom, traffic }: MetricsOptions & { traffic: Traffic },
): void {
  app.get("/metrics", { config: { hosts: "direct" } }, (request, reply) => {
    if (!mayRead(request, metricsFrom)) return reply.callNotFound();
    const metrics = [
      ...traffic.metrics(),
      ...refusals.metrics(),
      ...bounds.metrics(),
      ...metricsOf(limiter),
      ...databaseMetrics(db),
      ...processMetrics(),
      ...eventLoop.metrics(),
    ];
    return reply.type(metricsType).send(renderMetrics(metrics));
  });
}

/** Refuses requests from a proxy that is not trusted, because all its clients have the proxy's address. */
function mayRead(request: FastifyRequest, from: BlockList): boolean {
  const { ips = [], headers } = request;
  const isPassedOn = headers["x-forwarded-for"] !== undefined || headers.forwarded !== undefined;
  if (isPassedOn && (ips.length < 2 || forwardedAddress(ips.at(-1)!) === undefined)) return false;
  return hasAddress(from, clientAddress(request));
}

function databaseMetrics(db: Pick<Database, "load">): Metric[] {
  const { reads, writes, pool } = db.load();
  const underWay = "Reads and transactions of the database that run or wait.";
  const all = [byKind("petstore_database_under_way", "gauge", underWay, { reads, writes })];
  if (pool === undefined) return all;
  const { connections, connectionsMax, waiting, refused } = pool;
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
  ];
}

function byKind(name: string, type: Metric["type"], help: string, values: Record<string, number>): Metric {
  return { name, type, help, samples: Object.entries(values).map(([kind, value]) => ({ labels: { kind }, value })) };
}

function metricsOf(limiter: CountedLimiter): Metric[] {
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
  ];
}
