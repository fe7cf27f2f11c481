import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { Section } from "../parts/page-header.tsx";
import { formatNumber, texts } from "../texts/texts.ts";
import styles from "./home.module.css";
import { figuresQuery, type Figure } from "./queries.ts";

const words = texts.home;

/** The orders of the last 7 days, compared with the 7 days before. Renders nothing for a shop without any. */
export function Figures(): ReactNode {
  const { data, error, refetch } = useQuery(figuresQuery);
  if (data && [data.placed, data.fulfilled].every(({ now, before }) => now + before === 0)) return null;
  return (
    <Section title={words.figures}>
      <ErrorPanel error={data ? null : error} onRetry={() => void refetch()} />
      {data && (
        <dl className={styles.figures}>
          <FigureCard label={words.placed} figure={data.placed} />
          <FigureCard label={words.fulfilled} figure={data.fulfilled} />
        </dl>
      )}
      {data?.isWhole === false && <p className={styles.quiet}>{words.tooMany}</p>}
    </Section>
  );
}

function FigureCard({ label, figure: { now, before } }: { label: string; figure: Figure }): ReactNode {
  const trend = now > before ? words.more(formatNumber(now - before)) : now < before ? words.fewer(formatNumber(before - now)) : words.same;
  return (
    <div className={styles.figure}>
      <dt>{label}</dt>
      <dd>
        <strong>{formatNumber(now)}</strong>
        <span>{trend}</span>
      </dd>
    </div>
  );
}
