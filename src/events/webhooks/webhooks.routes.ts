import { operation, type Operation } from "../../platform/http/operation.ts";
import { created, deleted, listed, mergePatch, resource } from "../../platform/http/resource-answers.ts";
import {
  answer,
  changeWebhook,
  confirm,
  createWebhook,
  readWebhooks,
  removeWebhook,
  replay,
  requirePublic,
  revealSecret,
  rotate,
  type WebhookServices,
} from "./webhook-operations.ts";
import { WebhookInput, PageQuery, Webhook, WebhookPath, WebhookReplay, Webhooks, WrittenWebhookPatch } from "./webhooks.ts";
import { findWebhook } from "./webhooks.store.ts";

export type { WebhookServices } from "./webhook-operations.ts";

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
