import { Button } from "@mantine/core";
import { useEffect, useRef, type ReactNode } from "react";
import type { PagedRows } from "../calls/lists.ts";
import { texts } from "../texts/texts.ts";
import { ErrorPanel } from "./error-panel.tsx";
import styles from "./rows-table.module.css";
import { useTableShape } from "./table-shape.ts";
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
  /** The sort orders that a click on the header switches between. */
  sorts?: { ascending: string; descending: string };
  /** Left out where the table is narrow. */
  isWideOnly?: boolean;
};

/** The current sort order; `onSort` is called with the order that a clicked header asks for. */
type Sorting = { sort: string; onSort: (sort: string) => void };

type Props<Row> = {
  label: string;
  columns: Column<Row>[];
  rows: readonly Row[] | PagedRows<Row>;
  keyOf: (row: Row) => number | string;
  /** One line for each row, two for a card: for lists that may have thousands of rows. */
  isCompact?: boolean;
  sorting?: Sorting;
  /** Makes the whole row clickable, apart from the controls in it. */
  onOpen?: (row: Row) => void;
};

const rowPxOf = { compact: 39, roomy: 53 };
const rowsAhead = 30;
const controls = "a, button, input, label, select, textarea, [role=menuitem]";

/**
 * A table with a sticky header, shown as cards where its columns do not fit. Only the rows near the window are in the document. The table requests
 * more rows near the end of the list, and rows that were dropped from memory once they are visible again.
 */
export function RowsTable<Row>({ label, columns: all, rows, keyOf, isCompact = false, sorting, onOpen }: Props<Row>): ReactNode {
  const table = useRef<HTMLTableElement>(null);
  const { place, columns, isCards } = useTableShape(all);
  const paged = "pageOf" in rows ? rows : wholeOf(rows);
  const { count, isWhole, failure } = paged;
  const shown = useRowWindow(table, count, isCompact ? rowPxOf.compact : rowPxOf.roomy, isCards);
  useEffect(() => paged.show(shown.first, shown.last + rowsAhead));
  const indexes = Array.from({ length: shown.last - shown.first }, (_, offset) => shown.first + offset);
  const missing = indexes.find((index) => paged.at(index) === undefined);

  return (
    <div ref={place}>
      <table
        ref={table}
        className={styles.table}
        data-compact={isCompact}
        data-cards={isCards}
        data-opens={onOpen !== undefined}
        aria-label={label}
        aria-rowcount={isWhole ? count + 1 : -1}
      >
        <colgroup>
          {columns.map(({ id, width }) => (
            <col key={id} style={width === undefined ? undefined : { width }} />
          ))}
        </colgroup>
        <thead>
          <tr aria-rowindex={1}>
            {columns.map((column) => (
              <HeaderCell key={column.id} column={column} sorting={sorting} />
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
            return <BodyRow key={`${paged.pageOf(index)} ${keyOf(row)}`} {...{ row, index, columns, onOpen }} />;
          })}
          <Gap height={shown.after} columns={columns.length} />
        </tbody>
      </table>
      {!isWhole && <More rows={paged} isFailed={missing === undefined && failure !== undefined} />}
    </div>
  );
}

type BodyRowProps<Row> = { row: Row; index: number; columns: Column<Row>[]; onOpen: ((row: Row) => void) | undefined };

function BodyRow<Row>({ row, index, columns, onOpen }: BodyRowProps<Row>): ReactNode {
  return (
    // a mouse may click anywhere in the row; keyboards and screen readers use the link in it
    <tr data-index={index} aria-rowindex={index + 2} onClick={onOpen && (({ target }) => opens(target) && onOpen(row))}>
      {columns.map(({ id, header, cell, isNumeric, isActions, isWideOnly }) => (
        <td
          key={id}
          data-label={isActions ? undefined : header}
          data-column={id}
          data-wide={isWideOnly}
          className={isActions ? styles.actions : isNumeric ? styles.numeric : undefined}
        >
          {cell(row)}
        </td>
      ))}
    </tr>
  );
}

/** A click that selects text or presses a control in the row does not open it. */
function opens(target: EventTarget): boolean {
  return (
    target instanceof Element && target.closest(controls) === null && target.closest("tr") !== null && getSelection()?.isCollapsed !== false
  );
}

function HeaderCell<Row>({ column, sorting }: { column: Column<Row>; sorting: Sorting | undefined }): ReactNode {
  const { header, isNumeric, isActions, sorts } = column;
  if (!sorts || !sorting)
    return (
      <th scope="col" className={isNumeric ? styles.numeric : undefined}>
        <span className={isActions ? styles.readOnly : undefined}>{header}</span>
      </th>
    );
  const { sort, onSort } = sorting;
  const order = sort === sorts.ascending ? "ascending" : sort === sorts.descending ? "descending" : undefined;
  return (
    <th scope="col" aria-sort={order ?? "none"} className={isNumeric ? styles.numeric : undefined}>
      <button type="button" className={styles.sort} onClick={() => onSort(order === "ascending" ? sorts.descending : sorts.ascending)}>
        {header}
        <span aria-hidden>{order === undefined ? "↕" : order === "ascending" ? "↑" : "↓"}</span>
      </button>
    </th>
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
      {/* oxlint-disable-next-line jsx-a11y/control-has-associated-label -- fills the place of rows that are not in the document */}
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
