import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Delivery, Webhook } from "../../src/events/webhooks/webhooks.ts";
import { requireWhole, type LoggedEvent } from "./event-log.ts";
import { ask, type TestService } from "./service.ts";
import { made } from "./shop.ts";
import { until } from "./until.ts";

/** A message that an endpoint got. `at` is from a monotonic clock. */
export type Got = { headers: IncomingHttpHeaders; body: Sent; text: string; path: string; at: number };
export type Sent = {
  type: string;
  timestamp: string;
  position: number;
  id: string;
  requestId: string | null;
  data: Record<string, unknown>;
};

export type Receiver = {
  url: string;
  got: Got[];
  /** Answers each further message. Default: 204. */
  answer: (got: Got, response: ServerResponse) => void;
  close(): Promise<void>;
};

/** An endpoint on this machine, which keeps what it gets. */
export async function startReceiver(): Promise<Receiver> {
  const receiver: Receiver = { url: "", got: [], answer: (_, response) => response.writeHead(204).end(), close };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const text = Buffer.concat(chunks).toString();
      const got: Got = {
        headers: request.headers,
        body: JSON.parse(text) as Sent,
        text,
        path: request.url ?? "",
        at: performance.now(),
      };
      receiver.got.push(got);
      receiver.answer(got, response);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  async function close(): Promise<void> {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  }
  return receiver;
}

export type WithSecret = Webhook & { secret: string };

/** Makes an endpoint of an account. */
export function newWebhook(shop: TestService, body: Partial<Webhook>, key = shop.key): Promise<WithSecret> {
  return made<WithSecret>(shop, "POST", "/webhooks", body, key);
}

export async function webhookOf(shop: TestService, id: number, key = shop.key): Promise<Webhook> {
  return (await shop.ask<Webhook>("GET", `/webhooks/${id}`, { key })).body;
}

export async function deliveriesOf(shop: TestService, id: number, query = "", key = shop.key): Promise<Delivery[]> {
  return (await shop.ask<Delivery[]>("GET", `/webhooks/${id}/deliveries?limit=100${query}`, { key })).body;
}

/** Waits until so many deliveries of an endpoint have a status. */
export async function untilDeliveries(shop: TestService, id: number, status: Delivery["status"], count: number): Promise<Delivery[]> {
  let found: Delivery[] = [];
  await until(async () => (found = await deliveriesOf(shop, id, `&status=${status}`)).length >= count);
  return found;
}

/**
 * Reads the whole log as any client does and requires that nothing is missing, doubled or out of order: each position once, the chain of hashes,
 * one event for each acknowledged change, and that each receiver got every event of the type as the log has it.
 *
 * @param acknowledged the names of the categories whose creation was acknowledged
 */
export async function requireEveryEventSent(
  address: string,
  key: string,
  acknowledged: ReadonlySet<unknown>,
  receivers: Receiver[],
): Promise<void> {
  const log: LoggedEvent[] = [];
  for (let page: LoggedEvent[] | undefined; page?.length !== 0;) {
    const path = `/v1/events?limit=100&after=${log.at(-1)?.position ?? 0}`;
    page = (await ask<LoggedEvent[]>(`${address}${path}`, "GET", { key })).body;
    log.push(...page);
  }
  requireWhole(log);
  const events = log.filter(({ type }) => type === "category.created");
  const names = events.map(({ data }) => data["name"]);
  assert.equal(new Set(names).size, names.length, "no change has two events");
  assert.equal(new Set(log.map(({ id }) => id)).size, log.length, "no two events have one id");
  assert.ok(acknowledged.isSubsetOf(new Set(names)), "each acknowledged change has its event");
  for (const { got } of receivers) {
    const idsOf = () => new Set(got.map(({ body }) => body.id));
    await until(() => events.every(({ id }) => idsOf().has(id)));
    const sent = new Map(got.map(({ body }) => [body.id, body]));
    for (const event of events) assert.deepEqual(sent.get(event.id), { ...event, timestamp: event.at });
    for (const { headers, body } of got) assert.equal(headers["webhook-id"], body.id, "a receiver knows a message that comes again");
  }
}
