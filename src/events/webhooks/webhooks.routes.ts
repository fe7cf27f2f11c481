import { randomUUID } from "node:crypto";
import type { Static } from "typebox";
import { dayMs } from "../../platform/clock.ts";
import type { Database, Transaction } from "../../platform/db/database.ts";
import { addressOf } from "../../platform/http/api-surfaces.ts";
import { requireConditions, versionOfShown } from "../../platform/http/conditions.ts";
import {
  type Answer,
  type Call,
  created,
  deleted,
  listed,
  mergePatch,
  operation,
  type Operation,
  resource,
} from "../../platform/http/operation.ts";
import { limitDefault, pageOf, positionOf } from "../../platform/http/paging.ts";
import type { Announcer } from "../../platform/nodes/nodes.ts";
import { invalidAt } from "../../platform/problem.ts";
import { decryptSecret, encryptSecret, type SecretsKeys } from "../../platform/secrets.ts";
import { eventsExpired, logStart, newestEvent } from "../log/events.store.ts";
import { type AddressRules, parseEndpointUrl, requirePublicUrl } from "./endpoint-url.ts";
import { newWebhookSecret } from "./message.ts";
import {
  deleteWebhook,
  findWebhook,
  insertWebhook,
  listWebhooks,
  lockWebhook,
  rotateSecret,
  setPosition,
  type StoredWebhook,
  updateWebhook,
  webhookResponse,
} from "./webhooks.store.ts";
import {
  PageQuery,
  requireTypes,
  Webhook,
  webhookChanged,
  WebhookInput,
  WebhookPath,
  WebhookReplay,
  Webhooks,
  WrittenWebhookPatch,
} from "./webhooks.ts";

export type WebhookServices = { announcer: Announcer; webhookKeys: SecretsKeys; webhookAddresses: AddressRules };

/** How long (ms) after a rotation messages are also signed with the earlier secret. */
const overlapMs = dayMs;

const path = "/webhooks";
const onePath = "/webhooks/{webhookId}";
const tag = "Webhooks";
const stability = "beta";
const oneParams = { webhookId: 1 };
const endpoint: Webhook = {
  id: 1,
  url: "https://hooks.example.com/pets",
  types: ["order.*"],
  description: "",
  ordered: false,
  enabled: true,
  disabledBecause: null,
  position: 0,
  deliveredPosition: null,
  deliveredAt: null,
  failingSince: null,
  pausedUntil: null,
  createdAt: "2026-12-24T10:00:00Z",
};
const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw7MfKQ9r8GKY=";

