import { closeSync, openSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { type ApiServices, apiOperations, sunsetsOf } from "../../src/app/operations.ts";
import { openService, type Service } from "../../src/app/service.ts";
import { loadSettings, type Settings } from "../../src/app/settings.ts";
import { openNowRange, systemClock, systemTimer } from "../../src/platform/clock.ts";
import type { Database } from "../../src/platform/db/database.ts";
import { prefix } from "../../src/platform/http/api-surfaces.ts";
import { type Exchange, openExchange } from "../../src/platform/http/exchange.ts";
import { openOperations, type Runnable } from "../../src/platform/http/run.ts";
import { fileOutput, openLog, type OpenLog } from "../../src/platform/log.ts";
import { fillWithAnimals, makeFolder, type ShopFolder } from "../shop.ts";
import { connectInMemory } from "./memory-connection.ts";

const env = { WEBHOOK_PRIVATE_ADDRESSES: "on", DNS_SERVERS: "127.0.0.1:9", PORT: "0", EDGE_HTTP_PORT: "0", EDGE_HTTPS_PORT: "0" };

/** A shop, and the service for it in this process. */
export type OwnService = Service & {
  folder: ShopFolder;
  settings: Settings;
  log: OpenLog["log"];
  /** Sends a request over a socket, in the name of the shop. */
  ask: (method: string, path: string, body?: object) => Promise<Response>;
  stop: () => Promise<void>;
};

/** Starts the service in this process, with its log in a file as under a supervisor. */
export async function openOwnService(animals: number): Promise<OwnService> {
  const folder = makeFolder();
  fillWithAnimals(folder, animals);
  const settings = loadSettings({ ...env, DATA_DIR: folder.dataDir });
  const file = openSync(join(folder.dataDir, "log"), "a");
  const { log, close } = openLog("info", "json", fileOutput(file));
  const service = await openService(settings, { clock: systemClock, log });
  await service.ready;
  const stop = async (): Promise<void> => {
    await service.close();
    close();
    closeSync(file);
    folder.remove();
  };
  const authorization = `Bearer ${folder.key}`;
  const ask: OwnService["ask"] = (method, path, body) => {
    const headers = { authorization, ...(body && { "content-type": "application/json" }) };
    return fetch(`${service.address}${prefix}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  };
  return { ...service, folder, settings, log, ask, stop };
}

/** The text of a request to the API. */
export function requestText({ folder }: OwnService, method: string, path: string, body?: object): string {
  const head = `${method} ${prefix}${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${folder.key}\r\n`;
  if (!body) return `${head}\r\n`;
  const text = JSON.stringify(body);
  return `${head}Content-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text}`;
}

/** Opens an operation of the API on a database. */
export function operationOn(db: Database, settings: Settings, operationId: string): Runnable {
  const runtime = {
    db,
    clock: systemClock,
    nowRange: openNowRange(systemClock, systemTimer),
    answersKeptMs: settings.answersKeptMs,
    onError: () => undefined,
    services: {} as ApiServices, // those that are measured need none
    sunsets: sunsetsOf(settings),
  };
  return openOperations(prefix, apiOperations, runtime).get(operationId)!;
}

/** Gives each read and each transaction the result of the first one, so that an operation costs only what it takes itself. */
export function withFirstResult(db: Database): Database {
  let first: { result: unknown } | undefined;
  return db.around((_operation, work) => {
    first ??= { result: work() };
    return first.result as ReturnType<typeof work>;
  });
}

/** The exchange of a request that the gate has admitted. Its connection stays open: nothing is written for a client that has gone. */
export async function exchangeOf({ app }: OwnService, method: string, path: string, text: string): Promise<Exchange> {
  const { promise, resolve } = Promise.withResolvers<Exchange>();
  const to = app.find(method, prefix + path);
  const server = createServer((request, response) => {
    resolve(openExchange({ trustedProxies: undefined, answered: () => undefined }, request, response, to));
    response.end();
  });
  await connectInMemory(server, 1).ask([text]);
  const exchange = await promise;
  await exchange.surface!.gate.authenticate(exchange);
  return exchange;
}
