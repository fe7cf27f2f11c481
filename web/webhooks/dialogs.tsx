import { Radio, Stack, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { numberIn } from "../calls/send.ts";
import { CallForm, useCallForm } from "../parts/call-form.tsx";
import { ConfirmDialog } from "../parts/confirm-dialog.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { notify } from "../parts/notices.ts";
import { webhooksTexts as words } from "../texts/en-webhooks.ts";
import { deleteWebhook, replay, rereadWebhooks, rotateSecret, turnOn, type Webhook } from "./queries.ts";
import { SecretDialog } from "./secret-dialog.tsx";
import { EditWebhookDialog } from "./webhook-form.tsx";
import styles from "./webhooks.module.css";

export type Asked = { what: "edit" | "turnOn" | "rotate" | "delete" } | { what: "replay"; after: number };
type Props = { webhook: Webhook; onClose: () => void };

/** The dialog for an action. `onDeleted` is called once the endpoint is deleted. */
export function WebhookDialog({ asked, onDeleted, ...props }: Props & { asked: Asked; onDeleted?: () => void }): ReactNode {
  if (asked.what === "edit") return <EditWebhookDialog {...props} />;
  if (asked.what === "turnOn") return <TurnOnDialog {...props} />;
  if (asked.what === "rotate") return <RotateDialog {...props} />;
  if (asked.what === "replay") return <ReplayDialog {...props} after={asked.after} />;
  return <DeleteDialog {...props} onDeleted={onDeleted} />;
}

function TurnOnDialog({ webhook: { id, deliveredPosition }, onClose }: Props): ReactNode {
  const client = useQueryClient();
  const form = useCallForm<{ from: string }, void>({
    initial: { from: deliveredPosition === null ? "stopped" : "success" },
    send: ({ from }) => turnOn(id, from === "success" ? (deliveredPosition ?? undefined) : undefined),
    onDone: () => {
      notify(words.turnedOn);
      void rereadWebhooks(client);
    },
    afterwards: onClose,
  });
  return (
    <Dialog title={words.turnOnTitle} onClose={onClose}>
      <CallForm form={form} submit={words.turnOnAction} onCancel={onClose}>
        <Radio.Group label={words.turnOnText} value={form.values.from} onChange={(from) => form.set("from", from)}>
          <Stack gap="sm" mt="xs">
            {deliveredPosition !== null && <Radio value="success" label={words.sinceSuccess} description={words.sinceSuccessHint} />}
            <Radio value="stopped" label={words.whereStopped} description={words.whereStoppedHint} />
          </Stack>
        </Radio.Group>
      </CallForm>
    </Dialog>
  );
}

function ReplayDialog({ webhook: { id }, after, onClose }: Props & { after: number }): ReactNode {
  const client = useQueryClient();
  const form = useCallForm<{ after: string }, Webhook>({
    initial: { after: String(after) },
    send: (values) => replay(id, numberIn(values.after)),
    onDone: () => {
      notify(words.replayed);
      void rereadWebhooks(client);
    },
    afterwards: onClose,
  });
  return (
    <Dialog title={words.replayTitle} onClose={onClose}>
      <CallForm form={form} submit={words.replayAction} onCancel={onClose}>
        <p className={styles.note}>{words.replayText}</p>
        <TextInput label={words.position} inputMode="numeric" data-autofocus {...form.text("after")} />
      </CallForm>
    </Dialog>
  );
}

function RotateDialog({ webhook: { id }, onClose }: Props): ReactNode {
  const client = useQueryClient();
  const [made, setMade] = useState<Webhook>();
  if (made) return <SecretDialog secret={made.secret ?? ""} isRotated onClose={onClose} />;
  return (
    <ConfirmDialog
      title={words.newSecretTitle}
      action={words.newSecretAction}
      isSafe
      onConfirm={async () => setMade(await rotateSecret(id))}
      onDone={() => void rereadWebhooks(client)}
      onClose={onClose}
      afterwards={() => {}}
    >
      {words.newSecretText}
    </ConfirmDialog>
  );
}

function DeleteDialog({ webhook: { id, url }, onDeleted, onClose }: Props & { onDeleted: (() => void) | undefined }): ReactNode {
  const client = useQueryClient();
  return (
    <ConfirmDialog
      title={words.deleteTitle}
      action={words.deleteAction}
      onConfirm={() => deleteWebhook(id)}
      onDone={() => {
        notify(words.deleted);
        onDeleted?.();
        void rereadWebhooks(client);
      }}
      onClose={onClose}
    >
      <p className={styles.url}>{url}</p>
      {words.deleteText}
    </ConfirmDialog>
  );
}
