import type { BlockList } from "node:net";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Limiter, Mode, Verdict } from "./callers/limits/limits.ts";
import type { Database } from "./platform/db/database.ts";
import type { Traffic } from "./platform/http/traffic.ts";
import { metricsType, processMetrics, renderMetrics, type Metric } from "./platform/metrics.ts";
import { hasAddress } from "./platform/parse.ts";

const modes: Mode[] = ["process", "shared", "alone"];

/** Counts the requests that were refused because of a limit or a ban. */
export type Refusals = { count: (verdict: Verdict) => void; metrics: () => Metric[] };

/** Counts from zero, for the life of this process. */
export function countRefusals(): Refusals {
  const counts = { rate_limit_exceeded: 0, key_banned: 0 };
  return {
    count(verdict) {
      if (verdict !== "pass") counts[verdict] += 1;
    },
    metrics: () => [
      {
        name: "petstore_limit_refusals_total",
        type: "counter",
        help: "Requests refused because of a limit or a ban, by code.",
        samples: Object.entries(counts).map(([code, value]) => ({ labels: { code }, value })),
      },
    ],
  };
}

export type MetricsOptions = {
  db: Pick<Database, "load">;
  limiter: Pick<Limiter, "mode">;
  refusals: Refusals;
  /** Who may read them; for anybody else there is nothing at the path. */
  metricsFrom: BlockList;
};

/** Adds `GET /metrics`, in the text format of Prometheus. */
export function addMetrics(
  app: FastifyInstance,
  { db, limiter, refusals, metricsFrom, traffic }: MetricsOptions & { traffic: Traffic },
): void {
  app.get("/metrics", (request, reply) => {
    if (!mayRead(request, metricsFrom)) return reply.callNotFound();
    const metrics = [...traffic.metrics(), ...refusals.metrics(), modeOf(limiter), loadOf(db), ...processMetrics()];
    return reply.type(metricsType).send(renderMetrics(metrics));
  });
}

/** A proxy that is not trusted lends its own address to everybody: what it passes on is not let in. */
function mayRead(request: FastifyRequest, from: BlockList): boolean {
  const { ip, ips, headers } = request;
  const isPassedOn = headers["x-forwarded-for"] !== undefined || headers.forwarded !== undefined;
  return hasAddress(from, ip) && (!isPassedOn || (ips?.length ?? 0) > 1);
}

function loadOf(db: Pick<Database, "load">): Metric {
  return {
    name: "petstore_database_under_way",
    type: "gauge",
    help: "Reads and transactions of the database that run or wait.",
    samples: Object.entries(db.load()).map(([kind, value]) => ({ labels: { kind }, value })),
  };
}

function modeOf(limiter: Pick<Limiter, "mode">): Metric {
  const current = limiter.mode();
  return {
    name: "petstore_limiter_mode",
    type: "gauge",
    help: "How requests are counted: in this process, shared in Redis, or alone because Redis does not answer.",
    samples: modes.map((mode) => ({ labels: { mode }, value: mode === current ? 1 : 0 })),
  };
}
