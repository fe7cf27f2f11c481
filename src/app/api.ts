import type { BlockList } from "node:net";
import { setTimeout } from "node:timers/promises";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import sql from "sql-template-tag";
import { stringify } from "yaml";
import { addMetrics, type MetricsOptions } from "./metrics.ts";
import type { Clock, NowRange } from "../platform/clock.ts";
import type { ConnectionGuard } from "../platform/connections.ts";
import type { Database } from "../platform/db/database.ts";
import { addPages, openApp } from "../platform/http/app.ts";
import type { Gate } from "../platform/http/caller.ts";
import type { Description } from "../platform/http/description.ts";
import { apiSurface, dashboardPrefix, dashboardSurface } from "../platform/http/api-surfaces.ts";
import type { OwnHosts } from "../platform/http/hosts.ts";
import type { RequestBounds } from "../platform/http/request-bounds.ts";
import { addOperations } from "../platform/http/routes.ts";
import { openStaticText, sendStaticFile, type StaticFile } from "../platform/http/static-files.ts";
import { countTraffic } from "../platform/http/traffic.ts";
import { apiOperations, dashboardOperations, descriptionOf, sunsetsOf, type ApiServices, type DashboardServices } from "./operations.ts";
import { addSecurityText } from "./security-text.ts";
import { addWeb, sendPage, type Web } from "./web.ts";

/** How long a readiness probe waits for the database. */
const probeMs = 1_000;

/** What the dashboard calls: every operation of the API, and those that only it calls. */
export type Dashboard = { gate: Gate; services: DashboardServices };

export type ApiOptions = MetricsOptions & {
  securityContact: string[];
  db: Database;
  clock: Clock;
  nowRange: () => NowRange;
  gate: Gate;
  dashboard: Dashboard;
  /** What the operations of the API need. */
  services: ApiServices;
  log: Logger;
  getPetSunset: number;
  trustedProxies: BlockList;
  connections: ConnectionGuard;
  hosts: OwnHosts;
  requests: RequestBounds;
  /** The web application, if it has been built. */
  web?: Web | undefined;
  /** Whether the service takes requests: false while it stops. */
  ready: () => boolean;
};

/** Builds the HTTP side of the service: the conventions, the operations, the description, the probes, the web application. */
export function openApi(options: ApiOptions): FastifyInstance {
  const { db, clock, nowRange, gate, dashboard, services, log } = options;
  const { trustedProxies, connections, requests, bounds, hosts, securityContact, web, ready } = options;
  const traffic = countTraffic();
  const surfaces = [apiSurface(gate), dashboardSurface(dashboard.gate)] as const;
  const notFoundPage = web && ((request: FastifyRequest, reply: FastifyReply) => sendPage(request, reply.code(404), web));
  const { onAnswered } = traffic;
  const app = openApp({ surfaces, log, trustedProxies, connections, requests, bounds, hosts, onAnswered, notFoundPage });
  const runtime = { db, clock, nowRange, requests, services, sunsets: sunsetsOf(options) };
  addOperations(app, apiOperations, runtime);
  const onDashboard = { ...runtime, services: { ...dashboard.services, ...services } };
  addOperations(app, [...apiOperations, ...dashboardOperations], onDashboard, dashboardPrefix);
  addPages(app, (pages) => {
    addDescription(pages, descriptionOf(options));
    addProbes(pages, db, ready);
    addMetrics(pages, { ...options, traffic });
    addSecurityText(pages, { clock, securityContact, publicUrl: hosts.publicUrl });
    if (web) addWeb(pages, web);
  });
  return app;
}

/** For routes whose answers are the same for everyone. */
const anyHost = { config: { hosts: "any" } } as const;

function addDescription(app: FastifyInstance, description: Description): void {
  const json = openStaticText("application/json; charset=utf-8", JSON.stringify(description, undefined, 2));
  // Written at the first request: it would take a third of the time of each start, and few ask for it.
  let yaml: StaticFile | undefined;
  const open = { "access-control-allow-origin": "*", "cache-control": "no-cache" };
  app.get("/openapi.json", anyHost, (request, reply) => sendStaticFile(request, reply.headers(open), json));
  app.get("/openapi.yaml", anyHost, (request, reply) => {
    yaml ??= openStaticText("application/yaml; charset=utf-8", stringify(description));
    return sendStaticFile(request, reply.headers(open), yaml);
  });
}

/** `/healthz`: the process runs. `/readyz`: it takes requests, and its database answers. */
function addProbes(app: FastifyInstance, db: Database, ready: () => boolean): void {
  app.get("/healthz", anyHost, (_request, reply) => reply.send({ status: "ok" }));
  app.get("/readyz", anyHost, async (_request, reply) => {
    const answers = ready() && (await answersQueries(db));
    return reply.code(answers ? 200 : 503).send({ status: answers ? "ready" : "unavailable" });
  });
}

/** Whether the database answers in time. Without a limit, a frozen database would delay the probe for longer than its caller waits. */
async function answersQueries(db: Database): Promise<boolean> {
  const answered = db.query(sql`SELECT 1`).then(
    () => true,
    () => false,
  );
  return Promise.race([answered, setTimeout(probeMs, false, { ref: false })]);
}
