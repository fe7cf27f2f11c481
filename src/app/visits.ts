import { openAccessLog, type OnVisit } from "../publishing/edge/access-log.ts";
import { countVisits, type EdgeTraffic } from "../publishing/edge/edge-traffic.ts";
import type { Clock } from "../platform/clock.ts";
import type { Logger, OpenLog } from "../platform/log.ts";
import type { Settings } from "./settings.ts";

type Parts = { clock: Clock; log: Logger; logOutput?: Pick<OpenLog, "add"> | undefined };

/** Counts the visits to published sites, and writes the edge's access log unless it is switched off or `LOG_LEVEL` is above info. */
export function openVisits(settings: Settings, { clock, log, logOutput }: Parts): EdgeTraffic {
  const { onVisit: count, metrics } = countVisits(settings.platformDomain);
  if (!settings.edgeAccessLog || !logOutput) return { onVisit: count, metrics };
  const write = openAccessLog(clock, logOutput.add);
  const onVisit: OnVisit = (visit) => {
    count(visit);
    if (log.isLevelEnabled("info")) write(visit);
  };
  return { onVisit, metrics };
}
