import { NativeSelect } from "@mantine/core";
import type { ReactNode } from "react";
import { CallForm, useCallForm } from "../parts/call-form.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { notify } from "../parts/notices.ts";
import { domainsTexts as words } from "../texts/en-domains.ts";
import styles from "./domains.module.css";
import { updateDomain } from "./queries.ts";
import { isRedirectWaiting, type Domain } from "./state.ts";

type Props = { domain: Domain; domains: readonly Domain[]; onDone: () => void; onClose: () => void };

/** Redirects a domain to another one of the project (specification 5.9). */
export function RedirectDialog({ domain, domains, onDone, onClose }: Props): ReactNode {
  const targets = domains.filter(({ hostname, redirect }) => redirect === null && hostname !== domain.hostname);
  return (
    <Dialog title={words.redirectTitle(domain.hostname)} onClose={onClose}>
      {targets.length === 0 ? (
        <p>{words.noTargets}</p>
      ) : (
        <RedirectForm domain={domain} targets={targets.map(({ hostname }) => hostname)} onDone={onDone} onClose={onClose} />
      )}
    </Dialog>
  );
}

type FormProps = { domain: Domain; targets: string[]; onDone: () => void; onClose: () => void };

function RedirectForm({ domain, targets, onDone, onClose }: FormProps): ReactNode {
  const { hostname, redirect } = domain;
  const initialTarget = redirect && targets.includes(redirect.to) ? redirect.to : targets[0];
  const form = useCallForm({
    // The service reports a refused target at `body.redirect`, so the field is `redirect`.
    initial: { redirect: initialTarget ?? "", status: String(redirect?.status ?? 301) },
    send: ({ redirect: to, status }) =>
      updateDomain(domain, { redirect: { to, status: Number(status) as NonNullable<Domain["redirect"]>["status"] } }),
    onDone: (changed, { redirect: to }) => {
      notify(isRedirectWaiting(changed) ? words.redirectLater(hostname, to) : words.redirected(hostname, to));
      onDone();
    },
    afterwards: onClose,
  });
  const statuses = Object.entries(words.statuses).map(([value, label]) => ({ value, label }));
  return (
    <CallForm form={form} submit={words.saveRedirect} onCancel={onClose}>
      <p className={styles.hint}>{words.redirectLead}</p>
      <NativeSelect mt="sm" label={words.to} description={words.toHint} data={targets} data-autofocus {...form.text("redirect")} />
      <NativeSelect mt="sm" label={words.status} data={statuses} {...form.text("status")} />
    </CallForm>
  );
}
