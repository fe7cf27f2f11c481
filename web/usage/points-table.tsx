import { useState, type ReactNode } from "react";
import { Moment } from "../parts/moment.tsx";
import { RowsTable, type Column } from "../parts/rows-table.tsx";
import { formatNumber, texts } from "../texts/texts.ts";
import { totalOf, type Bar } from "./series.ts";
import styles from "./usage.module.css";

const columns: Column<Bar>[] = [
  { id: "start", header: texts.usage.start, cell: ({ start }) => <Moment at={new Date(start).toISOString()} /> },
  { id: "passed", header: texts.usage.passed, isNumeric: true, cell: ({ requests }) => formatNumber(requests) },
  { id: "refused", header: texts.usage.refused, isNumeric: true, cell: ({ refused }) => formatNumber(refused) },
  { id: "banned", header: texts.usage.bannedRequests, isNumeric: true, cell: ({ banned }) => formatNumber(banned) },
];

/** The chart's numbers as a table, latest first, without the intervals that had no requests. */
export function PointsTable({ bars }: { bars: Bar[] }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const rows = bars.filter((bar) => totalOf(bar) > 0).toReversed();
  if (rows.length === 0) return null;
  return (
    <details className={styles.table} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{texts.usage.asTable}</summary>
      {isOpen && <RowsTable label={texts.usage.chartTitle} columns={columns} rows={rows} keyOf={({ start }) => start} />}
    </details>
  );
}
