import type { BlockList } from "node:net";
import { setTimeout } from "node:timers/promises";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import sql from "sql-template-tag";
import { stringify } from "yaml";
import type { Limiter } from "../callers/limits/limits.ts";
import { openMemoryLimiter } from "../callers/limits/memory.ts";
import { addMetrics, type MetricsOptions } from "./metrics.ts";
import { limitRoutes } from "../callers/limits/limits.routes.ts";
import { usageRoutes } from "../callers/usage/usage.routes.ts";
import type { Clock, NowRange } from "../platform/clock.ts";
import type { ConnectionGuard } from "../platform/connections.ts";
import type { Database } from "../platform/db/database.ts";
import { addPages, openApp } from "../platform/http/app.ts";
import type { Gate } from "../platform/http/caller.ts";
import { describe, type Description } from "../platform/http/description.ts";
import type { Operation } from "../platform/http/operation.ts";
import { dashboardPrefix } from "../platform/http/prefix.ts";
import { apiSurface, dashboardSurface } from "../platform/http/api-surfaces.ts";
import type { OwnHosts } from "../platform/http/hosts.ts";
import type { RequestBounds } from "../platform/http/request-bounds.ts";
import { addOperations } from "../platform/http/routes.ts";
import { openStaticText, sendStaticFile } from "../platform/http/static-files.ts";
import { describedOperations } from "./publishing.ts";
import { countTraffic } from "../platform/http/traffic.ts";
import { categoryRoutes } from "../store/categories/categories.routes.ts";
import { inventoryRoutes } from "../store/inventory/inventory.routes.ts";
import { orderRoutes } from "../store/orders/orders.routes.ts";
import { petRoutes } from "../store/pets/pets.routes.ts";
import errorExamples from "./error-examples.json" with { type: "json" };
import { addSecurityText } from "./security-text.ts";
import { addWeb, sendPage, type Web } from "./web.ts";

/** When GET /pets/{petId} was deprecated: it was so from the first release on. */
const getPetDeprecated = Date.UTC(2026, 0, 1);

/** What a readiness probe waits for the database. */
const probeMs = 1_000;

type OperationOptions = {
  getPetSunset: number;
  limiter: Pick<Limiter, "peekAccount" | "strikeStatus">;
  flushUsage: () => Promise<void>;
  publishing: Operation[];
};

/** The description of the API as a service with this setting serves it. */
export function descriptionOf(getPetSunset: number): Description {
  const limiter = openMemoryLimiter({ clock: () => 0, addressQuota: { perMinute: 0, perDay: 0 } });
  return describe(
    operationsOf({ getPetSunset, limiter, flushUsage: async () => undefined, publishing: describedOperations() }),
    errorExamples,
  );
}

/** Every operation of the API, in the order of the description. */
export function operationsOf(options: OperationOptions): Operation[] {
  return [
    ...petRoutes({ since: getPetDeprecated, sunset: options.getPetSunset }),
    ...categoryRoutes,
    ...orderRoutes,
    ...inventoryRoutes,
    ...limitRoutes(options.limiter),
    ...usageRoutes(options.flushUsage),
    ...options.publishing,
  ];
}

/** What signed-in people call: every operation of the API, and those about themselves and their account's access. */
export type Dashboard = { gate: Gate; operations: Operation[] };

export type ApiOptions = MetricsOptions & {
  securityContact: string[];
  db: Database;
  clock: Clock;
  nowRange: () => NowRange;
  gate: Gate;
  dashboard: Dashboard;
  limiter: Limiter;
  flushUsage: () => Promise<void>;
  log: Logger;
  getPetSunset: number;
  /** The operations of projects and domains. */
  publishing: Operation[];
  trustedProxies: BlockList;
  connections: ConnectionGuard;
  hosts: OwnHosts;
  requests: RequestBounds;
  /** The web application, where it has been built. */
  web?: Web | undefined;
  /** Whether the service takes requests: false while it stops. */
  ready: () => boolean;
};

/** Builds the HTTP side of the service: the conventions, the operations, the description, the probes, the web application. */
export function openApi(options: ApiOptions): FastifyInstance {
  const { db, clock, nowRange, gate, dashboard, log, trustedProxies, connections, requests, bounds, hosts, securityContact, web, ready } =
    options;
  const traffic = countTraffic();
  const realms = [apiSurface(gate), dashboardSurface(dashboard.gate)] as const;
  const notFoundPage = web && ((request: FastifyRequest, reply: FastifyReply) => sendPage(request, reply.code(404), web));
  const { onAnswered } = traffic;
  const app = openApp({ realms, log, trustedProxies, connections, requests, bounds, hosts, onAnswered, notFoundPage });
  const operations = operationsOf(options);
  addOperations(app, operations, { db, clock, nowRange, requests });
  addOperations(app, [...operations, ...dashboard.operations], { db, clock, nowRange, requests }, dashboardPrefix);
  addPages(app, (pages) => {
    addDescription(pages, describe(operations, errorExamples));
    addProbes(pages, db, ready);
    addMetrics(pages, { ...options, traffic });
    addSecurityText(pages, { clock, securityContact, publicUrl: hosts.publicUrl });
    if (web) addWeb(pages, web);
  });
  return app;
}

/** Routes whose answers are the same for everybody. */
const anyHost = { config: { hosts: "any" } } as const;

function addDescription(app: FastifyInstance, description: Description): void {
  const json = openStaticText("application/json; charset=utf-8", JSON.stringify(description, undefined, 2));
  const yaml = openStaticText("application/yaml; charset=utf-8", stringify(description));
  const open = { "access-control-allow-origin": "*", "cache-control": "no-cache" };
  app.get("/openapi.json", anyHost, (request, reply) => sendStaticFile(request, reply.headers(open), json));
  app.get("/openapi.yaml", anyHost, (request, reply) => sendStaticFile(request, reply.headers(open), yaml));
}

/** `/healthz`: the process answers. `/readyz`: it takes requests and its store answers. */
function addProbes(app: FastifyInstance, db: Database, ready: () => boolean): void {
  app.get("/healthz", anyHost, (_request, reply) => reply.send({ status: "ok" }));
  app.get("/readyz", anyHost, async (_request, reply) => {
    const answers = ready() && (await answersQueries(db));
    return reply.code(answers ? 200 : 503).send({ status: answers ? "ready" : "unavailable" });
  });
}

/** Whether the database answers in time: a frozen database would hold the probe up for longer than its caller waits. */
async function answersQueries(db: Database): Promise<boolean> {
  const answered = db.query(sql`SELECT 1`).then(
    () => true,
    () => false,
  );
  return Promise.race([answered, setTimeout(probeMs, false, { ref: false })]);
}
