import { useQueryClient } from "@tanstack/react-query";
import { notify, notifyError } from "../parts/notices.ts";
import type { RowAction } from "../parts/row-menu.tsx";
import { webhooksTexts as words } from "../texts/en-webhooks.ts";
import type { Asked } from "./dialogs.tsx";
import { rereadWebhooks, sendTest, updateWebhook, type Webhook } from "./queries.ts";

/** Returns the actions of an endpoint's menu. `ask` opens a dialog. */
export function useWebhookActions(ask: (asked: Asked, webhook: Webhook) => void): (webhook: Webhook) => RowAction[] {
  const client = useQueryClient();
  function notifyAfter(call: Promise<unknown>, text: string): void {
    void call.then(() => notify(text), notifyError).then(() => rereadWebhooks(client));
  }
  return (webhook) => {
    const { id, enabled, deliveredPosition } = webhook;
    const turnOff = () => notifyAfter(updateWebhook(id, { enabled: false }), words.turnedOff);
    return [
      { label: words.test, run: () => notifyAfter(sendTest(id), words.testSent) },
      { label: words.edit, run: () => ask({ what: "edit" }, webhook) },
      enabled ? { label: words.turnOff, run: turnOff } : { label: words.turnOn, run: () => ask({ what: "turnOn" }, webhook) },
      { label: words.replay, run: () => ask({ what: "replay", after: deliveredPosition ?? 0 }, webhook) },
      { label: words.newSecret, run: () => ask({ what: "rotate" }, webhook) },
      { label: words.delete, run: () => ask({ what: "delete" }, webhook), isDangerous: true },
    ];
  };
}
