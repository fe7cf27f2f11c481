import type { Metric } from "../metrics.ts";
import type { ShareLoad } from "./fair-share.ts";

export type OpenedQueue = { name: string; load: Readonly<ShareLoad> };

/** The same three metrics for each queue, by name. */
export function turnMetrics(names: readonly string[], opened: readonly OpenedQueue[]): Metric[] {
  const metric = (name: string, type: Metric["type"], help: string, figure: keyof ShareLoad): Metric => ({
    name,
    type,
    help,
    samples: names.map((of) => ({
      labels: { of },
      value: opened.reduce((sum, { name: own, load }) => (own === of ? sum + load[figure] : sum), 0),
    })),
  });
  return [
    metric("petstore_turns_running", "gauge", "Work that has its turn, by queue.", "inUse"),
    metric("petstore_turns_waiting", "gauge", "Work that waits for its turn, by queue.", "waiting"),
    metric(
      "petstore_turns_refused_total",
      "counter",
      "Work that got no turn, because too much waited or it waited too long, by queue.",
      "refused",
    ),
  ];
}
