import { openHistogram, type Metric } from "../metrics.ts";
import type { Exchange } from "./exchange.ts";

const boundsSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];
const classes = ["1xx", "2xx", "3xx", "4xx", "5xx"];

/** Called with each answer, and the time since the request's head in ms. */
export type OnAnswer = (exchange: Exchange, ms: number) => void;

export type Traffic = { onAnswered: OnAnswer; metrics: () => Metric[] };

/** Counts answers by class of status. */
export function countClasses() {
  const counts = classes.map(() => 0);
  return {
    add(status: number): void {
      counts[Math.floor(status / 100) - 1]! += 1;
    },
    /** @param labels those of each sample besides its class */
    samples: (labels: Record<string, string> = {}): Metric["samples"] =>
      classes.map((name, i) => ({ labels: { ...labels, class: name }, value: counts[i]! })),
  };
}

/** The answers of one route. */
type RouteCount = { classes: ReturnType<typeof countClasses>; count: number; seconds: number };

/** Counts answers by class of status and by duration, in all and for each route. */
export function countTraffic(): Traffic {
  const all = countClasses();
  const durations = openHistogram(boundsSeconds);
  const routes = new Map<string, RouteCount>();

  const onAnswered: OnAnswer = ({ status, route: { name } }, ms) => {
    all.add(status);
    durations.observe(ms / 1_000);
    const route = countOf(routes, name);
    route.classes.add(status);
    route.count += 1;
    route.seconds += ms / 1_000;
  };

  const metrics = (): Metric[] => [
    {
      name: "petstore_http_requests_total",
      type: "counter",
      help: "Requests that were answered, by class of status.",
      samples: all.samples(),
    },
    durations.metric("petstore_http_request_duration_seconds", "Time from a request's head to the end of its answer."),
    ...routeMetrics(routes),
  ];
  return { onAnswered, metrics };
}

function countOf(routes: Map<string, RouteCount>, name: string): RouteCount {
  let route = routes.get(name);
  if (!route) routes.set(name, (route = { classes: countClasses(), count: 0, seconds: 0 }));
  return route;
}

/** Only the routes and classes that were requested: most are never used on one node. */
function routeMetrics(routes: Map<string, RouteCount>): Metric[] {
  const all = [...routes];
  return [
    {
      name: "petstore_route_requests_total",
      type: "counter",
      help: "Requests that were answered, by operation and class of status.",
      samples: all.flatMap(([route, { classes: ofRoute }]) => ofRoute.samples({ route }).filter(({ value }) => value > 0)),
    },
    {
      name: "petstore_route_request_duration_seconds",
      type: "summary",
      help: "Time from a request's head to the end of its answer, by operation.",
      samples: all.flatMap(([route, { count, seconds }]) => [
        { suffix: "_sum" as const, labels: { route }, value: seconds },
        { suffix: "_count" as const, labels: { route }, value: count },
      ]),
    },
  ];
}