export const webhookRoutes: Operation<WebhookServices>[] = [
  operation({
    operationId: "listWebhooks",
    method: "GET",
    path,
    tag,
    stability,
    summary: "List webhook endpoints",
    description: "The webhook endpoints, ordered by `id`.",
    scope: "webhooks:read",
    query: PageQuery,
    answers: { 200: listed("The endpoints.", Webhooks, [endpoint]) },
    read: readWebhooks,
  }),
  operation({
    operationId: "createWebhook",
    method: "POST",
    path,
    tag,
    stability,
    summary: "Create a webhook endpoint",
    description: "Sends events from now on to a URL, signed by the Standard Webhooks specification. At most 20 for each account.",
    scope: "webhooks:write",
    alsoScope: "events:read", // endpoints receive events
    body: WebhookInput,
    example: { body: { url: "https://hooks.example.com/orders", types: ["order.*"] } },
    answers: {
      201: created("The new endpoint with its secret.", Webhook, {
        ...endpoint,
        id: 2,
        url: "https://hooks.example.com/orders",
        secret,
      }),
    },
    before: (_db, { accountId, body, services }) => requirePublic(services, accountId, body.url),
    write: createWebhook,
    reveal: revealSecret,
    secret: "secret",
    finish: confirm,
  }),
  operation({
    operationId: "getWebhook",
    method: "GET",
    path: onePath,
    tag,
    stability,
    summary: "Get a webhook endpoint",
    description: "One webhook endpoint.",
    scope: "webhooks:read",
    params: WebhookPath,
    example: { params: oneParams },
    answers: { 200: resource("The endpoint.", Webhook, endpoint) },
    problems: ["not_found"],
    read: async (db, { accountId, params: { webhookId }, now }) => answer(await findWebhook(db, accountId, webhookId), now),
  }),
  operation({
    operationId: "updateWebhook",
    method: "PATCH",
    path: onePath,
    tag,
    stability,
    summary: "Update a webhook endpoint",
    description: "Changes the given fields of a webhook endpoint. One that is enabled again continues from its `position`.",
    scope: "webhooks:write",
    alsoScope: "events:read", // endpoints receive events
    params: WebhookPath,
    body: WrittenWebhookPatch,
    mediaTypes: mergePatch,
    example: { params: oneParams, body: { description: "Our warehouse" } },
    answers: { 200: resource("The updated endpoint.", Webhook, { ...endpoint, description: "Our warehouse" }) },
    problems: ["not_found", "precondition_failed"],
    before: async (_db, { accountId, body, services }) => {
      if (body.url !== undefined) await requirePublic(services, accountId, body.url);
    },
    write: changeWebhook,
    finish: confirm,
  }),
  operation({
    operationId: "deleteWebhook",
    method: "DELETE",
    path: onePath,
    tag,
    stability,
    summary: "Delete a webhook endpoint",
    description: "Deletes a webhook endpoint with its deliveries.",
    details: "After the answer nothing more is sent.",
    scope: "webhooks:write",
    params: WebhookPath,
    example: { params: oneParams },
    answers: { 204: deleted("The endpoint was deleted.") },
    problems: ["not_found", "precondition_failed"],
    write: removeWebhook,
    finish: confirm,
  }),
  operation({
    operationId: "rotateWebhookSecret",
    method: "POST",
    path: `${onePath}/rotate`,
    tag,
    stability,
    summary: "Rotate a webhook secret",
    description: "Creates a new secret for a webhook endpoint. For 24 hours messages are also signed with the earlier one.",
    scope: "webhooks:write",
    alsoScope: "events:read", // endpoints receive events
    params: WebhookPath,
    example: { params: oneParams },
    answers: { 200: resource("The endpoint with its new secret.", Webhook, { ...endpoint, secret }) },
    problems: ["not_found"],
    write: rotate,
    reveal: revealSecret,
    secret: "secret",
    finish: confirm,
  }),
  operation({
    operationId: "replayWebhook",
    method: "POST",
    path: `${onePath}/replay`,
    tag,
    stability,
    summary: "Replay events to an endpoint",
    description: "Sends the events after a position again, each with its `webhook-id`.",
    scope: "webhooks:write",
    alsoScope: "events:read", // endpoints receive events
    params: WebhookPath,
    body: WebhookReplay,
    example: { params: oneParams, body: { after: 2 } },
    answers: { 200: resource("The endpoint at its new position.", Webhook, { ...endpoint, position: 2 }) },
    problems: ["not_found", "events_expired"],
    write: replay,
    finish: confirm,
  }),
];

type One = { params: Static<typeof WebhookPath> };

export function confirm(_db: Database, { services }: { services: WebhookServices }): Promise<void> {
  return services.announcer.waitForAll();
}

async function requirePublic({ webhookAddresses }: WebhookServices, accountId: number, url: string): Promise<void> {
  await requirePublicUrl(parseEndpointUrl(url, webhookAddresses), webhookAddresses, accountId);
}

async function readWebhooks(db: Database, call: Call<WebhookServices, { query: Static<typeof PageQuery> }>): Promise<Answer> {
  const { accountId, query } = call;
  const [after = 0] = positionOf(query, 1) ?? [];
  const rows = await listWebhooks(db, accountId, Number(after), (query.limit ?? limitDefault) + 1);
  const page = pageOf("/webhooks", query, rows, (row) => [row.id]);
  return { status: 200, body: page.rows.map((row) => webhookResponse(row, call.now)), headers: page.headers };
}

async function createWebhook(tx: Transaction, call: Call<WebhookServices, { body: WebhookInput }>): Promise<Answer> {
  const { accountId, body, services, now } = call;
  const { types = ["*"], description = "", ordered = false } = body;
  requireTypes(types);
  const owner = `webhook ${randomUUID()}`;
  const envelope = encryptSecret(services.webhookKeys, newWebhookSecret(), owner);
  const { position } = await newestEvent(tx, accountId);
  const { href } = parseEndpointUrl(body.url, services.webhookAddresses);
  const stored = await insertWebhook(
    tx,
    { accountId, url: href, types: [...types], description, ordered, owner, secret: envelope, position },
    now,
  );
  record(tx, now, "webhook.created", stored);
  await services.announcer.publish(tx, webhookChanged(accountId, stored.id));
  return { ...withSecret(stored, now), status: 201, headers: { location: addressOf(`/webhooks/${stored.id}`) } };
}

