import { once } from "node:events";
import { Agent, request, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readEvents } from "../../src/events/log/events.store.ts";
import { messageOf, newWebhookSecret, signedHeaders, type Message } from "../../src/events/webhooks/message.ts";
import { openSender, type Sender } from "../../src/events/webhooks/sender.ts";
import { fill, healthOf, positionToSave, startAttempts, type DeliveryContext, type Session } from "../../src/events/webhooks/session.ts";
import { listWebhooks, saveProgress, type StoredWebhook } from "../../src/events/webhooks/webhooks.store.ts";
import { openBounds } from "../../src/platform/bounds.ts";
import { systemClock } from "../../src/platform/clock.ts";
import type { Database } from "../../src/platform/db/database.ts";
import { coalesced } from "../../src/platform/jobs/runs.ts";
import { firstLine, spawnServer, stop } from "../processes.ts";
import type { OwnService } from "./service.ts";
import { asParts, cpuUsEach, type Measure, type Whole } from "./whole.ts";

/** The events of a round, and how many of them are on their way at once, as the service sends them to one endpoint. */
const events = 1_000;
const concurrency = 8;
const pollMs = 25;
/** How often (ms) a session looks whether it may go on, as in the delivery worker. */
const tickMs = 200;
const waitMsMax = 60_000;

/** The budget of a webhook, from its event in the log to the saved result of its POST. */
export async function webhookWhole(service: OwnService): Promise<Whole> {
  const receiver = await openReceiver();
  for (let sent = 0; sent < events; sent += concurrency) await Promise.all(Array.from({ length: concurrency }, () => placeOrder(service)));
  const create = async (): Promise<number> => {
    const answer = await service.ask("POST", "/webhooks", { url: receiver.url, types: ["order.created"] });
    return ((await answer.json()) as { id: number }).id;
  };
  const [id, ownId] = [await create(), await create()];
  const disabled = await service.ask("PATCH", `/webhooks/${ownId}`, { enabled: false });
  if (disabled.status !== 200) throw new Error(await disabled.text());
  const { accountId } = service.folder;
  const stored = await leased(service.db, accountId, ownId);
  const read = await readEvents(service.db, accountId, { after: 0, limit: 50, types: ["order.created"] });
  const messages = Array.from({ length: events }, (_, i) => messageOf(read[i % read.length]!)).map((message, i) => ({
    ...message,
    messageId: `${message.messageId}-${i}`,
  }));
  const [sender, agent] = [
    openSender({ privateAddresses: true, resolve: async (host) => [host] }),
    new Agent({ keepAlive: true, maxSockets: concurrency }),
  ];
  const session =
    (stage: SessionStage): Measure =>
    async () =>
      (await cpuUsEach(1, () => runSession({ service, stored, sender, messages }, stage))) / events;
  const secret = newWebhookSecret();
  return {
    name: "webhook, from the event in the log to its saved delivery",
    us: async () => (await cpuUsEach(1, () => replayAll(service, id, receiver))) / events,
    steps: [
      {
        what: "bare `node:http` request of the same bytes, on kept connections",
        us: () => each(messages, (message) => sendBare(agent, receiver.url, message)),
      },
      {
        what: "the sender: addresses, time-outs, the answer's bounds",
        us: () => each(messages, (message) => sendOne(sender, receiver.url, message, accountId)),
      },
      { what: "attempts: turns of accounts, signature, result", us: session("attempts") },
      { what: "reading the events, and their messages", us: session("reading") },
      { what: "saving the deliveries, and the commit", us: session("saving") },
    ],
    parts: asParts([
      { what: "the signature", us: () => cpuUsEach(events, () => signedHeaders(messages[0]!, Date.now(), [secret])) },
      { what: "a message of an event", us: () => cpuUsEach(events, () => messageOf(read[0]!)) },
    ]),
    rounds: 24,
    async close() {
      sender.close();
      agent.destroy();
      await service.ask("DELETE", `/webhooks/${id}`);
      await receiver.close();
    },
  };
}

async function placeOrder({ ask }: OwnService): Promise<void> {
  const answer = await ask("POST", "/store/orders", { petId: 1, quantity: 1 });
  if (answer.status !== 201) throw new Error(await answer.text());
  await answer.arrayBuffer();
}

type Receiver = { url: string; received: () => Promise<number>; close: () => Promise<void> };

async function openReceiver(): Promise<Receiver> {
  const child = spawnServer([process.execPath, join(import.meta.dirname, "receiver.ts")], { stdio: ["ignore", "pipe", "inherit", "ipc"] });
  const url = await firstLine(child);
  return {
    url,
    async received() {
      child.send("how many");
      const [count] = (await once(child, "message")) as [number];
      return count;
    },
    close: () => stop(child),
  };
}

