import type { Limiter } from "../callers/limits/limits.ts";
import { type HashCost, openPasswordHasher } from "../callers/members/passwords.ts";
import { passkeyCookie, pendingCookie, sessionCookie } from "../callers/members/sessions.ts";
import { openSignInThrottle } from "../callers/members/sign-in.ts";
import type { RequestLog } from "../callers/usage/request-recorder.ts";
import { dayMs, type NowRange } from "../platform/clock.ts";
import type { ConnectionGuard } from "../platform/connections.ts";
import { logUnexpected } from "../platform/http/admission.ts";
import { send, sendJson, sendText } from "../platform/http/answers.ts";
import { apiSurface, dashboardSurface, mcpPath, mcpSurface } from "../platform/http/api-surfaces.ts";
import { type App, openApp } from "../platform/http/app.ts";
import { addHeader, type Exchange, type Gate, headerLines, type Surface } from "../platform/http/exchange.ts";
import type { RequestBounds } from "../platform/http/request-bounds.ts";
import { addOperations, addPage, otherMethods } from "../platform/http/router.ts";
import { openOperations, type Runnable } from "../platform/http/run.ts";
import { openStaticText, sendStaticFile, type StaticFile } from "../platform/http/static-files.ts";
import { countTraffic, type OnAnswer } from "../platform/http/traffic.ts";
import { notFound } from "../platform/http/validation.ts";
import { gauge, type Metric } from "../platform/metrics.ts";
import type { AddressList } from "../platform/parse.ts";
import type { AppContext } from "./context.ts";
import type { Health } from "./health.ts";
import { addMetrics, type MetricsSource } from "./metrics.ts";
import { apiOperations, type ApiServices, dashboardOperations, type DashboardServices, sunsetsOf } from "./operations.ts";
import type { Settings } from "./settings.ts";
import { addDocuments, addWeb, openToAll, sendPage, type Web } from "./web.ts";

/** The dashboard's gate, and the services of the operations that only the dashboard calls. */
type Dashboard = { gate: Gate; services: DashboardServices };

type ApiOptions = {
  health: Pick<Health, "refusal" | "warnings" | "faults">;
  sources: MetricsSource[];
  /** The addresses that may read the metrics. Others get a 404. */
  metricsFrom: AddressList;
  nowRange: () => NowRange;
  gate: Gate;
  dashboard: Dashboard;
  services: ApiServices;
  limiter: Pick<Limiter, "address">;
  trustedProxies: AddressList | undefined;
  connections: ConnectionGuard;
  requests: RequestBounds;
  /** The web application, if it has been built. */
  web?: Web | undefined;
  requestLog: Pick<RequestLog, "record">;
  /** Whether the service takes requests: false while it stops. */
  ready: () => boolean;
};

/** Builds the HTTP side of the service: the conventions, the operations, the description, the probes, the web application. */
export function openApi(context: Pick<AppContext, "db" | "clock" | "log" | "bounds" | "settings" | "tracing">, options: ApiOptions): App {
  const { db, clock, log, settings, tracing } = context;
  const { nowRange, gate, dashboard, services, limiter, requests, requestLog, web, ready, health } = options;
  const { answersKeptMs } = settings;
  const traffic = countTraffic();
  const api = apiSurface(gate);
  const calls = dashboardSurface(dashboard.gate);
  const agents = mcpSurface(gate);
  const onAnswered: OnAnswer = (exchange, ms) => {
    traffic.onAnswered(exchange, ms);
    requestLog.record(exchange);
    tracing?.onAnswered(exchange, ms);
  };
  const notFoundPage = web && ((exchange: Exchange): void => sendPage(exchange, web, 404));
  const app = openApp({
    ...context,
    ...options,
    hosts: settings,
    surfaces: [api, calls, agents],
    onAnswered,
    notFoundPage,
    inSpan: tracing?.inSpan,
  });
  const onError = (exchange: Exchange, error: unknown): void => logUnexpected(log, exchange, error);
  const runtime = { db, clock, nowRange, answersKeptMs, onError, services, sunsets: sunsetsOf(settings) };
  const ofApi = openOperations(api.prefix, apiOperations, runtime);
  const onDashboard = { ...runtime, services: { ...dashboard.services, ...services } };
  const ofDashboard = openOperations(calls.prefix, [...apiOperations, ...dashboardOperations], onDashboard);
  addOperations(app, api, ofApi.values(), requests);
  addOperations(app, calls, ofDashboard.values(), requests);
  addMcp(app, agents, new Map([...ofDashboard, ...ofApi]), requests, settings.publicUrl);
  addDescription(app, settings);
  addDocuments(app, settings, web);
  // Loaded at the first visit, because few services create such links.
  addPage(app, "/dns-records/:token", {}, async (exchange) =>
    (await import("./dns-page.ts")).serveDnsPage(exchange, context, limiter, services.checks),
  );
  addProbes(app, { ready, health });
  addMetrics(app, [() => traffic.metrics(), () => readyMetric(options), ...options.sources], options.metricsFrom);
  addSecurityText(app, context);
  if (web) addWeb(app, web);
  return app;
}

/**
 * Loads the protocol at the first message: its package is large, and few services have agents as clients. People who enter the address into a
 * client often end it with a slash.
 */
