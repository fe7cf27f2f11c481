import { openFairShare, type FairShare, type ShareLimits, type ShareLoad } from "./jobs/fair-share.ts";
import { siteAndAddress } from "./jobs/key-parts.ts";
import type { Metric } from "./metrics.ts";
import { overloaded } from "./problem.ts";
import { queues, type QueueName } from "./queues.ts";

/*
 * The list of what accounts and visitors share, in three classes (specification 4.9, decision 0094):
 *
 * - `queues` of `queues.ts`: work that waits for its turn in the one scheduler, `jobs/fair-share.ts`.
 * - `caps`: what a client holds for as long as it likes. Beyond a cap the newcomer is refused, or the oldest is closed.
 * - Loops over many rows or bytes, which give the event loop a turn at least every 10 ms (`giveTurn` of `event-loop.ts`).
 *
 * `shared-things.test.ts` fails for a shared thing that is in no class.
 */

/** What is held up to a bound: the reasons of `petstore_bound_refusals_total`. */
export const caps = [
  "connections",
  "connections_per_address",
  "connections_without_requests",
  "connections_idle",
  "unrequested_bytes",
  "pipelined_requests",
  "requests_in_flight",
  "body_bytes",
  "uploads",
  "event_streams",
  "long_polls",
  "picture_memory",
  "picture_cpu_time",
  "picture_time",
  "http2_sessions",
  "http2_streams",
  "http2_stalled_streams",
] as const;
export type Bound = (typeof caps)[number];

/** The bounded figures and their help texts, by listener: `api` or `edge`. */
const figures = {
  petstore_connections_open: "Connections that are open, by listener.",
  petstore_requests_in_flight: "Requests of known callers that are being answered.",
  petstore_requests_waiting: "Requests that wait because their caller has many in flight.",
  petstore_body_bytes: "Bytes of the request bodies in memory.",
  petstore_event_streams_open: "Streams of events that are open.",
  petstore_long_polls_open: "Requests that wait for events.",
} as const;
type Figure = keyof typeof figures;
export type Listener = "api" | "edge";

/** Opens the queues of this process, counts what its bounds refused or closed, and shows how much of each is in use. */
export type Bounds = {
  /** Opens a queue. `limits` override those of `queues`, for tests and for operators' settings. */
  queue<K extends string | number>(name: QueueName, limits?: ShareLimits): FairShare<K>;
  refused(bound: Bound): void;
  /** Adds a figure to the metrics, which call `read` each time. */
  show(figure: Figure, listener: Listener, read: () => number): void;
  metrics(): Metric[];
};

/** Limits that override those of `queues`. */
export type QueueLimits = Partial<Record<QueueName, ShareLimits>>;

/**
 * Creates the bounds of this process, whose counters are at zero.
 *
 * @param now the clock (ms, never adjusted) by which usage is forgotten. Default: the system's
 */
export function openBounds(overrides: QueueLimits = {}, now?: () => number): Bounds {
  const counts = new Map<Bound, number>(caps.map((bound) => [bound, 0]));
  const shown = new Map<Figure, { listener: Listener; read: () => number }[]>();
  const opened: OpenedQueue[] = [];
  return {
    queue<K extends string | number>(name: QueueName, limits: ShareLimits = {}) {
      const { by, busy } = queues[name];
      const parts = by === "site and address" ? siteAndAddress : undefined;
      const share = openFairShare<K>({ ...queues[name], ...limits, ...overrides[name] }, () => overloaded(busy), now, parts);
      opened.push({ name, load: share });
      return share;
    },
    refused: (bound) => void counts.set(bound, counts.get(bound)! + 1),
    show: (figure, listener, read) => void shown.set(figure, [...(shown.get(figure) ?? []), { listener, read }]),
    metrics: () => [
      ...turnMetrics(opened),
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

type OpenedQueue = { name: QueueName; load: Readonly<ShareLoad> };

/** The same three metrics for each queue, by name. */
function turnMetrics(opened: readonly OpenedQueue[]): Metric[] {
  const metric = (name: string, type: Metric["type"], help: string, figure: keyof ShareLoad): Metric => ({
    name,
    type,
    help,
    samples: Object.keys(queues).map((of) => ({
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
