import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Waiting } from "../frame/waiting.tsx";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { Section } from "../parts/page-header.tsx";
import { formatBytes, formatNumber, texts } from "../texts/texts.ts";
import { polledAccountQuery } from "./queries.ts";
import { QuotaCard } from "./quota-card.tsx";
import styles from "./usage.module.css";

/** The account's storage and its limits. */
export function Stored(): ReactNode {
  const { data, error, refetch } = useQuery(polledAccountQuery);
  return (
    <Section title={texts.usage.storedTitle} lead={texts.usage.storedLead}>
      <ErrorPanel error={error} onRetry={() => void refetch()} />
      {data && (
        <div className={styles.cards}>
          <StoredCard title={texts.usage.records} use={data.records} format={formatNumber}>
            {texts.usage.recordsAre}
          </StoredCard>
          <StoredCard title={texts.usage.publishedFiles} use={data.publishedBytes} format={formatBytes}>
            {texts.usage.publishedFilesAre}
          </StoredCard>
          <StoredCard title={texts.usage.history} use={data.eventBytes} format={formatBytes} makesRoom>
            {texts.usage.historyIs}
          </StoredCard>
        </div>
      )}
      {!data && !error && <Waiting lines={4} />}
    </Section>
  );
}

type StoredCardProps = {
  title: string;
  use: { limit: number; used: number; remaining: number };
  format: (amount: number) => string;
  /** Whether the oldest makes room for what is new once it is full. */
  makesRoom?: boolean;
  children: ReactNode;
};

function StoredCard({ title, use, format, makesRoom = false, children }: StoredCardProps): ReactNode {
  return (
    <QuotaCard
      title={title}
      {...use}
      refusesMore={!makesRoom}
      left={format(use.remaining)}
      ofLimit={texts.usage.roomOf(format(use.limit))}
      usedText={texts.usage.stored(format(use.used))}
    >
      {children}
    </QuotaCard>
  );
}
