import { Button } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { Moment } from "../parts/moment.tsx";
import { notify } from "../parts/notices.ts";
import { RowMenu, type RowAction } from "../parts/row-menu.tsx";
import { SiteLink } from "../projects/site-link.tsx";
import { StateBadge, type Tone } from "../projects/state-badge.tsx";
import { texts } from "../texts/texts.ts";
import { Attention } from "./attention.tsx";
import { DnsRecords } from "./dns-records.tsx";
import { DomainSteps } from "./domain-steps.tsx";
import styles from "./domains.module.css";
import { Problems } from "./problems.tsx";
import { updateDomain, verifyDomain } from "./queries.ts";
import { isUnsettled, stateOf, visitUrl, type Domain, type DomainState } from "./state.ts";

const words = texts.domains;
const tones: Record<DomainState, Tone> = {
  suspended: "bad",
  pending: "busy",
  certificate: "busy",
  certificateFailed: "busy",
  failing: "bad",
  attention: "bad",
  active: "good",
};

type Props = {
  domain: Domain;
  projectUrl: string;
  isSuspended: boolean;
  onChanged: (domain: Domain) => void;
  /** Called when other domains may have changed with this one. */
  onReread: () => void;
  onRedirect: () => void;
  onRemove: () => void;
};

/** A domain: how it stands, what to do about it, and the record that it needs. */
export function DomainCard({ domain, projectUrl, isSuspended, onChanged, onReread, onRedirect, onRemove }: Props): ReactNode {
  const { hostname, status, primary, redirect, problems, certificate } = domain;
  const state = stateOf(domain, isSuspended);
  const verifying = useMutation({
    mutationFn: () => verifyDomain(domain),
    onSuccess: (found) => {
      const [problem] = found.problems;
      notify(found.status === "verified" ? words.verifiedNow(hostname) : words.stillWrong(hostname, problem?.message ?? ""));
      onChanged(found);
    },
  });
  const changing = useMutation({
    mutationFn: (change: Parameters<typeof updateDomain>[1]) => updateDomain(domain, change),
    onSuccess: (_, { primary: isMadePrimary }) => {
      notify(isMadePrimary ? words.madePrimary(hostname) : words.endedRedirect(hostname));
      onReread();
    },
  });
  const isFirst = status === "pending";
  return (
    <article className={styles.card} aria-label={hostname}>
      <div className={styles.head}>
        <h3 className={styles.name}>
          {state === "active" ? <SiteLink url={visitUrl(hostname, projectUrl)}>{hostname}</SiteLink> : hostname}
        </h3>
        <div className={styles.badges}>
          <output>
            <StateBadge tone={tones[state]}>{words.state[state]}</StateBadge>
          </output>
          {primary && <StateBadge tone="plain">{words.primary}</StateBadge>}
          {redirect && <StateBadge tone="quiet">{words.redirects(redirect.to, redirect.status)}</StateBadge>}
        </div>
        <div className={styles.actions}>
          {!isSuspended && (
            <Button
              size="xs"
              variant={isUnsettled(domain) ? "filled" : "default"}
              loading={verifying.isPending}
              aria-label={isFirst ? words.verifyOf(hostname) : words.reVerifyOf(hostname)}
              onClick={() => verifying.mutate()}
            >
              {isFirst ? words.verify : words.reVerify}
            </Button>
          )}
          <RowMenu of={hostname} actions={actionsOf(domain, (change) => changing.mutate(change), onRedirect, onRemove)} />
        </div>
      </div>
      {state === "active" && certificate.expiresAt !== null && (
        <p className={styles.validity}>
          {words.validUntil} <Moment at={certificate.expiresAt} />
        </p>
      )}
      <ErrorPanel error={verifying.error ?? changing.error} />
      {!isSuspended && problems.length > 0 && <Problems problems={problems} />}
      {!isSuspended && domain.attention && <Attention attention={domain.attention} />}
      {isUnsettled(domain) && !isSuspended ? (
        <>
          {status !== "verified" && <DnsRecords domain={domain} isToCreate />}
          <DomainSteps domain={domain} />
        </>
      ) : (
        <details className={styles.more}>
          <summary>{words.details}</summary>
          <DnsRecords domain={domain} isToCreate={false} />
          <DomainSteps domain={domain} />
        </details>
      )}
    </article>
  );
}

function actionsOf(
  { primary, redirect }: Domain,
  change: (body: Parameters<typeof updateDomain>[1]) => void,
  onRedirect: () => void,
  onRemove: () => void,
): RowAction[] {
  const actions: RowAction[] = [];
  if (!primary && !redirect) actions.push({ label: words.makePrimary, run: () => change({ primary: true }) });
  actions.push({ label: redirect ? words.changeRedirect : words.redirect, run: onRedirect });
  if (redirect) actions.push({ label: words.endRedirect, run: () => change({ redirect: null }) });
  actions.push({ label: words.remove, run: onRemove, isDangerous: true });
  return actions;
}