async function changeWebhook(
  tx: Transaction,
  call: Call<WebhookServices, One & { body: Static<typeof WrittenWebhookPatch> }>,
): Promise<Answer> {
  const { accountId, params, body, conditions, services, now } = call;
  const { id: _id, url, ...change } = body;
  if (change.types !== undefined) requireTypes(change.types);
  const before = await lockWebhook(tx, accountId, params.webhookId);
  requireConditions(conditions, answer(before, now).version);
  const changed = url === undefined ? change : { ...change, url: parseEndpointUrl(url, services.webhookAddresses).href };
  const after = await updateWebhook(tx, before, changed, now);
  if (after !== before) {
    record(tx, call.now, "webhook.updated", after, before);
    await services.announcer.publish(tx, webhookChanged(accountId, after.id));
  }
  return answer(after, call.now);
}

async function removeWebhook(tx: Transaction, call: Call<WebhookServices, One>): Promise<Answer> {
  const { accountId, params, conditions, services } = call;
  const stored = await lockWebhook(tx, accountId, params.webhookId);
  requireConditions(conditions, answer(stored, call.now).version);
  await deleteWebhook(tx, accountId, stored.id);
  record(tx, call.now, "webhook.deleted", stored);
  await services.announcer.publish(tx, webhookChanged(accountId, stored.id));
  return { status: 204 };
}

async function rotate(tx: Transaction, call: Call<WebhookServices, One>): Promise<Answer> {
  const { accountId, params, services, now } = call;
  const before = await lockWebhook(tx, accountId, params.webhookId);
  const envelope = encryptSecret(services.webhookKeys, newWebhookSecret(), before.owner);
  const after = await rotateSecret(tx, before, envelope, now + overlapMs);
  record(tx, call.now, "webhook.updated", after, before);
  await services.announcer.publish(tx, webhookChanged(accountId, after.id));
  return withSecret(after, now);
}

async function replay(tx: Transaction, call: Call<WebhookServices, One & { body: Static<typeof WebhookReplay> }>): Promise<Answer> {
  const { accountId, params, body, services } = call;
  const before = await lockWebhook(tx, accountId, params.webhookId);
  const { position: newest } = await newestEvent(tx, accountId);
  if (body.after > newest) throw invalidAt("body.after", `is beyond the newest event, whose position is ${newest}`);
  const { position: oldest } = await logStart(tx, accountId);
  if (body.after < oldest - 1) throw eventsExpired(oldest);
  const after = await setPosition(tx, before, body.after);
  record(tx, call.now, "webhook.updated", after, before);
  await services.announcer.publish(tx, webhookChanged(accountId, after.id));
  return answer(after, call.now);
}

function answer(stored: StoredWebhook, now: number) {
  const body = webhookResponse(stored, now);
  return { status: 200, body, version: versionOfShown(stored.version, body) };
}

/** Returns an answer with the secret still encrypted, because answers are stored with their Idempotency-Key. */
function withSecret(stored: StoredWebhook, now: number): Answer {
  const { version, body } = answer(stored, now);
  return { status: 200, version, body: { ...body, secret: JSON.stringify([stored.owner, stored.secret]) } };
}

/** Returns the answer to send, with the secret decrypted. */
function revealSecret(answered: Answer, { services: { webhookKeys } }: { services: WebhookServices }): Answer {
  const body = answered.body as { secret?: string };
  if (body.secret === undefined) return answered; // a stored refusal
  const [owner, envelope] = JSON.parse(body.secret) as [string, string];
  return { ...answered, body: { ...body, secret: decryptSecret(webhookKeys, envelope, owner) } };
}

/** Records a change of an endpoint. Progress alone, such as a new `position`, is no event; an event of a change shows it too. */
function record(
  tx: Transaction,
  now: number,
  type: "webhook.created" | "webhook.updated" | "webhook.deleted",
  after: StoredWebhook,
  before?: StoredWebhook,
) {
  const { accountId, id, version } = after;
  const data = webhookResponse(after, now);
  const earlier = before && webhookResponse(before, now);
  const previous =
    earlier && Object.fromEntries(Object.entries(earlier).filter(([name, value]) => !isSame(value, data[name as keyof Webhook])));
  tx.record({ accountId, type, resource: { type: "webhook", id }, data, ...(previous && { previous }), version });
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
