/** The exports of the package `petstore-client`. */
export type { paths, Schemas } from "./api.gen.ts";
export { openClient, type Connection, type PetStore } from "./client.ts";
export { PetStoreError, type ErrorCode } from "./errors.ts";
export { events, type EventsOptions, type ShopEvent } from "./events.ts";
export { pages, rows, type ListPath, type Place, type Query, type Row } from "./pages.ts";
export { refusal, type Refused } from "./refusals.ts";
export type { Fetch } from "./sending.ts";
export type { Timing } from "./timing.ts";
export { signWebhook, verifyWebhook, WebhookError, type VerifyOptions, type WebhookHeaders, type WebhookMessage } from "./webhooks.ts";
