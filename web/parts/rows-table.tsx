import { Button } from "@mantine/core";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef, useState, type ReactNode } from "react";
import { texts } from "../texts/texts.ts";
import { ErrorPanel } from "./error-panel.tsx";
import styles from "./rows-table.module.css";

export type Column<Row> = {
  id: string;
  header: string;
  cell: (row: Row) => ReactNode;
  /** A CSS width; columns without one share what is left. */
  width?: string;
  isNumeric?: boolean;
  /** Of buttons and menus: its header is only read out. */
  isActions?: boolean;
};

/** What `useInfiniteQuery` tells of further pages. */
export type FurtherRows = {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  isFetchNextPageError: boolean;
  error: Error | null;
  fetchNextPage: () => Promise<unknown>;
};

type Props<Row> = { label: string; columns: Column<Row>[]; rows: Row[]; keyOf: (row: Row) => number | string; further?: FurtherRows };

const rowHeightPx = 53;
/** Rows beyond the window's edge that are there already, so that Tab always has a next one. */
const overscan = 10;
const rowsAhead = 30;

/**
 * Rows of one kind under a header that stays, as cards on a narrow screen. Only the rows near the window are in the page, however many
 * there are; further ones are asked for as the end comes near.
 */
export function RowsTable<Row>({ label, columns, rows, keyOf, further }: Props<Row>): ReactNode {
  const table = useRef<HTMLTableElement>(null);
  const [top, setTop] = useState(0);
  useEffect(() => setTop((table.current?.getBoundingClientRect().top ?? 0) + scrollY), []);
  // oxlint-disable-next-line react/incompatible-library -- nothing here is memoised
  const virtualizer = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => rowHeightPx,
    overscan,
    scrollMargin: top,
    getItemKey: (index) => keyOf(rows[index] as Row),
  });
  const shown = virtualizer.getVirtualItems();
  const before = (shown[0]?.start ?? top) - top;
  const after = virtualizer.getTotalSize() - ((shown.at(-1)?.end ?? top) - top);
  useFurther(further, (shown.at(-1)?.index ?? 0) + rowsAhead >= rows.length);

  return (
    <>
      <table ref={table} className={styles.table} aria-label={label} aria-rowcount={further?.hasNextPage ? -1 : rows.length + 1}>
        <colgroup>
          {columns.map(({ id, width }) => (
            <col key={id} style={width === undefined ? undefined : { width }} />
          ))}
        </colgroup>
        <thead>
          <tr aria-rowindex={1}>
            {columns.map(({ id, header, isNumeric, isActions }) => (
              <th key={id} scope="col" className={isNumeric ? styles.numeric : undefined}>
                <span className={isActions ? styles.readOnly : undefined}>{header}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <Gap height={before} columns={columns.length} />
          {shown.map(({ index, key }) => (
            <tr key={key} data-index={index} ref={virtualizer.measureElement} aria-rowindex={index + 2}>
              {columns.map(({ id, header, cell, isNumeric, isActions }) => (
                <td
                  key={id}
                  data-label={isActions ? undefined : header}
                  className={isActions ? styles.actions : isNumeric ? styles.numeric : undefined}
                >
                  {cell(rows[index] as Row)}
                </td>
              ))}
            </tr>
          ))}
          <Gap height={after} columns={columns.length} />
        </tbody>
      </table>
      {further && <More {...further} />}
    </>
  );
}

function useFurther(further: FurtherRows | undefined, isNearEnd: boolean): void {
  const isWanted = isNearEnd && further?.hasNextPage && !further.isFetchingNextPage && !further.isFetchNextPageError;
  useEffect(() => {
    if (isWanted) void further?.fetchNextPage();
  });
}

function Gap({ height, columns }: { height: number; columns: number }): ReactNode {
  if (height <= 0) return null;
  return (
    <tr className={styles.gap} aria-hidden>
      {/* oxlint-disable-next-line jsx-a11y/control-has-associated-label -- the place of rows that are not in the page */}
      <td colSpan={columns} style={{ height }} />
    </tr>
  );
}

function More({ hasNextPage, isFetchingNextPage, isFetchNextPageError, error, fetchNextPage }: FurtherRows): ReactNode {
  if (!hasNextPage) return null;
  return (
    <div className={styles.more}>
      {isFetchNextPageError && <ErrorPanel error={error} />}
      <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
        {texts.dashboard.more}
      </Button>
    </div>
  );
}
