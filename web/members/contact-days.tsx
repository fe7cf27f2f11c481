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
import { ordersTexts } from "../texts/en-orders.ts";
import { formatNumber } from "../texts/texts.ts";

const words = ordersTexts.days;

/** A button that shows how long contacts of complete orders are kept, and lets owners change it. */
export function ContactDays(): ReactNode {
  const { account } = useSession();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button size="xs" variant="default" onClick={() => setOpen(true)}>
        {words.open(formatNumber(account.contactDays))}
      </Button>
      {isOpen && <DaysDialog days={account.contactDays} onClose={() => setOpen(false)} />}
    </>
  );
}

function DaysDialog({ days, onClose }: { days: number; onClose: () => void }): ReactNode {
  const client = useQueryClient();
  const form = useCallForm<{ contactDays: string }, CurrentUser>({
    initial: { contactDays: String(days) },
    send: (given) => ask("PATCH /account", { body: { contactDays: numberIn(given.contactDays) } }),
    onDone: (user) => {
      showAnswer(client, sessionQuery.queryKey, user);
      notify(words.done(formatNumber(user.account.contactDays)));
    },
    afterwards: onClose,
  });
  return (
    <Dialog title={words.title} onClose={onClose}>
      <CallForm form={form} submit={words.action} onCancel={onClose}>
        <TextInput label={words.label} description={words.hint} inputMode="numeric" data-autofocus {...form.text("contactDays")} />
      </CallForm>
    </Dialog>
  );
}
