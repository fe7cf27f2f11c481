import { Checkbox, MultiSelect, Stack, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { CallForm, useCallForm, type FormState } from "../parts/call-form.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { notify } from "../parts/notices.ts";
import { webhooksTexts as words } from "../texts/en-webhooks.ts";
import { addWebhook, rereadWebhooks, updateWebhook, type Webhook } from "./queries.ts";
import { SecretDialog } from "./secret-dialog.tsx";
import { chosenOf, entriesOf, typeChoices } from "./types.ts";

type Values = { url: string; types: string[]; description: string; ordered: boolean };

/** A dialog that adds an endpoint and shows its secret once. */
export function AddWebhookDialog({ onClose }: { onClose: () => void }): ReactNode {
  const client = useQueryClient();
  const [made, setMade] = useState<Webhook>();
  const form = useCallForm<Values, Webhook>({
    initial: { url: "", types: [], description: "", ordered: false },
    send: ({ url, types, description, ordered }) => addWebhook({ url: url.trim(), types: entriesOf(types), description, ordered }),
    onDone: (webhook) => {
      setMade(webhook);
      void rereadWebhooks(client);
    },
  });
  if (made) return <SecretDialog secret={made.secret ?? ""} onClose={onClose} />;
  return (
    <Dialog title={words.new} size="lg" onClose={onClose}>
      <CallForm form={form} submit={words.add} onCancel={onClose}>
        <Fields form={form} />
      </CallForm>
    </Dialog>
  );
}

/** A dialog that changes an endpoint. */
export function EditWebhookDialog({ webhook, onClose }: { webhook: Webhook; onClose: () => void }): ReactNode {
  const client = useQueryClient();
  const { id, url, types, description, ordered } = webhook;
  const form = useCallForm<Values, Webhook>({
    initial: { url, types: chosenOf(types), description, ordered },
    send: (values) => updateWebhook(id, { ...values, url: values.url.trim(), types: entriesOf(values.types) }),
    onDone: () => {
      notify(words.saved);
      void rereadWebhooks(client);
    },
    afterwards: onClose,
  });
  return (
    <Dialog title={words.editTitle} size="lg" onClose={onClose}>
      <CallForm form={form} submit={words.save} onCancel={onClose}>
        <Fields form={form} />
      </CallForm>
    </Dialog>
  );
}

function Fields({ form }: { form: FormState<Values> }): ReactNode {
  const choices = typeChoices.map(({ group, all, types }) => ({
    group,
    items: [{ value: all, label: words.groupOf(group) }, ...types.map((type) => ({ value: type, label: type }))],
  }));
  return (
    <Stack gap="md">
      <TextInput label={words.addressLabel} description={words.addressHint} type="url" data-autofocus {...form.text("url")} />
      <TextInput label={words.descriptionLabel} description={words.descriptionHint} maxLength={200} {...form.text("description")} />
      <MultiSelect
        label={words.typesLabel}
        description={words.typesHint}
        data={choices}
        searchable
        clearable
        hidePickedOptions
        {...form.choice("types")}
      />
      <Checkbox
        label={words.orderedLabel}
        description={words.orderedHint}
        checked={form.values.ordered}
        onChange={({ currentTarget }) => form.set("ordered", currentTarget.checked)}
      />
    </Stack>
  );
}
