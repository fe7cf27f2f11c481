import { randomBytes } from "node:crypto";
import type { ShopEvent } from "../../client/events.ts";
import { systemClock } from "../platform/clock.ts";
import { eventTypes } from "../platform/event-types.ts";
import { formatDateTime } from "../platform/http/dates.ts";
import { Problem } from "../platform/problem.ts";
import { answered } from "./calls.ts";
import { numeric, UsageError, type Arguments, type Command, type Io, type Options, type Outcome } from "./command.ts";
import { clientOf, connectionOptions, defaultsOf, linesTo, serviceOf } from "./connection.ts";

const readingOptions = {
  ...connectionOptions,
  after: { value: "POSITION", about: "begin after this position; 0 is the beginning of the log. Default: from now on" },
  types: { value: "TYPE", about: "only events of this type, such as order.created or order.*; can be repeated", multiple: true },
  "no-follow": { about: "end after the existing events, and do not wait for more" },
} as const satisfies Options;

/** The options of commands that send events to a program, signed like webhooks. */
const forwardingOptions = {
  "forward-to": { value: "URL", about: "where to send the events, such as http://localhost:3000/webhooks", required: true },
  secret: {
    value: "SECRET",
    about: "the secret to sign with: whsec_ and Base64. Default: a new one. A given secret is never printed",
  },
  "print-secret": { about: "print the new secret even if no person is at the terminal; with --json in the field secret" },
} as const satisfies Options;

/** The commands that read the events of an account, or send them to a program. */
export const eventCommands: Command[] = [
  {
    name: "events tail",
    summary: "Print the events of the account as they happen; with --json each as one line of JSON",
    options: readingOptions,
    async run(given, io) {
      for await (const event of await reading(given, io)) {
        io.stdout.write(`${given.json ? JSON.stringify(event) : lineOf(event)}\n`);
      }
      return undefined;
    },
  },
  {
    name: "listen",
    summary: "Send each event of the account to a program on this machine, signed like a webhook, until the program accepts it",
    options: {
      ...readingOptions,
      ...forwardingOptions,
    },
    async run(given, io) {
      const { target, secret, made } = await forwardingOf(given, io);
      if (!given.json) linesTo(io)(`Sending events to ${target}, ${signing(given, made)}`);
      else if (made !== undefined) io.stdout.write(`${JSON.stringify({ secret: made })}\n`);
      for await (const event of await reading(given, io)) {
        const status = await forward(target, secret, event);
        io.stdout.write(
          given.json ? `${JSON.stringify({ position: event.position, type: event.type, status })}\n` : `${status} ${lineOf(event)}\n`,
        );
      }
      return undefined;
    },
  },
  {
    name: "events trigger",
    summary: "Send one made-up event of a type, such as order.created, signed like a webhook, to a program on this machine",
    options: { url: connectionOptions.url, profile: connectionOptions.profile, ...forwardingOptions },
    operands: ["TYPE"],
    async run(given, io) {
      return trigger(serviceOf(given.options, defaultsOf(io)).url, given, io);
    },
  },
];

/** The events that the options ask for. */
async function reading({ options }: Arguments, io: Io): Promise<AsyncIterable<ShopEvent>> {
  const client = await clientOf(options, io);
  const { events } = await import("../../client/events.ts");
  const given = numeric(options["after"]);
  if (given !== undefined && !(Number.isSafeInteger(given) && Number(given) >= 0))
    throw new Problem("invalid_request", "--after must be a position: 0, 1, 2 and so on");
  const after = given === undefined ? (await answered(client.GET("/events/checkpoint"))).position : Number(given);
  const types = options["types"] as string[] | undefined;
  return events(client, { after, follow: options["no-follow"] !== true, ...(types && { types }) });
}

function lineOf({ position, at, type, resource, requestId }: ShopEvent): string {
  return `${position} ${at} ${type} ${resource.type} ${resource.id} ${requestId ?? "-"}`;
}

/** How long one message may take, as for a webhook. */
const answerMs = 10_000;
/** How long a message that is not accepted is sent again before the command ends. */
const patienceMs = 60_000;
const [pauseFirstMs, pauseMsMax] = [250, 8_000];

/** `made` is the secret if this command made it and may show it: with --print-secret, or in text to a person at a terminal. */
type Forwarding = { target: string; secret: string; made: string | undefined };

/** Where to send, and with which secret. @throws Problem `invalid_request` */
async function forwardingOf({ options, json }: Arguments, { stderr }: Io): Promise<Forwarding> {
  const target = targetOf(String(options["forward-to"]));
  const given = options["secret"] as string | undefined;
  const secret = given ?? `whsec_${randomBytes(24).toString("base64")}`;
  const { signWebhook } = await import("../../client/webhooks.ts");
  await signWebhook(secret, "check", 0, "").catch((error: Error) => {
    throw new Problem("invalid_request", `--secret: ${error.message}`);
  });
  const isShown = options["print-secret"] === true || (stderr.isTTY === true && !json);
  return { target, secret, made: given === undefined && isShown ? secret : undefined };
}

/** Says how messages are signed. Never repeats a secret that was given. */
function signing({ options }: Arguments, made: string | undefined): string {
  if (options["secret"] !== undefined) return "signed with the secret that was given";
  return made === undefined ? "signed with a new secret, which --print-secret prints" : `signed with ${made}`;
}

function targetOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "") return url.href;
  throw new Problem("invalid_request", "--forward-to must be an http or https address without a user");
}