/** Has the service send all events once more, and waits until they have arrived. */
async function replayAll({ ask }: OwnService, id: number, receiver: Receiver): Promise<void> {
  const before = await receiver.received();
  const answer = await ask("POST", `/webhooks/${id}/replay`, { after: 0 });
  if (answer.status !== 200) throw new Error(await answer.text());
  for (const until = Date.now() + waitMsMax; (await receiver.received()) < before + events; await sleep(pollMs))
    if (Date.now() > until) throw new Error("the messages did not arrive");
}

/** The CPU (µs) of sending each message, several at once. */
async function each(messages: readonly Message[], send: (message: Message) => Promise<unknown>): Promise<number> {
  const entries = messages.values(); // shared by all workers
  const worker = async (): Promise<void> => {
    for (const message of entries) await send(message);
  };
  return (await cpuUsEach(1, () => Promise.all(Array.from({ length: concurrency }, worker)))) / messages.length;
}

const signed = {
  "webhook-id": "evt_0123456789abcdef0123456789abcdef",
  "webhook-timestamp": "1700000000",
  "webhook-signature": `v1,${"A".repeat(44)}`,
};
const headers = { "content-type": "application/json", "user-agent": "petstore-webhooks", ...signed };

async function sendBare(agent: Agent, url: string, { text }: Message): Promise<void> {
  const asked = request(url, { method: "POST", headers: { ...headers, "content-length": Buffer.byteLength(text) }, agent });
  asked.end(text);
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  answer.resume();
  await once(answer, "end");
}

function sendOne(sender: Sender, url: string, { text }: Message, accountId: number): Promise<unknown> {
  return sender.send({ url: new URL(url), headers, body: text, accountId });
}

const leaseId = "bench";

/** Leases an endpoint for the sessions here. It is disabled, so that the service leaves it alone. */
async function leased(db: Database, accountId: number, id: number): Promise<StoredWebhook> {
  const [found] = await listWebhooks(db, accountId, id - 1, 1);
  const nothing = { deliveries: [], position: 0, health: healthOf(found!), recovered: false, trims: false, counts: false };
  const saved = await db.write((tx) => saveProgress(tx, found!, nothing, { lease: { until: 0, leaseId }, now: 0 }));
  return saved!.webhook;
}

/** How much of its work a session does. */
type SessionStage = "attempts" | "reading" | "saving";

type Sending = { service: OwnService; stored: StoredWebhook; sender: Sender; messages: readonly Message[] };

/** Sends all events by a session, as the delivery worker does. */
async function runSession({ service, stored, sender, messages }: Sending, stage: SessionStage): Promise<void> {
  const { db } = service;
  const bounds = openBounds();
  let done = 0;
  const ended = Promise.withResolvers<void>();
  const context: DeliveryContext = {
    db,
    clock: systemClock,
    leases: { begin: async () => undefined, isHeld: () => true },
    keys: undefined as never, // the secrets of a session are open
    sender,
    places: bounds.queue("deliveries"),
    failingPlaces: bounds.queue("failing_deliveries"),
    onAttempt: () => {
      done += 1;
      if (done === events) ended.resolve();
    },
    onError: ended.reject,
  };
  const lease = { until: Infinity, leaseId };
  const save = async (): Promise<void> => {
    const progress = { deliveries: session.unsaved.splice(0), position: positionToSave(session), health: session.health };
    if (stage !== "saving") return;
    const state = { recovered: false, trims: false, counts: false };
    const now = Date.now();
    const saved = await db.write((tx) => saveProgress(tx, stored, { ...progress, ...state }, { lease: { until: now, leaseId }, now }));
    if (!saved) throw new Error("the results were not saved");
  };
  const send = async (): Promise<void> => {
    await fill(context, session);
    startAttempts(context, session);
  };
  const session: Session = {
    ...sessionOf(stored),
    lease,
    queue: stage === "attempts" ? [...messages] : [],
    hasNew: stage !== "attempts",
    sending: coalesced(() => send().catch(() => undefined)), // the next tick tries again
    saving: coalesced(() => save().catch(ended.reject)),
  };
  void session.sending.run();
  const ticks = setInterval(() => void session.sending.run(), tickMs);
  await ended.promise;
  clearInterval(ticks);
  await session.saving.run();
}

/** The state of a session that begins with the first event. */
function sessionOf(stored: StoredWebhook): Omit<Session, "lease" | "queue" | "hasNew" | "sending" | "saving"> {
  return {
    webhook: { ...stored, position: 0, enabled: true },
    url: new URL(stored.url),
    secrets: { current: newWebhookSecret(), previous: undefined, previousUntil: 0 },
    health: healthOf(stored),
    recovered: false,
    concurrency,
    cursor: 0,
    readTo: 0,
    retries: [],
    waiting: 0,
    dueAt: null,
    attempts: new Map(),
    unsaved: [],
    untrimmed: 0,
    busyUntil: 0,
    isStale: false,
    isEnded: false,
    activeAt: 0,
    stop: new AbortController(),
  };
}
