import { Select } from "@mantine/core";
import type { ReactNode } from "react";
import type { Column } from "../../src/importing/columns.ts";
import { statusValues } from "../../src/importing/mapping-plan.ts";
import type { Mapping, PetStatus, ValueStatus } from "../../src/importing/mapping-schema.ts";
import { valueKey } from "../../src/importing/mapping.ts";
import { petStatuses } from "../pets/search.ts";
import { importTexts as words } from "../texts/en-import-file.ts";
import { formatNumber, texts } from "../texts/texts.ts";
import styles from "./importing.module.css";

const rejected: ValueStatus = "reject";
const statusChoices = petStatuses.map((value) => ({ value: value as string, label: texts.store.status[value] }));

type Status = NonNullable<Mapping["status"]>;
type Props = { columns: readonly Column[]; status: Status; onChange: (status: Status) => void };

/** Chooses a status for each value of the column, and one for all other values. */
export function StatusValues({ columns, status, onChange }: Props): ReactNode {
  const choices = [...statusChoices, { value: rejected, label: words.rejectValue }];

  function choose(value: string, chosen: string | null): void {
    if (chosen !== null) onChange({ ...status, values: { ...status.values, [valueKey(value)]: chosen as ValueStatus } });
  }
  function chooseOther(chosen: string | null): void {
    const { default: _before, ...rest } = status;
    onChange(chosen === rejected || chosen === null ? rest : { ...rest, default: chosen as PetStatus });
  }
  return (
    <fieldset className={styles.values}>
      <legend className={styles.legend}>{words.values}</legend>
      <p className={styles.hint}>{words.valuesLead(status.columns[0] ?? "")}</p>
      <ul className={styles.valueList}>
        {statusValues(columns, status).map(({ key, value, rows, status: chosen }) => (
          <li key={key} className={styles.valueRow}>
            <span className={styles.value}>{value === "" ? words.emptyValue : value}</span>
            <span className={styles.valueRows}>{formatNumber(rows)}</span>
            <Select
              className={styles.valueStatus}
              size="sm"
              aria-label={words.statusOf(value === "" ? words.emptyValue : value)}
              data={choices}
              placeholder={words.chooseStatus}
              error={chosen === undefined}
              value={chosen ?? null}
              onChange={(answer) => choose(value, answer)}
              allowDeselect={false}
            />
          </li>
        ))}
        <li className={styles.valueRow}>
          <span className={styles.value}>{words.otherValues}</span>
          <span className={styles.valueRows} />
          <Select
            className={styles.valueStatus}
            size="sm"
            aria-label={words.statusOf(words.otherValues)}
            data={choices}
            value={status.default ?? rejected}
            onChange={chooseOther}
            allowDeselect={false}
          />
        </li>
      </ul>
    </fieldset>
  );
}
