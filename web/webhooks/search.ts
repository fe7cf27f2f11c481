import { choiceIn, idIn } from "../parts/search-values.ts";

export const deliveryStatuses = ["delivered", "pending", "failed"] as const;
type Status = (typeof deliveryStatuses)[number];

/** The search parameters of an endpoint's page. `status` filters the messages, `message` is open, and `recover` asks to turn the endpoint on. */
type WebhookSearch = { status?: Status | undefined; message?: number | undefined; recover?: true | undefined };

export function webhookSearch(search: Record<string, unknown>): WebhookSearch {
  return {
    status: choiceIn(deliveryStatuses, search["status"]),
    message: idIn(search["message"]),
    recover: search["recover"] === true || undefined,
  };
}
