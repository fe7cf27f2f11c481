import { Button } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Badge, type Tone } from "../parts/badge.tsx";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { Moment } from "../parts/moment.tsx";
import { notify } from "../parts/notices.ts";
import { RowMenu, type RowAction } from "../parts/row-menu.tsx";
import { SiteLink } from "../projects/site-link.tsx";
import { domainsTexts as words } from "../texts/en-domains.ts";
import { Attention } from "./attention.tsx";
import { DnsRecords } from "./dns-records.tsx";
import { DomainSteps } from "./domain-steps.tsx";
import styles from "./domains.module.css";
import { Problems } from "./problems.tsx";
import { updateDomain, verifyDomain } from "./queries.ts";
import { ShareLink } from "./share-link.tsx";
import { isSuspended, isUnsettled, stateOf, visitUrl, type Domain, type DomainState } from "./state.ts";

const tones: Record<DomainState, Tone> = {
  suspended: "bad",
  lost: "bad",
  pending: "busy",
  certificate: "busy",
  certificateFailed: "busy",
  failing: "bad",
  attention: "bad",
  redirectWaits: "busy",
  active: "good",
};

type Props = {
  domain: Domain;
  projectUrl: string;
  onChanged: (domain: Domain) => void;
  /** Called when a change of this domain may have changed others. */
  onReread: () => void;
  onRedirect: () => void;
  onRemove: () => void;
};

/** A domain with its state, its problems, its actions and its DNS record. */
export function DomainCard({ domain, projectUrl, onChanged, onReread, onRedirect, onRemove }: Props): ReactNode {
  const { hostname, status, serving, certificate } = domain;
  const state = stateOf(domain);
  const isStopped = isSuspended(domain);
  const problems = isStopped ? domain.problems.filter(({ code }) => code === "plan_required") : domain.problems;
  const address = serving.what === "nothing" ? undefined : visitUrl(domain, projectUrl);
  const verifying = useVerifying(domain, onChanged);
  const changing = useChanging(domain, onReread);
  const isUnverified = status === "pending";
  return (
    <article className={styles.card} aria-label={hostname}>
      <div className={styles.head}>
        <h3 className={styles.name}>{address === undefined ? hostname : <SiteLink url={address}>{hostname}</SiteLink>}</h3>
        <Badges domain={domain} state={state} projectUrl={projectUrl} />
        <div className={styles.actions}>
          {!isStopped && (
            <Button
              size="xs"
              variant={isUnsettled(domain) ? "filled" : "default"}
              loading={verifying.isPending}
              aria-label={isUnverified ? words.verifyOf(hostname) : words.reVerifyOf(hostname)}
              onClick={() => verifying.mutate()}
            >
              {isUnverified ? words.verify : words.reVerify}
            </Button>
          )}
          <RowMenu of={hostname} actions={actionsOf(domain, state, (change) => changing.mutate(change), onRedirect, onRemove)} />
        </div>
      </div>
      <Serving domain={domain} />
      {state === "active" && certificate.expiresAt !== null && (
        <p className={styles.validity}>
          {words.validUntil} <Moment at={certificate.expiresAt} />
        </p>
      )}
      <ErrorPanel error={verifying.error ?? changing.error} />
      {problems.length > 0 && <Problems problems={problems} />}
      {!isStopped && domain.attention && <Attention attention={domain.attention} />}
      {isUnsettled(domain) && !isStopped ? (
        <>
          {status !== "verified" && <DnsRecords domain={domain} isToCreate />}
          {status !== "verified" && state !== "lost" && <ShareLink domain={domain} />}
          {state !== "lost" && <DomainSteps domain={domain} />}
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

function useVerifying(domain: Domain, onVerified: (domain: Domain) => void) {
  const { hostname } = domain;
  return useMutation({
    mutationFn: () => verifyDomain(domain),
    onSuccess: (found) => {
      const [problem] = found.problems;
      notify(found.status === "verified" ? words.verifiedNow(hostname) : words.stillWrong(hostname, problem?.message ?? ""));
      onVerified(found);
    },
  });
}

function useChanging(domain: Domain, onChanged: () => void) {
  const { hostname } = domain;
  return useMutation({
    mutationFn: (change: Parameters<typeof updateDomain>[1]) => updateDomain(domain, change),
    onSuccess: (_, change) => {
      if (change.redirect === null) notify(words.endedRedirect(hostname));
      else notify(change.primary ? words.madePrimary(hostname) : words.endedPrimary(hostname));
      onChanged();
    },
  });
}

function Badges({ domain, state, projectUrl }: { domain: Domain; state: DomainState; projectUrl: string }): ReactNode {
  const { hostname, primary, redirect, serving } = domain;
  return (
    <div className={styles.badges}>
      <output>
        <Badge tone={tones[state]}>{words.state[state]}</Badge>
      </output>
      {primary && <Badge tone="plain">{new URL(projectUrl).hostname === hostname ? words.primary : words.primaryLater}</Badge>}
      {redirect && (
        <Badge tone="quiet">{(serving.what === "redirect" ? words.redirects : words.toRedirect)(redirect.to, redirect.status)}</Badge>
      )}
    </div>
  );
}

function actionsOf(
  { status, primary, redirect }: Domain,
  state: DomainState,
  change: (body: Parameters<typeof updateDomain>[1]) => void,
  onRedirect: () => void,
  onRemove: () => void,
): RowAction[] {
  const remove = { label: words.remove, run: onRemove, isDangerous: true };
  if (state === "lost") return [remove];
  const actions: RowAction[] = [];
  if (primary) actions.push({ label: words.endPrimary, run: () => change({ primary: false }) });
  else if (!redirect && status === "verified") actions.push({ label: words.makePrimary, run: () => change({ primary: true }) });
  actions.push({ label: redirect ? words.changeRedirect : words.redirect, run: onRedirect });
  if (redirect) actions.push({ label: words.endRedirect, run: () => change({ redirect: null }) });
  actions.push(remove);
  return actions;
}

/** Says what visitors see now, and the service's reason unless a problem already states it. */
function Serving({ domain: { serving, problems } }: { domain: Domain }): ReactNode {
  const { what, to, reason } = serving;
  const isListed = problems.some(({ message }) => message === reason);
  return (
    <p className={styles.serving}>
      <strong>{what === "redirect" ? words.serving.redirect(to ?? "") : words.serving[what]}</strong>
      {!isListed && <span> {reason}</span>}
    </p>
  );
}
