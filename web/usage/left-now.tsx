import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Schemas } from "../calls/store.ts";
import { Waiting } from "../frame/waiting.tsx";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { useNow } from "../parts/now.ts";
import { Section } from "../parts/page-header.tsx";
import { formatNumber, formatTime, texts } from "../texts/texts.ts";
import { durationText } from "./countdown.ts";
import { polledAccountQuery } from "./queries.ts";
import { QuotaCard } from "./quota-card.tsx";
import styles from "./usage.module.css";

type Window = Schemas["Account"]["minute"];

/** The requests left this minute and today, and when each limit resets. */
export function LeftNow(): ReactNode {
  const { data, error, refetch } = useQuery(polledAccountQuery);
  return (
    <Section title={texts.usage.leftTitle}>
      <ErrorPanel error={error} onRetry={() => void refetch()} />
      {data && (
        <div className={styles.cards}>
          <WindowCard title={texts.usage.minute} window={data.minute} />
          <WindowCard title={texts.usage.day} window={data.day} />
        </div>
      )}
      {!data && !error && <Waiting lines={4} />}
    </Section>
  );
}

function WindowCard({ title, window: { limit, used, remaining, resetAt } }: { title: string; window: Window }): ReactNode {
  return (
    <QuotaCard
      title={title}
      limit={limit}
      used={used}
      left={formatNumber(remaining)}
      ofLimit={texts.usage.leftOf(formatNumber(limit))}
      usedText={texts.usage.used(formatNumber(used))}
    >
      <Reset at={resetAt} />
    </QuotaCard>
  );
}

function Reset({ at }: { at: string }): ReactNode {
  const moment = new Date(at);
  const duration = durationText(moment.getTime() - useNow());
  return (
    <time dateTime={at} role="timer" aria-live="off">
      {duration === undefined ? texts.usage.resetsNow : texts.usage.resetsIn(duration, formatTime(moment))}
    </time>
  );
}
