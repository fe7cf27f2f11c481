import { randomBytes } from "node:crypto";
import { systemClock } from "../platform/clock.ts";
import { eventTypes } from "../platform/event-types.ts";
import { formatDateTime } from "../platform/http/dates.ts";
import { Problem } from "../platform/problem.ts";
import { UsageError, type Arguments, type Io, type Outcome } from "./command.ts";
import { linesTo } from "./connection.ts";
import { forwardingOf, isAccepted, send, signing, whyNotAccepted } from "./forwarding.ts";

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
export async function trigger(service: string, given: Arguments, io: Io): Promise<Outcome> {
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
