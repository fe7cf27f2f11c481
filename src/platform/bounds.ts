import type { Metric } from "./metrics.ts";

/** The bounds whose refusals are counted. */
const bounds = [
  "connections",
  "connections_per_address",
  "connections_without_requests",
  "connections_idle",
  "pipelined_requests",
  "requests_in_flight",
  "body_bytes",
  "uploads",
  "http2_sessions",
  "http2_streams",
  "http2_stalled_streams",
] as const;
export type Bound = (typeof bounds)[number];

/** The bounded figures and their help texts, by listener: `api` or `edge`. */
const figures = {
  petstore_connections_open: "Connections that are open, by listener.",
  petstore_requests_in_flight: "Requests of known callers that are being answered.",
  petstore_requests_waiting: "Requests that wait because their caller has many in flight.",
  petstore_body_bytes: "Bytes of the request bodies in memory.",
} as const;
type Figure = keyof typeof figures;
export type Listener = "api" | "edge";

/** Counts what the bounds of this process refused or closed, and shows how much of each bound is in use. */
export type Bounds = {
  refused(bound: Bound): void;
  /** Adds a figure to the metrics, which call `read` each time. */
  show(figure: Figure, listener: Listener, read: () => number): void;
  metrics(): Metric[];
};

/** Creates the counters of this process, at zero. */
export function countBounds(): Bounds {
  const counts = new Map<Bound, number>(bounds.map((bound) => [bound, 0]));
  const shown = new Map<Figure, { listener: Listener; read: () => number }[]>();
  return {
    refused: (bound) => void counts.set(bound, counts.get(bound)! + 1),
    show: (figure, listener, read) => void shown.set(figure, [...(shown.get(figure) ?? []), { listener, read }]),
    metrics: () => [
      {
        name: "petstore_bound_refusals_total",
        type: "counter",
        help: "Connections closed and requests refused because of a bound, by reason.",
        samples: [...counts].map(([reason, value]) => ({ labels: { reason }, value })),
      },
      ...[...shown].map(([name, samples]): Metric => ({
        name,
        type: "gauge",
        help: figures[name],
        samples: samples.map(({ listener, read }) => ({ labels: { listener }, value: read() })),
      })),
    ],
  };
}
