import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Waiting } from "../frame/waiting.tsx";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { Section } from "../parts/page-header.tsx";
import { formatBytes, formatNumber, texts } from "../texts/texts.ts";
import styles from "./account.module.css";
import { accountQuery } from "./queries.ts";

/** The plan of the account and its limits. */
export function Plan(): ReactNode {
  const { data, error, refetch } = useQuery(accountQuery);
  return (
    <Section title={texts.account.planTitle} lead={texts.account.planLead}>
      <ErrorPanel error={error} onRetry={() => void refetch()} />
      {data ? (
        <dl className={styles.facts}>
          <Fact name={texts.account.plan} value={texts.dashboard.plans[data.plan]} />
          <Fact name={texts.account.perMinute} value={formatNumber(data.minute.limit)} />
          <Fact name={texts.account.perDay} value={formatNumber(data.day.limit)} />
          <Fact name={texts.account.records} value={formatNumber(data.records.limit)} />
          <Fact name={texts.account.publishedFiles} value={formatBytes(data.publishedBytes.limit)} />
          <Fact name={texts.account.history} value={formatBytes(data.eventBytes.limit)} />
        </dl>
      ) : (
        !error && <Waiting lines={2} />
      )}
    </Section>
  );
}

function Fact({ name, value }: { name: string; value: string }): ReactNode {
  return (
    <div className={styles.fact}>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}
