import { createCache } from "../../platform/cache.ts";
import type { Clock } from "../../platform/clock.ts";
import { accessLine, quoted } from "../../platform/http/access-log.ts";
import type { HttpRequest } from "../../platform/http/exchange.ts";
import { traceIdOf } from "../../platform/http/request-ids.ts";
import { countClasses } from "../../platform/http/traffic.ts";
import { counter, openHistogram, type Metric } from "../../platform/metrics.ts";
import type { Log } from "./site.ts";

const protocols = ["http/1.1", "h2"] as const;

/** A request to a published site, and what became of its answer. */
export type Visit = HttpRequest & {
  readonly protocol: (typeof protocols)[number];
  /** Of the connection to this process: behind a proxy, `http` although the visitor used HTTPS. */
  readonly scheme: "http" | "https";
  /** The requested host name; undefined if the request has no valid one. */
  readonly host: string | undefined;
  /** The name that the TLS connection was made for; undefined on plain HTTP. */
  readonly secureHost: string | undefined;
  /** Whether a trusted proxy says that the visitor reached it over HTTPS. The proxy itself connects over HTTP. */
  readonly cameByHttps: boolean;
  /** Whose turns the request takes: its site's, and of these its visitor's, by address. */
  readonly site: string;
  readonly turn: string;
  /** The visitor's address. */
  readonly address: string;
  /** Receives the form that the request sends; undefined if it sends none that a site may take. */
  form: (() => Promise<string>) | undefined;
  /** Whether a site has its host name. */
  isKnown: boolean;
  /** Bytes of the body that were sent. */
  bytes: number;
  /** Whether the visitor closed the connection before the whole answer was sent. */
  isCut: boolean;
};

/** Called with each visit that was answered, and the time since the request's head in ms. */
export type OnVisit = (visit: Visit, ms: number) => void;

/** Writes a line of the access log for each visit. */
export function openAccessLog(clock: Clock, add: (line: string) => void): OnVisit {
  return (visit, ms) => {
    const { host, bytes, protocol, traceparent, isCut } = visit;
    const named = host === undefined ? "null" : quoted(host);
    const trace = traceparent === undefined ? "" : `,"traceId":"${traceIdOf(traceparent)}"`;
    const more = `,"host":${named},"bytes":${bytes},"protocol":"${protocol}"${trace}${isCut ? ',"cut":true' : ""}`;
    add(accessLine(visit, { now: clock(), ms, more }));
  };
}

const kinds = ["platform", "custom", "unknown"] as const;
const boundsSeconds = [0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.1, 1, 10];

export type EdgeTraffic = { onVisit: OnVisit; metrics: () => Metric[] };

/** Counts visits by kind of host (never by its name), protocol and class of status. `unknown` stands for a host without a site. */
export function countVisits(platformDomain: string): EdgeTraffic {
  const counts = kinds.map(() => protocols.map(() => countClasses()));
  const durations = openHistogram(boundsSeconds);
  const suffix = `.${platformDomain}`;
  let bytesSent = 0;
  let cut = 0;

  return {
    onVisit({ host = "", isKnown, protocol, status, bytes, isCut }, ms) {
      const kind = isKnown ? (host.endsWith(suffix) ? 0 : 1) : 2;
      counts[kind]![protocol === "h2" ? 1 : 0]!.add(status);
      durations.observe(ms / 1_000);
      bytesSent += bytes;
      if (isCut) cut += 1;
    },
    metrics: () => [
      {
        name: "petstore_edge_requests_total",
        type: "counter",
        help: "Requests to published sites that were answered, by kind of host name, protocol and class of status.",
        samples: kinds.flatMap((host, i) => protocols.flatMap((protocol, j) => counts[i]![j]!.samples({ host, protocol }))),
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

const logEveryMs = 60_000;
const sitesMax = 10_000;

/** Notes a refused visit. `cause`: an error behind the refusal. */
export type OnRefused = (visit: Visit, cause?: unknown) => void;

/** Logs refused visits: at most one line a minute for a site, with the number of those since its last line. */
export function openRefusalLog(log: Log, clock: Clock): OnRefused {
  const lines = createCache<string, { at: number; since: number }>(sitesMax);
  return ({ site, host }, cause) => {
    const last = lines.get(site);
    const now = clock();
    if (last !== undefined && Math.abs(now - last.at) < logEveryMs) return void (last.since += 1);
    lines.set(site, { at: now, since: 0 });
    const refused = (last?.since ?? 0) + 1;
    log.warn({ host, refused, ...(cause !== undefined && { err: cause }) }, "requests to a site were refused, because too much waits");
  };
}
