import { Button } from "@mantine/core";
import { useEffect, useRef, type ReactNode } from "react";
import type { PagedRows } from "../calls/lists.ts";
import { texts } from "../texts/texts.ts";
import { ErrorPanel } from "./error-panel.tsx";
import styles from "./rows-table.module.css";
import { useFocusAfterRemoval } from "./use-focus-return.ts";
import { useRowWindow } from "./use-row-window.ts";

export type Column<Row> = {
  id: string;
  header: string;
  cell: (row: Row) => ReactNode;
  /** A CSS width; columns without one share the remaining width. */
  width?: string;
  isNumeric?: boolean;
  /** The column holds buttons or menus: its header is visible to screen readers only. */
  isActions?: boolean;
};

type Props<Row> = { label: string; columns: Column<Row>[]; rows: readonly Row[] | PagedRows<Row>; keyOf: (row: Row) => number | string };

const rowPx = 53;
const rowsAhead = 30;

/**
 * A table with a sticky header, shown as cards on a narrow screen. Only the rows near the window are in the document. Further rows are
 * requested as the end comes near, and dropped rows when they are visible again.
 */
export function RowsTable<Row>({ label, columns, rows, keyOf }: Props<Row>): ReactNode {
  const table = useRef<HTMLTableElement>(null);
  const paged = "pageOf" in rows ? rows : wholeOf(rows);
  const { count, isWhole, failure } = paged;
  const shown = useRowWindow(table, count, rowPx);
  useEffect(() => paged.show(shown.first, shown.last + rowsAhead));
  useFocusAfterRemoval(count);
  const indexes = Array.from({ length: shown.last - shown.first }, (_, offset) => shown.first + offset);
  const missing = indexes.find((index) => paged.at(index) === undefined);

  return (
    <>
      <table ref={table} className={styles.table} aria-label={label} aria-rowcount={isWhole ? count + 1 : -1}>
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
          <Gap height={shown.before} columns={columns.length} />
          {indexes.map((index) => {
            const row = paged.at(index);
            if (row === undefined)
              return (
                <tr key={`missing ${index}`} data-index={index} aria-rowindex={index + 2} className={styles.missing}>
                  <td colSpan={columns.length} style={{ height: shown.rowPx }}>
                    {index === missing && failure && <Failure {...failure} />}
                  </td>
                </tr>
              );
            return (
              <tr key={`${paged.pageOf(index)} ${keyOf(row)}`} data-index={index} aria-rowindex={index + 2}>
                {columns.map(({ id, header, cell, isNumeric, isActions }) => (
                  <td
                    key={id}
                    data-label={isActions ? undefined : header}
                    className={isActions ? styles.actions : isNumeric ? styles.numeric : undefined}
                  >
                    {cell(row)}
                  </td>
                ))}
              </tr>
            );
          })}
          <Gap height={shown.after} columns={columns.length} />
        </tbody>
      </table>
      {!isWhole && <More rows={paged} isFailed={missing === undefined && failure !== undefined} />}
    </>
  );
}

/** Wraps rows that are all in memory. */
function wholeOf<Row>(rows: readonly Row[]): PagedRows<Row> {
  return {
    count: rows.length,
    isWhole: true,
    at: (index) => rows[index],
    pageOf: () => 0,
    show: () => {},
    isReading: false,
    failure: undefined,
  };
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

function More<Row>({ rows: { count, isReading, failure, show }, isFailed }: { rows: PagedRows<Row>; isFailed: boolean }): ReactNode {
  if (isFailed && failure) return <Failure {...failure} />;
  return (
    <div className={styles.more}>
      <Button variant="default" loading={isReading} onClick={() => show(count, count)}>
        {texts.dashboard.more}
      </Button>
    </div>
  );
}

function Failure({ error, retry }: NonNullable<PagedRows<unknown>["failure"]>): ReactNode {
  return (
    <div className={styles.more}>
      <ErrorPanel error={error} />
      <Button variant="default" onClick={retry}>
        {texts.dashboard.more}
      </Button>
    </div>
  );
}
