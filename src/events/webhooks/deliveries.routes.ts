import { randomUUID } from "node:crypto";
import type { Static } from "typebox";
import type { Database, Transaction } from "../../platform/db/database.ts";
import { type Answer, type Call, listed, operation, type Operation } from "../../platform/http/operation.ts";
import { limitDefault, pageOf, positionOf } from "../../platform/http/paging.ts";
import { eventAt } from "../log/events.store.ts";
import { deliveryResponse, findDelivery, insertTest, listDeliveries, resendDelivery } from "./deliveries.store.ts";
import { messageOf, testText, testType } from "./message.ts";
import { answerBytesMax } from "./sender.ts";
import { confirm, type WebhookServices } from "./webhooks.routes.ts";
import { findWebhook, lockWebhook, makeDue } from "./webhooks.store.ts";
import { Deliveries, Delivery, DeliveryPath, DeliveryQuery, webhookChanged, WebhookPath } from "./webhooks.ts";

const path = "/webhooks/{webhookId}/deliveries";
const onePath = `${path}/{deliveryId}`;
const tag = "Webhooks";
const stability = "beta";
const oneParams = { webhookId: 1, deliveryId: 1 };
const test: Delivery = {
  id: 1,
  messageId: "msg_0d8f",
  position: null,
  type: testType,
  requestId: null,
  status: "pending",
  attempts: 0,
  attemptedAt: null,
  durationMs: null,
  responseStatus: null,
  error: null,
  nextAttemptAt: "2026-12-24T10:00:00Z",
  createdAt: "2026-12-24T10:00:00Z",
};
const requestBody = '{"timestamp":"2026-12-24T10:00:00Z","id":"msg_0d8f","type":"webhook.test","data":{"webhookId":1}}';

export const deliveryRoutes: Operation<WebhookServices>[] = [
  operation({
    operationId: "testWebhook",
    method: "POST",
    path: "/webhooks/{webhookId}/test",
    tag,
    stability,
    summary: "Test a webhook endpoint",
    description: "Sends a message of the type `webhook.test` at once. Its delivery shows the answer.",
    details: "It is sent once, and ends a pause that the endpoint asked for.",
    scope: "webhooks:write",
    params: WebhookPath,
    example: { params: { webhookId: 1 } },
    answers: { 202: { description: "The delivery, which is sent now.", schema: Delivery, example: test } },
    problems: ["not_found"],
    write: sendTest,
    finish: confirm,
  }),
  operation({
    operationId: "listWebhookDeliveries",
    method: "GET",
    path,
    tag,
    stability,
    summary: "List deliveries",
    description: "What was sent to a webhook endpoint in the last seven days, newest first; at most 10,000.",
    scope: "webhooks:read",
    params: WebhookPath,
    query: DeliveryQuery,
    example: { params: { webhookId: 1 } },
    answers: { 200: listed("The deliveries.", Deliveries, [test]) },
    problems: ["not_found"],
    read: readDeliveries,
  }),
  operation({
    operationId: "getWebhookDelivery",
    method: "GET",
    path: onePath,
    tag,
    stability,
    summary: "Get a delivery",
    description: "One delivery with the start of the message and of the answer.",
    scope: "webhooks:read",
    alsoScope: "events:read", // a message contains an event
    params: DeliveryPath,
    example: { params: oneParams },
    answers: {
      200: { description: "The delivery.", schema: Delivery, example: { ...test, requestBody, responseBody: null } },
    },
    problems: ["not_found"],
    read: readDelivery,
  }),
  operation({
    operationId: "resendWebhookDelivery",
    method: "POST",
    path: `${onePath}/resend`,
    tag,
    stability,
    summary: "Resend a delivery",
    description: "Sends a message again now, with the same `webhook-id`.",
    details: "A delivery that had ended gets one attempt. A pause that the endpoint asked for ends.",
    scope: "webhooks:write",
    alsoScope: "events:read", // a message contains an event
    params: DeliveryPath,
    example: { params: oneParams },
    answers: { 202: { description: "The delivery, which is sent now.", schema: Delivery, example: test } },
    problems: ["not_found"],
    write: resend,
    finish: confirm,
  }),
];

type One = { params: Static<typeof DeliveryPath> };

async function sendTest(tx: Transaction, call: Call<WebhookServices, { params: Static<typeof WebhookPath> }>): Promise<Answer> {
  const { accountId, params, services, now } = call;
  const webhook = await lockWebhook(tx, accountId, params.webhookId);
  const { id } = webhook;
  const messageId = `msg_${randomUUID().replaceAll("-", "")}`;
  const message = { messageId, type: testType, body: testText(messageId, id, now) };
  const stored = await insertTest(tx, { accountId, webhookId: id }, message, now);
  await makeDue(tx, webhook, now);
  await services.announcer.publish(tx, webhookChanged(accountId, id));
  return { status: 202, body: deliveryResponse(stored) };
}

async function readDeliveries(
  db: Database,
  call: Call<WebhookServices, { params: Static<typeof WebhookPath>; query: DeliveryQuery }>,
): Promise<Answer> {
  const { accountId, params, query } = call;
  const { id: webhookId, pausedUntil } = await findWebhook(db, accountId, params.webhookId);
  const [before = Number.MAX_SAFE_INTEGER] = positionOf(query, 1) ?? [];
  const rows = await listDeliveries(db, { accountId, webhookId }, query, Number(before), (query.limit ?? limitDefault) + 1);
  const page = pageOf(path.replace("{webhookId}", String(webhookId)), query, rows, (row) => [row.id]);
  return { status: 200, body: page.rows.map((row) => deliveryResponse(row, pausedUntil)), headers: page.headers };
}

async function readDelivery(db: Database, call: Call<WebhookServices, One>): Promise<Answer> {
  const { accountId, params } = call;
  const { id: webhookId, pausedUntil } = await findWebhook(db, accountId, params.webhookId);
  const stored = await findDelivery(db, { accountId, webhookId }, params.deliveryId);
  const event = stored.position === null ? undefined : await eventAt(db, accountId, stored.position);
  const text = stored.body ?? (event ? messageOf(event).text : null);
  const body = { ...deliveryResponse(stored, pausedUntil), requestBody: text && startOf(text), responseBody: stored.responseBody };
  return { status: 200, body };
}

/** Returns the start of a text, without a character that the cut would split. */
function startOf(text: string): string {
  const bytes = Buffer.from(text);
  return bytes.length <= answerBytesMax ? text : new TextDecoder().decode(bytes.subarray(0, answerBytesMax), { stream: true });
}

async function resend(tx: Transaction, call: Call<WebhookServices, One>): Promise<Answer> {
  const { accountId, params, services, now } = call;
  const webhook = await lockWebhook(tx, accountId, params.webhookId);
  const { id: webhookId } = webhook;
  const stored = await resendDelivery(tx, { accountId, webhookId }, params.deliveryId, now);
  await makeDue(tx, webhook, now);
  await services.announcer.publish(tx, webhookChanged(accountId, webhookId));
  return { status: 202, body: deliveryResponse(stored) };
}
