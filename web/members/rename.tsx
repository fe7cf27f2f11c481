import { Button, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { ask, type CurrentUser } from "../calls/members.ts";
import { showAnswer } from "../calls/rows.ts";
import { sessionQuery } from "../dashboard/session.ts";
import { CallForm, useCallForm } from "../parts/call-form.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { notify } from "../parts/notices.ts";
import { texts } from "../texts/texts.ts";

const words = texts.account.rename;

/** A button for owners that renames the shop in a dialog. */
export function RenameShop({ name }: { name: string }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button variant="default" onClick={() => setOpen(true)}>
        {words.open}
      </Button>
      {isOpen && <RenameDialog name={name} onClose={() => setOpen(false)} />}
    </>
  );
}

function RenameDialog({ name, onClose }: { name: string; onClose: () => void }): ReactNode {
  const client = useQueryClient();
  const form = useCallForm<{ name: string }, CurrentUser>({
    initial: { name },
    send: (body) => ask("PATCH /account", { body }),
    onDone: (user) => {
      showAnswer(client, sessionQuery.queryKey, user);
      notify(words.done(user.account.name));
    },
    afterwards: onClose,
  });
  return (
    <Dialog title={words.title} onClose={onClose}>
      <CallForm form={form} submit={words.action} onCancel={onClose}>
        <TextInput label={words.name} description={words.hint} maxLength={200} data-autofocus {...form.text("name")} />
      </CallForm>
    </Dialog>
  );
}
