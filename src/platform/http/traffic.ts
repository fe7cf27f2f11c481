import { openHistogram, type Metric } from "../metrics.ts";
import type { Exchange } from "./exchange.ts";

const boundsSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];
const classes = ["1xx", "2xx", "3xx", "4xx", "5xx"];

/** Called with each answer, and the time since the request's head in ms. */
export type Answered = (exchange: Exchange, ms: number) => void;

export type Traffic = { onAnswered: Answered; metrics: () => Metric[] };

/** The answers of one route. */
type RouteCount = { byClass: number[]; seconds: number };

/** Counts answers by class of status and by duration, in all and for each route. */
export function countTraffic(): Traffic {
  const byClass = classes.map(() => 0);
  const durations = openHistogram(boundsSeconds);
  const routes = new Map<string, RouteCount>();

  const onAnswered: Answered = ({ status, route: { name } }, ms) => {
    const index = Math.floor(status / 100) - 1;
    byClass[index]! += 1;
    durations.observe(ms / 1_000);
    const route = countOf(routes, name);
    route.byClass[index]! += 1;
    route.seconds += ms / 1_000;
  };

  const metrics = (): Metric[] => [
    {
      name: "petstore_http_requests_total",
      type: "counter",
      help: "Requests that were answered, by class of status.",
      samples: classes.map((name, i) => ({ labels: { class: name }, value: byClass[i]! })),
    },
    durations.metric("petstore_http_request_duration_seconds", "Time from a request's head to the end of its answer."),
    ...routeMetrics(routes),
  ];
  return { onAnswered, metrics };
}

function countOf(routes: Map<string, RouteCount>, name: string): RouteCount {
  let route = routes.get(name);
  if (!route) routes.set(name, (route = { byClass: classes.map(() => 0), seconds: 0 }));
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
      samples: all.flatMap(([route, { byClass }]) =>
        byClass.flatMap((value, i) => (value > 0 ? [{ labels: { route, class: classes[i]! }, value }] : [])),
      ),
    },
    {
      name: "petstore_route_request_duration_seconds",
      type: "summary",
      help: "Time from a request's head to the end of its answer, by operation.",
      samples: all.flatMap(([route, { byClass, seconds }]) => [
        { suffix: "_sum" as const, labels: { route }, value: seconds },
        { suffix: "_count" as const, labels: { route }, value: byClass.reduce((sum, count) => sum + count, 0) },
      ]),
    },
  ];
}
