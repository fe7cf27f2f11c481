import type { ReactNode } from "react";
import { Moment } from "../parts/moment.tsx";
import { domainsTexts } from "../texts/en-domains.ts";
import styles from "./domain-steps.module.css";
import { hasNoAuthority, reservedUntil, stepsOf, type Domain, type StepState } from "./state.ts";

const words = domainsTexts.steps;

/** The steps from adding a domain to its certificate, and what happens next (specification 5.5 and 5.7). */
export function DomainSteps({ domain }: { domain: Domain }): ReactNode {
  const steps = stepsOf(domain);
  return (
    <ol className={styles.steps} aria-label={words.title}>
      <Step name={words.added} state={steps.added}>
        <Moment at={domain.createdAt} />
      </Step>
      <Step name={words.dns} state={steps.dns}>
        <DnsStep domain={domain} />
      </Step>
      <Step name={words.certificate} state={steps.certificate}>
        <CertificateStep domain={domain} state={steps.certificate} />
      </Step>
    </ol>
  );
}

function Step({ name, state, children }: { name: string; state: StepState; children: ReactNode }): ReactNode {
  return (
    <li className={styles.step} data-state={state} aria-current={state === "current" ? "step" : undefined}>
      <span className={styles.stepName}>
        {name}
        <span className={styles.readOnly}>, {words[state]}</span>
      </span>
      <span className={styles.stepText}>{children}</span>
    </li>
  );
}

function DnsStep({ domain }: { domain: Domain }): ReactNode {
  const { status, verifiedAt, nextCheckAt } = domain;
  const next = nextCheckAt !== null && (
    <span>
      {words.nextCheck} <Moment at={nextCheckAt} />
    </span>
  );
  if (status === "verified") return verifiedAt !== null && <Moment at={verifiedAt} />;
  if (status === "failing")
    return (
      <>
        <span>{words.stillServed}</span>
        {verifiedAt !== null && (
          <span>
            {words.lastRight} <Moment at={verifiedAt} />
          </span>
        )}
        {next}
      </>
    );
  if (nextCheckAt === null) return words.notChecked;
  return (
    <>
      <span>{words.dnsWait}</span>
      {next}
      <span>
        {words.until} <Moment at={new Date(reservedUntil(domain)).toISOString()} />
      </span>
    </>
  );
}

function CertificateStep({ domain, state }: { domain: Domain; state: StepState }): ReactNode {
  const { certificate, status } = domain;
  const { expiresAt, issuedAt, problem, retryAt } = certificate;
  if (hasNoAuthority(domain)) return words.noCertificates;
  return (
    <>
      {state === "ahead" && <span>{words.certificateLater}</span>}
      {(state === "ahead" || state === "current") && <span>{words.certificateSoon}</span>}
      {problem !== null && <span>{problem}</span>}
      {retryAt !== null && (
        <span>
          {words.retry} <Moment at={retryAt} />
        </span>
      )}
      {issuedAt !== null && expiresAt !== null && (
        <span>
          {status === "failing" ? words.validOnlyUntil : words.renewedBefore} <Moment at={expiresAt} />
        </span>
      )}
    </>
  );
}
