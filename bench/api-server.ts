/**
 * Serves only the API, in a separate process, with its limits or, for `LIMITS=off`, with a limiter that accepts every request. The
 * difference is the cost of limits. Prints its address and a key.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { BlockList } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { openApi } from "../src/app/api.ts";
import { countRefusals } from "../src/app/metrics.ts";
import type { ApiServices, DashboardServices } from "../src/app/operations.ts";
import { loadSettings } from "../src/app/settings.ts";
import { openStorage } from "../src/app/storage.ts";
import { insertAccount } from "../src/callers/accounts/accounts.store.ts";
import { quotaMax } from "../src/callers/accounts/accounts.ts";
import { openGate } from "../src/callers/gate.ts";
import { insertKey } from "../src/callers/keys/keys.store.ts";
import { makeKey, scopes } from "../src/callers/keys/keys.ts";
import { openKeyVerifier } from "../src/callers/keys/verify.ts";
import { openMemoryLimiter, type MemoryLimiter } from "../src/callers/limits/memory.ts";
import { openRequestLog } from "../src/callers/usage/request-recorder.ts";
import { openBounds } from "../src/platform/bounds.ts";
import { openNowRange, systemClock as clock, systemTimer } from "../src/platform/clock.ts";
import { connectionLimits, guardConnections } from "../src/platform/connections.ts";
import { boundRequests, requestLimits } from "../src/platform/http/request-bounds.ts";
import { originAt } from "../src/platform/listening.ts";

const dataDir = mkdtempSync(join(tmpdir(), "shop-"));
process.on("exit", () => rmSync(dataDir, { recursive: true, force: true }));
process.on("SIGTERM", () => process.exit());

const storage = await openStorage({ dataDir, databaseUrl: "" }, "bench", 0, { clock, onError: console.error, onAway: console.error });
await storage.ready;
const { db } = storage;
const plenty = { perMinute: quotaMax, perDay: quotaMax };
const key = makeKey(false);
await db.write(async (tx) => {
  const account = await insertAccount(tx, "Bench", { plan: "enterprise", ...plenty }, clock());
  await insertKey(tx, key, { accountId: account.id, publishable: false, scopes, expiresAt: null }, clock());
});

const memory = openMemoryLimiter({ clock, addressQuota: plenty });
const limiter = process.env["LIMITS"] === "off" ? withoutLimits(memory) : memory;
const verifier = openKeyVerifier(db, clock);
const usage = { record: () => undefined, takeBack: () => undefined, flush: async () => undefined };
const requestLog = process.env["REQUEST_LOG"] === "off" ? { record: () => undefined } : loggingEveryFewSeconds();
const refusals = countRefusals();
const trustedProxies = new BlockList();
const bounds = openBounds();
const gate = openGate({ verifier, limiter, usage, onRefused: refusals.count, onLimited: () => undefined });
const log = pino({ level: "silent" });
const app = openApi(
  { db, clock, log, bounds, settings: loadSettings({}), tracing: undefined },
  {
    nowRange: openNowRange(clock, systemTimer),
    gate,
    // the measurement calls only operations of the store, which need no services
    dashboard: { gate, services: {} as DashboardServices },
    services: {} as ApiServices,
    limiter,
    sources: [],
    health: { refusal: async () => undefined, warnings: () => [], faults: () => [] },
    requestLog,
    requests: boundRequests(requestLimits, bounds),
    connections: guardConnections({ limits: connectionLimits, exempt: trustedProxies, bounds, listener: "api" }),
    trustedProxies,
    metricsFrom: trustedProxies,
    ready: () => true,
  },
);
const { address } = await app.listen({ setting: "PORT", port: 0, host: "127.0.0.1" });
console.log(JSON.stringify({ url: `${originAt(address)}/v1`, key }));

/** The log of requests, written as often as in the service. */
function loggingEveryFewSeconds() {
  const requests = openRequestLog({ db, clock });
  setInterval(() => void requests.flush(), 5_000).unref();
  return requests;
}

/** Makes a single decision and returns it for every request. */
function withoutLimits(one: MemoryLimiter): MemoryLimiter {
  const decision = one.peekAccount(0, plenty);
  return { ...one, account: () => decision };
}
