import { Checkbox, TextInput } from "@mantine/core";
import type { ReactNode } from "react";
import { Refusal } from "../calls/refusal.ts";
import { CallForm, useCallForm } from "../parts/call-form.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { errorLine } from "../parts/error-line.ts";
import { notify } from "../parts/notices.ts";
import { domainsTexts as words } from "../texts/en-domains.ts";
import { ProofRecordFields } from "./dns-records.tsx";
import { addDomains } from "./queries.ts";
import { partnerOf, type Domain, type Partner } from "./state.ts";

type Props = { projectId: number; onAdded: (domain: Domain) => void; onClose: () => void };

/** A dialog to add a domain to a project (specification 5.1). */
export function AddDomainDialog({ projectId, onAdded, onClose }: Props): ReactNode {
  const form = useCallForm({
    initial: { hostname: "", withWww: true, withApex: false },
    send: ({ hostname, ...chosen }) => addDomains(projectId, hostname, chosenPartner(partnerOf(hostname), chosen)?.hostname),
    onDone: ({ domain, partner, failed }) => {
      notify(partner === undefined ? words.added(domain.hostname) : words.addedBoth(domain.hostname, partner.hostname));
      if (failed !== undefined) notify(words.partnerFailed(failed.hostname, errorLine(failed.error)), { isFailure: true });
      onAdded(domain);
      if (partner !== undefined) onAdded(partner);
    },
    afterwards: onClose,
  });
  const partner = partnerOf(form.values.hostname);
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
        {partner && <PartnerChoice partner={partner} {...form.choice(partner.isWww ? "withWww" : "withApex")} />}
        {form.error instanceof Refusal && form.error.challenge && <ProofRecordFields record={form.error.challenge} />}
      </CallForm>
    </Dialog>
  );
}

/** Returns the partner if its box is ticked. Only `www` is ticked by default: every provider has CNAME records, but many lack ALIAS records. */
function chosenPartner(partner: Partner | undefined, { withWww, withApex }: { withWww: boolean; withApex: boolean }): Partner | undefined {
  return (partner?.isWww ? withWww : withApex) ? partner : undefined;
}

type ChoiceProps = { partner: Partner; name: string; value: boolean; onChange: (isChosen: boolean) => void };

/** Offers the other form of the name, with a redirect. */
function PartnerChoice({ partner, name, value, onChange }: ChoiceProps): ReactNode {
  return (
    <Checkbox
      mt="sm"
      name={name}
      label={words.withPartner(partner.hostname)}
      description={partner.isWww ? words.partnerWww : words.partnerApex}
      checked={value}
      onChange={({ currentTarget }) => onChange(currentTarget.checked)}
    />
  );
}
