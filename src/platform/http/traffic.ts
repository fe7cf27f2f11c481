import type { Metric } from "../metrics.ts";
import type { Answered } from "./admission.ts";

const boundsMs = [1, 2.5, 5, 10, 25, 50, 100, 250, 1_000, 5_000];
const classes = ["1xx", "2xx", "3xx", "4xx", "5xx"];

export type Traffic = { onAnswered: Answered; metrics: () => Metric[] };

/** Counts answers by class of status and by duration. */
export function countTraffic(): Traffic {
  const byClass = classes.map(() => 0);
  const byTime = [...boundsMs, Infinity].map(() => 0);
  let totalMs = 0;

  function onAnswered(_request: unknown, status: number, ms: number): void {
    byClass[Math.floor(status / 100) - 1]! += 1;
    let i = 0;
    while (i < boundsMs.length && ms > boundsMs[i]!) i++;
    byTime[i]! += 1;
    totalMs += ms;
  }

  const metrics = (): Metric[] => [
    {
      name: "petstore_http_requests_total",
      type: "counter",
      help: "Requests that were answered, by class of status.",
      samples: classes.map((name, i) => ({ labels: { class: name }, value: byClass[i]! })),
    },
    {
      name: "petstore_http_request_duration_seconds",
      type: "histogram",
      help: "Time from a request's head to the end of its answer.",
      samples: histogram(byTime, totalMs),
    },
  ];
  return { onAnswered, metrics };
}

function histogram(byTime: number[], totalMs: number) {
  let below = 0;
  const buckets = byTime.map((count, i) => {
    below += count;
    const bound = boundsMs[i];
    return { suffix: "_bucket" as const, labels: { le: bound === undefined ? "+Inf" : String(bound / 1000) }, value: below };
  });
  return [...buckets, { suffix: "_sum" as const, value: totalMs / 1000 }, { suffix: "_count" as const, value: below }];
}