function addMcp(app: App, surface: Surface, operations: ReadonlyMap<string, Runnable>, requests: RequestBounds, publicUrl: string): void {
  let serve: Promise<(exchange: Exchange) => Promise<void>> | undefined;
  const find: App["find"] = (...request) => app.find(...request);
  const open = async () => (await import("./mcp.ts")).openMcp({ requests, publicUrl, find, operations });
  const place = { name: "mcp", operationId: "mcp", isOpen: false, surface, hosts: surface.hosts, isProbe: false, problem: undefined };
  const post = { ...place, serve: async (exchange: Exchange) => (await (serve ??= open()))(exchange) };
  const allow = "OPTIONS, POST";
  const others = otherMethods(surface, allow, (exchange) => {
    addHeader(exchange, "Allow", allow);
    send(exchange, 204);
  });
  for (const path of [mcpPath, `${mcpPath}/`]) app.add(path, new Map([["POST", post]]), others);
}

/**
 * Makes each text at its first request: few clients ask for it, and making it would take a third of each start. It has the origin of PUBLIC_URL if
 * that is set, because clients that are generated from it then need no other address.
 */
function addDescription(app: Pick<App, "add">, settings: Pick<Settings, "getPetSunset" | "publicUrl" | "port">): void {
  const { publicUrl, port } = settings;
  const origin = publicUrl === `http://localhost:${port}` ? undefined : publicUrl;
  const texts = () => import("./description.ts");
  let json: Promise<StaticFile> | undefined;
  let yaml: Promise<StaticFile> | undefined;
  addPage(app, "/openapi.json", { hosts: "any" }, async (exchange) => {
    const { descriptionAsJson } = await texts();
    json ??= openStaticText("application/json; charset=utf-8", descriptionAsJson(settings, origin));
    sendStaticFile(exchange, await json, openToAll);
  });
  addPage(app, "/openapi.yaml", { hosts: "any" }, async (exchange) => {
    const { descriptionAsYaml } = await texts();
    yaml ??= openStaticText("application/yaml; charset=utf-8", descriptionAsYaml(settings, origin));
    sendStaticFile(exchange, await yaml, openToAll);
  });
}

async function readyMetric({ ready, health }: Pick<ApiOptions, "ready" | "health">): Promise<Metric[]> {
  const isReady = ready() && (await health.refusal()) === undefined;
  return [gauge("petstore_ready", "Whether /readyz is 200.", isReady ? 1 : 0)];
}

const probe = { hosts: "any", isProbe: true } as const;

/** `/healthz`: the process runs. `/readyz`: it takes requests, and its store takes writes; if not, the 503 says why in a few words. */
function addProbes(app: Pick<App, "add">, { ready, health }: Pick<ApiOptions, "ready" | "health">): void {
  addPage(app, "/healthz", probe, (exchange) => sendJson(exchange, 200, '{"status":"ok"}'));
  addPage(app, "/readyz", probe, async (exchange) => {
    const reason = ready() ? await health.refusal() : "the service is starting or stopping";
    const kinds = health.faults();
    const faults = kinds.length > 0 && { faults: kinds };
    if (reason !== undefined) return sendJson(exchange, 503, JSON.stringify({ status: "unavailable", reason, ...faults }));
    const warnings = health.warnings();
    sendJson(exchange, 200, JSON.stringify({ status: "ready", ...(warnings.length > 0 && { warnings }), ...faults }));
  });
}

const path = "/.well-known/security.txt";
/** How far in the future the `Expires` field is. RFC 9116, 2.5.5 recommends less than a year. */
const validMs = 180 * dayMs;

/** Adds `GET /.well-known/security.txt` (RFC 9116): where to report a weakness of this service. Without contacts the path is a 404. */
function addSecurityText(app: Pick<App, "add">, { clock, settings }: Pick<AppContext, "clock" | "settings">): void {
  const { securityContact, publicUrl } = settings;
  const caching = headerLines({ "Cache-Control": "max-age=86400" });
  addPage(app, path, { hosts: "any" }, (exchange) => {
    if (securityContact.length === 0) throw notFound();
    exchange.lines += caching;
    sendText(exchange, 200, securityText(clock(), securityContact, publicUrl), "text/plain; charset=utf-8");
  });
}

/** The text for URIs, the preferred one first. */
function securityText(now: number, contacts: readonly string[], publicUrl: string): string {
  const expires = new Date(now - (now % dayMs) + validMs).toISOString().replace(".000Z", "Z");
  const lines = [...contacts.map((uri) => `Contact: ${uri}`), `Expires: ${expires}`, "Preferred-Languages: en"];
  // RFC 9116, 2.5.2 allows only https here
  if (publicUrl.startsWith("https://")) lines.push(`Canonical: ${publicUrl}${path}`);
  return lines.map((line) => `${line}\n`).join("");
}

/**
 * Opens the services of the operations that only the dashboard calls, and its gate.
 *
 * @param hashCost what hashing a password costs. Default: what OWASP asks for
 * @param onSignedIn called after each sign-in. Must not reject
 */
export function openDashboard(
  { db, keys, bounds, settings }: Pick<AppContext, "db" | "keys" | "bounds" | "settings">,
  gate: Gate,
  hashCost: HashCost | undefined,
  onSignedIn: () => Promise<void>,
): Dashboard {
  const { publicUrl } = settings;
  const signIn = { db, hasher: openPasswordHasher(bounds.queue("passwords"), hashCost), throttle: openSignInThrottle(), secrets: keys };
  const cookies = { cookie: sessionCookie(publicUrl), pendingCookie: pendingCookie(publicUrl), passkeyCookie: passkeyCookie(publicUrl) };
  return { gate, services: { signIn, ...cookies, onSignedIn, publicUrl } };
}
