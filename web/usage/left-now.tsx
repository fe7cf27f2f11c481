import { Progress } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Schemas } from "../calls/store.ts";
import { Waiting } from "../frame/waiting.tsx";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { Section } from "../parts/page-header.tsx";
import { formatNumber, formatTime, texts } from "../texts/texts.ts";
import { durationText, useNow } from "./countdown.ts";
import { standingQuery } from "./queries.ts";
import styles from "./usage.module.css";

type Window = Schemas["Account"]["minute"];

/** What is left of the account's minute and day, and when they begin anew. */
export function LeftNow(): ReactNode {
  const { data, error, refetch } = useQuery(standingQuery);
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
  const part = limit === 0 ? 1 : used / limit;
  const color = part >= 1 ? "var(--bar-over)" : part >= 0.8 ? "var(--bar-near)" : "var(--bar-fine)";
  return (
    <div className={styles.card}>
      <h3 className={styles.cardTitle}>{title}</h3>
      <p className={styles.figure}>
        <strong>{formatNumber(remaining)}</strong> {texts.usage.leftOf(formatNumber(limit))}
      </p>
      <Progress color={color} value={Math.min(100, part * 100)} aria-label={`${title}: ${texts.usage.used(formatNumber(used))}`} />
      <p className={styles.small}>
        {texts.usage.used(formatNumber(used))} · <Reset at={resetAt} />
      </p>
    </div>
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
