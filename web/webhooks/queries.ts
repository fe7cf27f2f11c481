import { infiniteQueryOptions, queryOptions, type QueryClient } from "@tanstack/react-query";
import { nextCursor } from "../../client/pages.ts";
import { dashboardKey } from "../calls/lists.ts";
import { reread } from "../calls/rows.ts";
import { answerOf, store, type Page, type Schemas } from "../calls/store.ts";

export type Webhook = Schemas["Webhook"];
export type Delivery = Schemas["WebhookDelivery"];
export type WebhookPatch = Schemas["WebhookPatch"];

/** More than the 20 endpoints that an account may have, so one page holds them all. */
const pageSize = 100;
const deliveriesShown = 50;
const pendingMs = 2_000;
const quietMs = 10_000;
const key = [dashboardKey, "/webhooks"] as const;

/** The account's endpoints by id. Every page of the dashboard reads them, to say which are off. */
export const webhooksQuery = queryOptions({
  queryKey: [...key, "all"],
  staleTime: quietMs,
  refetchInterval: 60_000,
  queryFn: ({ signal }) => answerOf<Webhook[]>(store.GET("/webhooks", { params: { query: { limit: pageSize } }, signal })),
});

export function deliveriesQuery(webhookId: number, status: Delivery["status"] | undefined) {
  return infiniteQueryOptions({
    queryKey: [...key, "deliveries", webhookId, status ?? null],
    initialPageParam: undefined as string | undefined,
    staleTime: 0,
    queryFn: async ({ pageParam: cursor, signal }): Promise<Page<Delivery>> => {
      const query = { limit: deliveriesShown, ...(status && { status }), ...(cursor !== undefined && { cursor }) };
      const { data, response } = await store.GET("/webhooks/{webhookId}/deliveries", { params: { path: { webhookId }, query }, signal });
      return { rows: data ?? [], next: nextCursor(response.headers, location.origin) };
    },
    refetchInterval: ({ state: { data } }) => (data?.pages.some(({ rows }) => rows.some(isUnderWay)) ? pendingMs : quietMs),
    getNextPageParam: ({ next }) => next,
    select: ({ pages }) => pages.flatMap(({ rows }) => rows),
  });
}

/** A delivery with the bodies of its request and its response. */
export function deliveryQuery(webhookId: number, deliveryId: number) {
  return queryOptions({
    queryKey: [...key, "delivery", webhookId, deliveryId],
    staleTime: 0,
    queryFn: ({ signal }): Promise<Delivery> => {
      const params = { path: { webhookId, deliveryId } };
      return answerOf<Delivery>(store.GET("/webhooks/{webhookId}/deliveries/{deliveryId}", { params, signal }));
    },
    refetchInterval: ({ state: { data } }) => data !== undefined && isUnderWay(data) && pendingMs,
  });
}

/** Whether an attempt is being made or due within seconds. */
function isUnderWay({ status, attempts }: Delivery): boolean {
  return status === "pending" && attempts < 2;
}

/** Rereads endpoints and deliveries after a change. */
export function rereadWebhooks(client: QueryClient): Promise<void> {
  return reread(client, { queryKey: key });
}

const pathOf = (webhookId: number) => ({ params: { path: { webhookId } } });

export const addWebhook = (body: Schemas["WebhookInput"]) => answerOf<Webhook>(store.POST("/webhooks", { body }));
export const updateWebhook = (id: number, body: WebhookPatch) =>
  answerOf<Webhook>(store.PATCH("/webhooks/{webhookId}", { ...pathOf(id), body }));
export const deleteWebhook = (id: number) => answerOf(store.DELETE("/webhooks/{webhookId}", pathOf(id)));
export const rotateSecret = (id: number) => answerOf<Webhook>(store.POST("/webhooks/{webhookId}/rotate", pathOf(id)));
export const sendTest = (id: number) => answerOf<Delivery>(store.POST("/webhooks/{webhookId}/test", pathOf(id)));
export const replay = (id: number, after: number) =>
  answerOf<Webhook>(store.POST("/webhooks/{webhookId}/replay", { ...pathOf(id), body: { after } }));
export const resend = (webhookId: number, deliveryId: number) =>
  answerOf<Delivery>(store.POST("/webhooks/{webhookId}/deliveries/{deliveryId}/resend", { params: { path: { webhookId, deliveryId } } }));

/** Turns an endpoint on. It then gets the events after the position `after`. Default: where it stopped. */
export async function turnOn(id: number, after: number | undefined): Promise<void> {
  // moves the position before anything is sent, so that no message is sent twice
  if (after !== undefined) await replay(id, after);
  await updateWebhook(id, { enabled: true });
}
