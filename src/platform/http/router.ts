import findMyWay from "find-my-way";
import { andThen, type Awaitable } from "../db/database.ts";
import { invalidAt, Problem } from "../problem.ts";
import { send, sendAnswer } from "./answers.ts";
import { parseJson, receiveBody, requireBodyWithin, type ReserveBytes } from "./bodies.ts";
import { addHeader, type Destination, type Exchange, type HostRule, type Route, type Surface } from "./exchange.ts";
import { requireAccepted, requireMediaType } from "./negotiation.ts";
import { anyFile } from "./pictures.ts";
import type { Runnable } from "./run.ts";
import { hasEmptyParameter, notFound } from "./validation.ts";

/** The longest parameter of a path: as long as a request line may be. */
const parameterLengthMax = 16_384;
/** The one method that paths are registered and looked up under, whatever the method of the request. */
const anyMethod = "GET";

/** The routes of a path by method, and the one for its other methods. */
type Place = { template: string; byMethod: Map<string, Route>; others: Route };

export type Router = {
  /** Adds the routes of the paths that match `pattern`, such as `/pets/:petId`; `others` answers other methods. */
  add(pattern: string, byMethod: Map<string, Route>, others?: Route): void;
  /** Finds where a request leads. `url` begins with `/`. */
  find(method: string, url: string): Destination;
};

/**
 * Opens a router. A path below the prefix of a surface belongs to the surface, whether or not it has a route. The paths are not compiled:
 * that would delay the first request by 70 ms, and save 0.1 µs on each later one.
 */
export function openRouter(surfaces: readonly Surface[]): Router {
  const router = findMyWay({
    caseSensitive: true,
    ignoreTrailingSlash: false,
    maxParamLength: parameterLengthMax,
    querystringParser: (text) => ({ text }), // parsed after the checks that come first
    onBadUrl: () => undefined,
  });
  const surfaceOf = (url: string): Surface | undefined =>
    surfaces.find(({ prefix }) => firstSegments(url, prefix.split("/").length) === prefix);

  return {
    add(pattern, byMethod, others = noRoute) {
      router.on(anyMethod, pattern, () => undefined, { template: templateOf(pattern), byMethod, others } satisfies Place);
    },
    find(method, url) {
      const found = router.find(anyMethod, url);
      if (found === null) return { url, query: "", params: {}, route: noRoute, template: undefined, surface: surfaceOf(url) };
      const place = found.store as Place | null;
      if (place === null) return { url, query: "", params: {}, route: badUrl, template: undefined, surface: surfaceOf(url) };
      const { template, byMethod, others } = place;
      const route = byMethod.get(method) ?? (method === "HEAD" ? byMethod.get("GET") : undefined) ?? others;
      const { text: query = "" } = found.searchParams;
      return { url, query, params: found.params as Record<string, string>, route, template, surface: route.surface };
    },
  };
}

/** A pattern as descriptions write it: `/pets/{petId}` for `/pets/:petId`. */
function templateOf(pattern: string): string {
  return pattern.replaceAll(/\/:(\w+)[^/]*/g, "/{$1}");
}

/** A route that only refuses. */
function refusing(problem: (exchange: Exchange) => Problem | undefined, serve: Route["serve"] = () => undefined): Route {
  return { name: "none", operationId: undefined, isOpen: false, surface: undefined, hosts: "any", isProbe: false, problem, serve };
}

const noRoute = refusing(notFound);
const badUrl = refusing(() => invalidAt("path", "must be a valid URL path"));

/**
 * The route for the methods that a path of a surface does not have. It refuses them, except for OPTIONS.
 *
 * @param serve answers OPTIONS
 */
export function otherMethods(surface: Surface, allow: string, serve: Route["serve"]): Route {
  const problem = (exchange: Exchange): Problem | undefined => {
    const { method, params } = exchange;
    if (method === "OPTIONS") return undefined;
    if (hasEmptyParameter(params)) return notFound();
    addHeader(exchange, "Allow", allow);
    return new Problem("method_not_allowed", `${method} is not a method of this path. It has ${allow}.`);
  };
  return { ...refusing(problem, serve), surface, hosts: surface.hosts };
}

/** Adds a route outside the API and the dashboard's calls, for GET and HEAD. `hosts` defaults to `public`. */
export function addPage(
  router: Pick<Router, "add">,
  pattern: string,
  options: { hosts?: HostRule; isProbe?: boolean },
  serve: Route["serve"],
): void {
  const page = { name: "pages", operationId: undefined, isOpen: true, surface: undefined, hosts: "public", isProbe: false } as const;
  router.add(pattern, new Map([["GET", { ...page, ...options, problem: undefined, serve }]]));
}

/** The first `count` segments of a path, decoded if possible. The empty one before the first slash counts. */
function firstSegments(url: string, count: number): string {
  const segments = url.split(/[?#]/, 1)[0]?.split("/", count) ?? [];
  return segments.map(decoded).join("/");
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/**
 * Adds a route below a surface for each operation, and a 405 for each method that a path does not have. Refusals come in the order of
 * specification 1.9; the gate has made those that come before them (address, key, limits).
 */
export function addOperations(router: Pick<Router, "add">, surface: Surface, operations: Iterable<Runnable>, requests: ReserveBytes): void {
  for (const [path, own] of Map.groupBy(operations, ({ operation }) => operation.path)) {
    const byMethod = new Map(own.map((one) => [one.operation.method as string, routeOf(one, surface, requests)]));
    const allow = [...byMethod.keys(), ...(byMethod.has("GET") ? ["HEAD"] : []), "OPTIONS"].toSorted().join(", ");
    const others = otherMethods(surface, allow, (exchange) => {
      addHeader(exchange, "Allow", allow);
      send(exchange, 204);
    });
    router.add(routePattern(surface.prefix, path), byMethod, others);
  }
}

function routeOf(runnable: Runnable, surface: Surface, requests: ReserveBytes): Route {
  const { operation, run } = runnable;
  const { operationId } = operation;
  const receive = receiverOf(runnable, requests);
  return {
    name: operationId,
    operationId,
    isOpen: operation.scope === null,
    surface,
    hosts: surface.hosts,
    isProbe: false,
    problem: undefined,
    serve: (exchange) =>
      andThen(
        run(exchange, () => receive(exchange)),
        (answer) => sendAnswer(exchange, answer),
      ),
  };
}

/** Returns the function that checks the form of a request to an operation, and reads its JSON body if the operation has one. */
function receiverOf({ operation, bytesMax }: Runnable, requests: ReserveBytes): (exchange: Exchange) => Awaitable<unknown> {
  const { upload, body, mediaTypes = ["application/json"], answers } = operation;
  const answersWith = answers[200]?.mediaType;
  return (exchange) => {
    const { headers } = exchange;
    requireAccepted(headers.accept, answersWith);
    if (upload) {
      requireBodyWithin(headers, bytesMax);
      requireMediaType([...upload.mediaTypes, anyFile], headers);
    }
    return body && receiveBody(exchange, requests, mediaTypes, bytesMax).then(parseJson);
  };
}

function routePattern(base: string, path: string): string {
  return (base + path).replaceAll(/\{(\w+)\}/g, ":$1");
}
