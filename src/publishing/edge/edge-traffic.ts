import { counter, openHistogram, type Metric } from "../../platform/metrics.ts";
import type { OnVisit } from "./access-log.ts";

const kinds = ["platform", "custom", "unknown"] as const;
const protocols = ["http/1.1", "h2"] as const;
const classes = ["1xx", "2xx", "3xx", "4xx", "5xx"];
const boundsSeconds = [0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.1, 1, 10];

export type EdgeTraffic = { onVisit: OnVisit; metrics: () => Metric[] };

/** Counts visits by kind of host (never by its name), protocol and class of status. `unknown` stands for a host without a site. */
export function countVisits(platformDomain: string): EdgeTraffic {
  const counts = kinds.map(() => protocols.map(() => classes.map(() => 0)));
  const durations = openHistogram(boundsSeconds);
  const suffix = `.${platformDomain}`;
  let bytesSent = 0;
  let cut = 0;

  return {
    onVisit({ host, isKnown, protocol, status, bytes, ms, isCut }) {
      const kind = isKnown ? (host!.endsWith(suffix) ? 0 : 1) : 2;
      counts[kind]![protocol === "h2" ? 1 : 0]![Math.floor(status / 100) - 1]! += 1;
      durations.observe(ms / 1_000);
      bytesSent += bytes;
      if (isCut) cut += 1;
    },
    metrics: () => [
      {
        name: "petstore_edge_requests_total",
        type: "counter",
        help: "Requests to published sites that were answered, by kind of host name, protocol and class of status.",
        samples: kinds.flatMap((host, i) =>
          protocols.flatMap((protocol, j) =>
            classes.map((name, k) => ({ labels: { host, protocol, class: name }, value: counts[i]![j]![k]! })),
          ),
        ),
      },
      durations.metric(
        "petstore_edge_request_duration_seconds",
        "Time from the head of a request to a published site to the end of its answer.",
      ),
      counter("petstore_edge_sent_bytes_total", "Bytes of the bodies that were sent to visitors of published sites.", bytesSent),
      counter("petstore_edge_cut_answers_total", "Answers that a visitor did not wait for.", cut),
    ],
  };
}
