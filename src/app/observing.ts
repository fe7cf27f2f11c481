import { countVisits, openAccessLog, type EdgeTraffic, type OnVisit } from "../publishing/edge/visits.ts";
import type { Bounds } from "../platform/bounds.ts";
import type { Database } from "../platform/db/database.ts";
import { watchEventLoop } from "../platform/event-loop.ts";
import { openFaults, type Faults } from "../platform/faults.ts";
import type { Logger, OpenLog } from "../platform/log.ts";
import type { Clock } from "../platform/clock.ts";
import { processMetrics, type Metric } from "../platform/metrics.ts";
import type { Node } from "../platform/nodes/nodes.ts";
import { Problem } from "../platform/problem.ts";
import type { Limiter } from "../callers/limits/limits.ts";
import type { ContentWatch } from "./content-watch.ts";
import { openHealth, type Health } from "./health.ts";
import { countRefusals, databaseMetrics, limiterMetrics, type MetricsSource, type Refusals } from "./metrics.ts";
import { databaseFileMetrics, machineMetrics } from "./machine-metrics.ts";
import { ownHostOf } from "./edge.ts";
import type { Settings } from "./settings.ts";
import type { Tracing } from "./tracing.ts";
import { databasePath } from "./storage.ts";
import { openWorkMetrics } from "./work-metrics.ts";

/** Faults, refusals, visits and errors, which the service records from its start on. */
export type Observing = {
  faults: Faults;
  refusals: Refusals;
  /** Records a visit, and its span. */
  onVisit: OnVisit;
  /** Undefined without a collector. */
  tracing: Tracing | undefined;
  /** Logs an error of background work. */
  onError: (error: unknown) => void;
  /** Watches the parts of the service for /readyz and /metrics. */
  watch(parts: Watched): { health: Health; sources: MetricsSource[] };
};

type Watched = {
  db: Database;
  limiter: Limiter;
  bounds: Bounds;
  node: Node;
  content: ContentWatch;
  /** When (ms) the certificate of the names below the platform domain expires; undefined without one. */
  platformCertificateExpiry: () => number | undefined;
  webhookMetrics: () => Metric[];
};
type Options = { clock: Clock; log: Logger; logOutput?: Pick<OpenLog, "add" | "lost"> | undefined };

export async function openObserving(settings: Settings, options: Options, opened: AsyncDisposableStack): Promise<Observing> {
  const { clock, log, logOutput } = options;
  const faults = openFaults(log);
  const refusals = countRefusals();
  const visits = openVisits(settings, options);
  const tracing = settings.otlpEndpoint === "" ? undefined : (await import("./tracing.ts")).openTracing({ settings, clock, log });
  opened.defer(() => tracing?.close());
  const onVisit: OnVisit = tracing ? (visit, ms) => (visits.onVisit(visit, ms), tracing.onVisit(visit, ms)) : visits.onVisit;
  const eventLoop = watchEventLoop();
  opened.defer(() => eventLoop.stop());

  const onError = (error: unknown): void => {
    const isKnown = error instanceof Problem && error.code === "unavailable" && faults.refusal() !== undefined;
    if (!isKnown) log.error({ err: error }, "background work failed"); // a fault has its own line, and the work runs again
  };

  function watch({
    db,
    limiter,
    bounds,
    node,
    content,
    platformCertificateExpiry,
    webhookMetrics,
  }: Watched): ReturnType<Observing["watch"]> {
    const health = openHealth({ db, dataDir: settings.dataDir, faults, content, logOutput, isLive: () => node.isLive(), onError });
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
      () => machineMetrics({ dataDir: settings.dataDir, health, content, logOutput }),
      openWorkMetrics({ db, clock, platformCertificateExpiry, ownHost: ownHostOf(settings) }),
      async () => (db.engine === "sqlite" ? databaseFileMetrics(databasePath(settings.dataDir)) : []),
    ];
    return { health, sources };
  }

  return { faults, refusals, onVisit, tracing, onError, watch };
}

type VisitParts = { clock: Clock; log: Logger; logOutput?: Pick<OpenLog, "add"> | undefined };

/** Counts the visits to published sites, and writes the edge's access log unless it is switched off or `LOG_LEVEL` is above info. */
function openVisits(settings: Settings, { clock, log, logOutput }: VisitParts): EdgeTraffic {
  const { onVisit: count, metrics } = countVisits(settings.platformDomain);
  if (!settings.edgeAccessLog || !logOutput) return { onVisit: count, metrics };
  const write = openAccessLog(clock, logOutput.add);
  const onVisit: OnVisit = (visit, ms) => {
    count(visit, ms);
    if (log.isLevelEnabled("info")) write(visit, ms);
  };
  return { onVisit, metrics };
}
