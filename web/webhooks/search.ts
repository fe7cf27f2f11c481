import { choiceIn, idIn } from "../parts/search-values.ts";

export const deliveryStatuses = ["delivered", "pending", "failed"] as const;
type Status = (typeof deliveryStatuses)[number];

/** The search parameters of an endpoint's page: the state of the messages that are listed, the open message, and whether to ask to turn it on. */
type WebhookSearch = { status?: Status | undefined; message?: number | undefined; recover?: true | undefined };

export function webhookSearch(search: Record<string, unknown>): WebhookSearch {
  return {
    status: choiceIn(deliveryStatuses, search["status"]),
    message: idIn(search["message"]),
    recover: search["recover"] === true || undefined,
  };
}
