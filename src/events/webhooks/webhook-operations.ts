import { randomUUID } from "node:crypto";
import type { Static } from "typebox";
import type { Database, Transaction } from "../../platform/db/database.ts";
import { addressOf } from "../../platform/http/api-surfaces.ts";
import { requireConditions, versionOfShown } from "../../platform/http/conditions.ts";
import type { Answer, Call } from "../../platform/http/operation.ts";
import { limitDefault, pageOf, positionOf } from "../../platform/http/paging.ts";
import type { Announcer } from "../../platform/nodes/nodes.ts";
import { invalidAt } from "../../platform/problem.ts";
import { decryptSecret, encryptSecret, type SecretsKeys } from "../../platform/secrets.ts";
import { eventsExpired, logStart, newestEvent } from "../log/events.store.ts";
import { parseEndpointUrl, requirePublicUrl, type AddressRules } from "./endpoint-url.ts";
import { newWebhookSecret } from "./signature.ts";
import {
  requireTypes,
  webhookChanged,
  type WebhookInput,
  type PageQuery,
  type Webhook,
  type WebhookPath,
  type WebhookReplay,
  type WrittenWebhookPatch,
} from "./webhooks.ts";
import {
  deleteWebhook,
  insertWebhook,
  listWebhooks,
  lockWebhook,
  setPosition,
  rotateSecret,
  updateWebhook,
  webhookResponse,
  type StoredWebhook,
} from "./webhooks.store.ts";

export type WebhookServices = { announcer: Announcer; webhookKeys: SecretsKeys; webhookAddresses: AddressRules };

/** How long (ms) after a rotation messages are also signed with the earlier secret. */
const overlapMs = 24 * 3_600_000;

type One = { params: Static<typeof WebhookPath> };

export function confirm(_db: Database, { services }: { services: WebhookServices }): Promise<void> {
  return services.announcer.waitForAll();
}

export async function requirePublic({ webhookAddresses }: WebhookServices, accountId: number, url: string): Promise<void> {
  await requirePublicUrl(parseEndpointUrl(url, webhookAddresses), webhookAddresses, accountId);
}

export async function readWebhooks(db: Database, call: Call<WebhookServices, { query: Static<typeof PageQuery> }>): Promise<Answer> {
  const { accountId, query } = call;
  const [after = 0] = positionOf(query, 1) ?? [];
  const rows = await listWebhooks(db, accountId, Number(after), (query.limit ?? limitDefault) + 1);
  const page = pageOf("/webhooks", query, rows, (row) => [row.id]);
  return { status: 200, body: page.rows.map((row) => webhookResponse(row, call.now)), headers: page.headers };
}

export async function createWebhook(tx: Transaction, call: Call<WebhookServices, { body: WebhookInput }>): Promise<Answer> {
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

export async function changeWebhook(
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

export async function removeWebhook(tx: Transaction, call: Call<WebhookServices, One>): Promise<Answer> {
  const { accountId, params, conditions, services } = call;
  const stored = await lockWebhook(tx, accountId, params.webhookId);
  requireConditions(conditions, answer(stored, call.now).version);
  await deleteWebhook(tx, accountId, stored.id);
  record(tx, call.now, "webhook.deleted", stored);
  await services.announcer.publish(tx, webhookChanged(accountId, stored.id));
  return { status: 204 };
}

export async function rotate(tx: Transaction, call: Call<WebhookServices, One>): Promise<Answer> {
  const { accountId, params, services, now } = call;
  const before = await lockWebhook(tx, accountId, params.webhookId);
  const envelope = encryptSecret(services.webhookKeys, newWebhookSecret(), before.owner);
  const after = await rotateSecret(tx, before, envelope, now + overlapMs);
  record(tx, call.now, "webhook.updated", after, before);
  await services.announcer.publish(tx, webhookChanged(accountId, after.id));
  return withSecret(after, now);
}

export async function replay(tx: Transaction, call: Call<WebhookServices, One & { body: Static<typeof WebhookReplay> }>): Promise<Answer> {
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

export function answer(stored: StoredWebhook, now: number) {
  const body = webhookResponse(stored, now);
  return { status: 200, body, version: versionOfShown(stored.version, body) };
}

/** Returns an answer with the secret still encrypted, because answers are stored with their Idempotency-Key. */
function withSecret(stored: StoredWebhook, now: number): Answer {
  const { version, body } = answer(stored, now);
  return { status: 200, version, body: { ...body, secret: JSON.stringify([stored.owner, stored.secret]) } };
}

/** Returns the answer to send, with the secret decrypted. */
export function revealSecret(answered: Answer, { services: { webhookKeys } }: { services: WebhookServices }): Answer {
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