/** Sends an event until it is accepted. @throws Problem `unavailable` after a minute; its message says how to go on */
async function forward(target: string, secret: string, event: ShopEvent): Promise<number> {
  const body = JSON.stringify({ timestamp: event.at, ...event });
  const { realTiming } = await import("../../client/timing.ts");
  const until = realTiming.now() + patienceMs;
  for (let pauseMs = pauseFirstMs; ; pauseMs = Math.min(pauseMsMax, pauseMs * 2)) {
    const answer = await send(target, secret, event.id, body);
    if (isAccepted(answer)) return answer;
    if (realTiming.now() + pauseMs > until) {
      const why = whyNotAccepted(answer);
      throw new Problem(
        "unavailable",
        `${target} did not accept event ${event.position} (${why}). Go on with --after ${event.position - 1}`,
      );
    }
    await realTiming.wait(pauseMs);
  }
}

/** Whether the result of `send` means that the message was accepted: a status of 2xx. */
function isAccepted(answer: number | string): answer is number {
  return typeof answer === "number" && answer >= 200 && answer < 300;
}

function whyNotAccepted(answer: number | string): string {
  return typeof answer === "number" ? `it answered ${answer}` : answer;
}

/** Sends a message once. Returns the status of the answer, or why there was none. */
async function send(target: string, secret: string, id: string, body: string): Promise<number | string> {
  const [{ signWebhook }, { realTiming }] = await Promise.all([import("../../client/webhooks.ts"), import("../../client/timing.ts")]);
  const signed = await signWebhook(secret, id, Math.floor(realTiming.now() / 1_000), body);
  const headers = { "content-type": "application/json", ...signed };
  try {
    const answer = await fetch(target, { method: "POST", headers, body, redirect: "manual", signal: AbortSignal.timeout(answerMs) });
    await answer.body?.cancel();
    return answer.status;
  } catch (error) {
    const { cause, message } = error as Error & { cause?: { code?: string } };
    return cause?.code ?? message;
  }
}

const descriptionMs = 10_000;
const testType = "webhook.test";

/** The operations whose examples events of a type, or of a group of types, carry. Events of other groups hold an identifier alone. */
const exampleOf: Record<string, string> = {
  "pet.profile_updated": "getProfile",
  pet: "getPet",
  category: "getCategory",
  order: "getOrder",
  inventory: "getInventoryItem",
  project: "getProject",
  deployment: "getDeployment",
  domain: "getDomain",
  certificate: "getDomain",
  webhook: "getWebhook",
};

/** Sends a made-up event of a type. Its data is an example of the service at the address `service`. */
async function trigger(service: string, given: Arguments, io: Io): Promise<Outcome> {
  const [type = ""] = given.operands;
  if (type !== testType && !eventTypes.some((known) => known === type))
    throw new UsageError(`${JSON.stringify(type)} is not an event type. The types are: ${[...eventTypes, testType].join(", ")}`);
  const { target, secret, made } = await forwardingOf(given, io);
  const data = await exampleData(service, type);
  if (!given.json) linesTo(io)(`Sending ${type} to ${target}, ${signing(given, made)}`);
  const message = messageOf(type, data, systemClock());
  const status = await send(target, secret, message.id, JSON.stringify(message));
  if (!isAccepted(status)) throw new Problem("unavailable", `${target} did not accept the event (${whyNotAccepted(status)})`);
  return {
    json: { type, id: message.id, status, data, ...(made !== undefined && { secret: made }) },
    text: `${status} ${type} ${message.id}`,
  };
}

type Json = Record<string, unknown>;

/** The example of the resource in the description of the API. @throws Problem `unavailable` */
async function exampleData(service: string, type: string): Promise<Json> {
  const operationId = exampleOf[type] ?? exampleOf[type.split(".")[0] ?? ""];
  if (type === testType) return { webhookId: 1 };
  if (operationId === undefined) return { id: 1 };
  const description = await descriptionOf(service);
  const operations = Object.values(description.paths).flatMap((path) => Object.values(path));
  const operation = operations.find((one) => one.operationId === operationId);
  const example = operation?.responses?.["200"]?.content?.["application/json"]?.example ?? { id: 1 };
  return type === "order.completed" ? { ...example, complete: true } : example;
}

type Described = { paths: Record<string, Record<string, DescribedOperation>> };
type DescribedOperation = {
  operationId?: string;
  responses?: Record<string, { content?: Record<string, { example?: Json }> }>;
};

async function descriptionOf(service: string): Promise<Described> {
  const at = URL.canParse(service) ? new URL("/openapi.json", service) : undefined;
  if (at === undefined) throw new Problem("invalid_request", `${service} is not the address of a service`);
  try {
    const answer = await fetch(at, { redirect: "error", signal: AbortSignal.timeout(descriptionMs) });
    if (answer.ok) return (await answer.json()) as Described;
  } catch {
    // refused below, like any answer that is not a description
  }
  throw new Problem("unavailable", `${at.href} does not answer with the description of the API, whose examples the event needs`);
}

/** A message like that of a webhook. Its position is 0, which no event of a log has. */
function messageOf(type: string, data: Json, now: number) {
  const at = formatDateTime(now);
  const id = `evt_trial${randomBytes(12).toString("hex")}`;
  if (type === testType) return { timestamp: at, id, type, data };
  const [group = ""] = type.split(".");
  const resource = { type: group, id: data["id"] ?? data["hostname"] ?? data["petId"] };
  const unknown = { position: 0, actor: { type: "system", id: null }, requestId: null, previous: {}, hash: "0".repeat(64) };
  return { timestamp: at, id, type, at, resource, data, ...unknown };
}
