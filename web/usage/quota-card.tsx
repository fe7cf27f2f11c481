import { Progress } from "@mantine/core";
import type { ReactNode } from "react";
import styles from "./usage.module.css";

type Props = {
  title: string;
  limit: number;
  used: number;
  /** The amount left, and the limit, as text. */
  left: string;
  ofLimit: string;
  usedText: string;
  /** Whether more is refused at the limit. */
  refusesMore?: boolean;
  children: ReactNode;
};

/** How much of a limit is left, as a figure and as a bar. */
export function QuotaCard({ title, limit, used, left, ofLimit, usedText, refusesMore = true, children }: Props): ReactNode {
  const part = limit === 0 ? 1 : used / limit;
  const color = part >= 1 && refusesMore ? "var(--bar-over)" : part >= 0.8 ? "var(--bar-near)" : "var(--bar-fine)";
  return (
    <div className={styles.card}>
      <h3 className={styles.cardTitle}>{title}</h3>
      <p className={styles.figure}>
        <strong>{left}</strong> {ofLimit}
      </p>
      <Progress color={color} value={Math.min(100, part * 100)} aria-label={`${title}: ${usedText}`} />
      <p className={styles.small}>
        {usedText} · {children}
      </p>
    </div>
  );
}
