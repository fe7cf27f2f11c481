import { useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ConfirmDialog } from "../parts/confirm-dialog.tsx";
import { notify } from "../parts/notices.ts";
import { texts } from "../texts/texts.ts";
import { changeOrder, deleteOrder, cacheDeletedOrder, cacheOrder, type Order } from "./queries.ts";

const words = texts.store.orders;

/** Asks before an order is fulfilled, which is final. */
export function FulfilDialog({ order, onClose }: { order: Order; onClose: () => void }): ReactNode {
  const client = useQueryClient();
  return (
    <ConfirmDialog
      title={words.fulfilTitle(order.id)}
      action={words.fulfil}
      isSafe
      onConfirm={async () => cacheOrder(client, await changeOrder(order, { complete: true }))}
      onDone={() => notify(words.fulfilled(order.id))}
      onClose={onClose}
    >
      {words.fulfilText}
    </ConfirmDialog>
  );
}

/** Asks before an order is deleted. */
export function CancelDialog({ order, onClose }: { order: Order; onClose: () => void }): ReactNode {
  const client = useQueryClient();
  return (
    <ConfirmDialog
      title={words.cancelTitle(order.id)}
      action={words.cancel}
      keep={words.keep}
      onConfirm={() => deleteOrder(order.id)}
      onDone={() => {
        notify(words.cancelled(order.id));
        cacheDeletedOrder(client, order.id);
      }}
      onClose={onClose}
    >
      {words.cancelText}
    </ConfirmDialog>
  );
}
