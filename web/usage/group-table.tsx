import { UnstyledButton } from "@mantine/core";
import type { ReactNode } from "react";
import { RowsTable, type Column } from "../parts/rows-table.tsx";
import { formatNumber, texts } from "../texts/texts.ts";
import { totalOf } from "./series.ts";
import styles from "./usage.module.css";

type Group = { name: string; keyId?: number; operation?: string; requests: number; refused: number; banned: number };
type Props = { title: string; column: string; groups: Group[]; onChoose: (group: Group) => void };

/** The requests by key or by operation, most first. A click on a row's name shows only that row in the chart. */
export function GroupTable({ title, column, groups, onChoose }: Props): ReactNode {
  if (groups.length === 0) return null;
  return (
    <div>
      <h3 className={styles.groupTitle}>{title}</h3>
      <RowsTable
        label={title}
        columns={columnsFor(column, onChoose)}
        rows={groups}
        keyOf={({ keyId, operation }) => keyId ?? operation ?? ""}
      />
    </div>
  );
}

function columnsFor(header: string, onChoose: Props["onChoose"]): Column<Group>[] {
  const choice = (group: Group): ReactNode => (
    <UnstyledButton className={styles.choice} title={texts.usage.onlyThis(group.name)} onClick={() => onChoose(group)}>
      {group.name}
    </UnstyledButton>
  );
  return [
    { id: "name", header, cell: choice },
    { id: "all", header: texts.usage.total, width: "84px", isNumeric: true, cell: (group) => formatNumber(totalOf(group)) },
    { id: "refused", header: texts.usage.refused, width: "98px", isNumeric: true, cell: ({ refused }) => formatNumber(refused) },
    { id: "banned", header: texts.usage.bannedRequests, width: "98px", isNumeric: true, cell: ({ banned }) => formatNumber(banned) },
  ];
}
