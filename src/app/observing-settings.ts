import type { LogFormat } from "../platform/log.ts";
import { attempt, integer } from "../platform/parse.ts";
import { httpUrl, onOff, setting } from "./setting.ts";

const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;

/** The settings of logs and traces. */
export const observingSettings = {
  logLevel: setting({
    name: "LOG_LEVEL",
    fallback: "info",
    parse: (text) => logLevels.find((level) => level === text),
    allowed: `one of ${logLevels.join(", ")}`,
    meaning: "The least severe lines that are logged",
    reloads: true,
  }),
  logFormat: setting({
    name: "LOG_FORMAT",
    fallback: "auto",
    parse: (text) => (["auto", "json", "text"] as const).find((format) => format === text),
    allowed: "auto, json or text",
    meaning: "How lines are logged: as JSON, or as text for people; auto takes text on a terminal and JSON elsewhere",
  }),
  edgeAccessLog: onOff("EDGE_ACCESS_LOG", "on", "Whether each visit to a published site is logged, at the level info"),
  otlpEndpoint: httpUrl(
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OpenTelemetry collector that gets a span of each request, as OTLP/HTTP with JSON at its /v1/traces; without it no spans are sent",
  ),
  otlpHeaders: setting({
    name: "OTEL_EXPORTER_OTLP_HEADERS",
    fallback: "",
    parse: headersOf,
    allowed: "name=value pairs, separated by commas",
    meaning: "Headers that the collector requires",
    secret: true,
  }),
  otlpTimeoutMs: setting({
    name: "OTEL_EXPORTER_OTLP_TIMEOUT",
    fallback: "10000",
    parse: integer(1, 60_000),
    allowed: "ms from 1 to 60000",
    meaning: "How long the collector may take to answer",
  }),
  otlpDelayMs: setting({
    name: "OTEL_BSP_SCHEDULE_DELAY",
    fallback: "5000",
    parse: integer(10, 60_000),
    allowed: "ms from 10 to 60000",
    meaning: "How often spans are sent",
  }),
  otlpServiceName: setting({
    name: "OTEL_SERVICE_NAME",
    fallback: "petstore",
    parse: (text) => (/^[\w .-]{1,100}$/.test(text) ? text : undefined),
    allowed: "up to 100 letters, numbers, spaces, dots and dashes",
    meaning: "The name of this service in its spans",
  }),
};

/** Parses `name=value,…`, with values in percent-encoding. */
function headersOf(text: string): Record<string, string> | undefined {
  const pairs = text === "" ? [] : text.split(",").map((pair) => /^ *([\w-]+)=([\x21-\x7e]*) *$/.exec(pair));
  return attempt(() => Object.fromEntries(pairs.map((pair) => [pair![1]!.toLowerCase(), decodeURIComponent(pair![2]!)])));
}

/** By default, lines for people on a terminal and JSON elsewhere. */
export function logFormatOf({ logFormat }: { logFormat: "auto" | LogFormat }): LogFormat {
  if (logFormat === "auto") return process.stdout.isTTY ? "text" : "json";
  return logFormat;
}
