import { Button, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { ask, type CurrentUser } from "../calls/members.ts";
import { showAnswer } from "../calls/rows.ts";
import { numberIn } from "../calls/send.ts";
import { sessionQuery, useSession } from "../dashboard/session.ts";
import { CallForm, useCallForm } from "../parts/call-form.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { notify } from "../parts/notices.ts";
import { lowStockTexts as words } from "../texts/en-low-stock.ts";
import { formatNumber } from "../texts/texts.ts";
import { invalidateStock } from "./queries.ts";

/** A button that shows the count at or below which stock is low, and lets owners change it. Renders nothing for other members. */
export function LowStockMark(): ReactNode {
  const { account, isOwner } = useSession();
  const [isOpen, setOpen] = useState(false);
  if (!isOwner) return null;
  return (
    <>
      <Button mb="lg" size="xs" variant="default" onClick={() => setOpen(true)}>
        {words.open(formatNumber(account.lowStock))}
      </Button>
      {isOpen && <LowStockDialog lowStock={account.lowStock} onClose={() => setOpen(false)} />}
    </>
  );
}

function LowStockDialog({ lowStock, onClose }: { lowStock: number; onClose: () => void }): ReactNode {
  const client = useQueryClient();
  const form = useCallForm<{ lowStock: string }, CurrentUser>({
    initial: { lowStock: String(lowStock) },
    send: (given) => ask("PATCH /account", { body: { lowStock: numberIn(given.lowStock) } }),
    onDone: (user) => {
      showAnswer(client, sessionQuery.queryKey, user);
      invalidateStock(client); // the home page lists low stock
      notify(words.done(formatNumber(user.account.lowStock)));
    },
    afterwards: onClose,
  });
  return (
    <Dialog title={words.title} onClose={onClose}>
      <CallForm form={form} submit={words.action} onCancel={onClose}>
        <TextInput label={words.label} description={words.hint} inputMode="numeric" maw={220} data-autofocus {...form.text("lowStock")} />
      </CallForm>
    </Dialog>
  );
}
