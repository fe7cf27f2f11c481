import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Waiting } from "../frame/waiting.tsx";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { Section } from "../parts/page-header.tsx";
import { formatBytes, formatNumber, texts } from "../texts/texts.ts";
import { standingQuery } from "./queries.ts";
import { QuotaCard } from "./quota-card.tsx";
import styles from "./usage.module.css";

/** The account's storage and its limits. */
export function Stored(): ReactNode {
  const { data, error, refetch } = useQuery(standingQuery);
  return (
    <Section title={texts.usage.storedTitle} lead={texts.usage.storedLead}>
      <ErrorPanel error={error} onRetry={() => void refetch()} />
      {data && (
        <div className={styles.cards}>
          <QuotaCard
            title={texts.usage.records}
            {...data.records}
            left={formatNumber(data.records.remaining)}
            ofLimit={texts.usage.roomOf(formatNumber(data.records.limit))}
            usedText={texts.usage.stored(formatNumber(data.records.used))}
          >
            {texts.usage.recordsAre}
          </QuotaCard>
          <QuotaCard
            title={texts.usage.publishedFiles}
            {...data.publishedBytes}
            left={formatBytes(data.publishedBytes.remaining)}
            ofLimit={texts.usage.roomOf(formatBytes(data.publishedBytes.limit))}
            usedText={texts.usage.stored(formatBytes(data.publishedBytes.used))}
          >
            {texts.usage.publishedFilesAre}
          </QuotaCard>
        </div>
      )}
      {!data && !error && <Waiting lines={4} />}
    </Section>
  );
}
