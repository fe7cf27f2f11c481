import type { TestContext } from "node:test";
import type { Delivery, Webhook } from "../../src/events/webhooks/webhooks.ts";
import type { TestService } from "./service.ts";
import { made } from "./shop.ts";
import { deliveriesOf, newWebhook, startReceiver, untilDeliveries, webhookOf, type Receiver } from "./webhooks.ts";

/** An account with an endpoint of its own. */
export async function openScene(t: TestContext, shop: TestService, more: Partial<Webhook> = {}) {
  const receiver = await startReceiver();
  const { key, id: accountId } = await shop.newAccount();
  const webhook = await newWebhook(shop, { url: receiver.url, ...more }, key);
  t.after(async () => {
    await shop.ask("DELETE", `/webhooks/${webhook.id}`, { key });
    await receiver.close();
  });
  const at = `/webhooks/${webhook.id}`;
  const ask = <T = Delivery>(method: string, path: string, body?: unknown) => shop.ask<T>(method, path, { key, body });
  return {
    receiver,
    webhook,
    key,
    accountId,
    at,
    ask,
    newCategory: (name: string) => made<{ id: number }>(shop, "POST", "/categories", { name }, key),
    deliveries: (query = "") => deliveriesOf(shop, webhook.id, query, key),
    now: () => webhookOf(shop, webhook.id, key),
    until: (status: Delivery["status"], count: number) =>
      untilDeliveries({ ...shop, ask: (method, path) => shop.ask(method, path, { key }) }, webhook.id, status, count),
  };
}

export const names = ({ got }: Receiver): unknown[] =>
  got.filter(({ body }) => body.type === "category.created").map(({ body }) => body.data["name"]);
