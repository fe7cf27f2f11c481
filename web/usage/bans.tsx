import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Key } from "../calls/members.ts";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { useNow } from "../parts/now.ts";
import { Section } from "../parts/page-header.tsx";
import { RowsTable, type Column } from "../parts/rows-table.tsx";
import { formatNumber, formatTime, texts } from "../texts/texts.ts";
import { durationText } from "./countdown.ts";
import { polledKeysQuery } from "./queries.ts";
import styles from "./usage.module.css";

const columns: Column<Key>[] = [
  { id: "key", header: texts.usage.key, cell: ({ name }) => name },
  { id: "strikes", header: texts.usage.strikes, isNumeric: true, cell: ({ strikes }) => formatNumber(strikes) },
  { id: "left", header: texts.usage.strikesLeft, isNumeric: true, cell: ({ strikesRemaining }) => formatNumber(strikesRemaining) },
  { id: "state", header: texts.usage.state, cell: (key) => <State of={key} /> },
];

/** The strikes and bans of each key, nearest to a ban first. */
export function Bans(): ReactNode {
  const { data: keys, error, refetch } = useQuery(polledKeysQuery);
  const sorted = keys?.toSorted((a, b) => urgency(b) - urgency(a));
  return (
    <Section title={texts.usage.bansTitle} lead={texts.usage.bansLead}>
      <ErrorPanel error={error} onRetry={() => void refetch()} />
      {sorted?.length === 0 && <p className={styles.small}>{texts.usage.noKeys}</p>}
      {sorted && sorted.length > 0 && <RowsTable label={texts.usage.bansTitle} columns={columns} rows={sorted} keyOf={({ id }) => id} />}
    </Section>
  );
}

function State({ of: { bannedUntil } }: { of: Key }): ReactNode {
  const now = useNow();
  const left = bannedUntil === null ? undefined : durationText(Date.parse(bannedUntil) - now);
  if (bannedUntil === null || left === undefined) return texts.usage.free;
  return <span className={styles.banned}>{texts.usage.banned(left, formatTime(new Date(bannedUntil)))}</span>;
}

function urgency({ bannedUntil, strikes }: Key): number {
  return bannedUntil === null ? strikes : Number.POSITIVE_INFINITY;
}
