import { TextInput } from "@mantine/core";
import type { ReactNode } from "react";
import { Refusal } from "../calls/refusal.ts";
import { CallForm, useCallForm } from "../parts/call-form.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { notify } from "../parts/notices.ts";
import { texts } from "../texts/texts.ts";
import { ProofRecords } from "./dns-records.tsx";
import { addDomain } from "./queries.ts";
import type { Domain } from "./state.ts";

const words = texts.domains;
type Props = { projectId: number; onAdded: (domain: Domain) => void; onClose: () => void };

/** A dialog to add a domain to a project (specification 5.1). */
export function AddDomainDialog({ projectId, onAdded, onClose }: Props): ReactNode {
  const form = useCallForm({
    initial: { hostname: "" },
    send: ({ hostname }) => addDomain(projectId, hostname),
    onDone: (domain) => {
      notify(words.added(domain.hostname));
      onAdded(domain);
    },
    afterwards: onClose,
  });
  return (
    <Dialog title={words.addTitle} onClose={onClose}>
      <CallForm form={form} submit={words.add} onCancel={onClose}>
        <TextInput
          label={words.hostname}
          description={words.hostnameHint}
          placeholder="www.example.com"
          required
          inputMode="url"
          autoCapitalize="none"
          autoComplete="off"
          spellCheck={false}
          data-autofocus
          {...form.text("hostname")}
        />
        {form.error instanceof Refusal && form.error.challenge && <ProofRecords record={form.error.challenge} />}
      </CallForm>
    </Dialog>
  );
}
