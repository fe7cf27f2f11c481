import { Checkbox, Select, SimpleGrid, TextInput } from "@mantine/core";
import type { ReactNode } from "react";
import { valueKey, type Mapping, type PetStatus } from "../../src/importing/mapping.ts";
import { petStatuses } from "../animals/status.ts";
import { formatNumber, texts } from "../texts/texts.ts";
import type { Column } from "./columns.ts";
import { valuesOf } from "./guess.ts";
import styles from "./importing.module.css";

const words = texts.importing;
const rejected = "rejected";
const statusChoices = petStatuses.map((value) => ({ value: value as string, label: texts.store.status[value] }));

type Props = { columns: readonly Column[]; mapping: Mapping; onChange: (mapping: Mapping) => void };

/** How columns become fields, in fields of a form. */
export function MappingEditor({ columns, mapping, onChange }: Props): ReactNode {
  const names = columns.map(({ name }) => name).filter((name, index, all) => name !== "" && all.indexOf(name) === index);
  const change = (part: Partial<Mapping>) => onChange({ ...mapping, ...part });
  const [nameColumn = "", fallback] = mapping.name.columns;
  const { default: categoryDefault = "" } = mapping.category;

  function setStatusColumn(name: string | null): void {
    const column = columns.find((one) => one.name === name);
    const { status: _status, ...rest } = mapping;
    onChange(column ? { ...rest, status: { columns: [column.name], ...(column.values && { values: valuesOf(column) }) } } : rest);
  }
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="md">
      <ColumnSelect
        label={words.id}
        description={words.idHint}
        data={names}
        value={mapping.id}
        onChange={(id) => change({ id: id ?? mapping.id })}
      />
      <ColumnSelect
        label={words.category}
        description={words.categoryHint}
        data={names}
        value={mapping.category.columns[0] ?? null}
        onChange={(column) => column && change({ category: { ...mapping.category, columns: [column] } })}
      />
      <ColumnSelect
        label={words.name}
        data={names}
        value={nameColumn}
        onChange={(column) => column && change({ name: { ...mapping.name, columns: [column, ...(fallback ? [fallback] : [])] } })}
      />
      <TextInput
        label={words.categoryDefault}
        placeholder={words.noFallback}
        value={categoryDefault}
        onChange={({ currentTarget: { value } }) => {
          const { default: _default, ...rest } = mapping.category;
          change({ category: value === "" ? rest : { ...rest, default: value } });
        }}
      />
      <ColumnSelect
        label={words.nameFallback}
        placeholder={words.noFallback}
        data={names}
        value={fallback ?? null}
        onChange={(column) => change({ name: { ...mapping.name, columns: column === null ? [nameColumn] : [nameColumn, column] } })}
        clear={words.clearFallback}
      />
      <ColumnSelect
        label={words.status}
        placeholder={words.allAvailable}
        data={names}
        value={mapping.status?.columns[0] ?? null}
        onChange={setStatusColumn}
        clear={words.clearStatus}
      />
      <Checkbox
        label={words.stars}
        checked={mapping.name.transforms?.includes("strip-stars") ?? false}
        onChange={({ currentTarget: { checked } }) => change({ name: { ...mapping.name, transforms: checked ? ["strip-stars"] : [] } })}
      />
      {mapping.status && <StatusValues columns={columns} status={mapping.status} onChange={(status) => change({ status })} />}
    </SimpleGrid>
  );
}

type ColumnSelectProps = {
  label: string;
  description?: string;
  placeholder?: string;
  data: string[];
  value: string | null;
  onChange: (column: string | null) => void;
  /** The words of the button that takes the choice away, where that may be. */
  clear?: string;
};

function ColumnSelect({ clear, ...props }: ColumnSelectProps): ReactNode {
  const clearing =
    clear === undefined ? {} : { clearable: true, clearButtonProps: { "aria-label": clear, "aria-hidden": false, tabIndex: 0 } };
  return <Select {...props} {...clearing} allowDeselect={false} searchable limit={200} />;
}

type Status = NonNullable<Mapping["status"]>;

/** The status of each value of the column; of one with too many values only that of all. */
function StatusValues({
  columns,
  status,
  onChange,
}: {
  columns: readonly Column[];
  status: Status;
  onChange: (status: Status) => void;
}): ReactNode {
  const column = columns.find(({ name }) => name === status.columns[0]);
  const choices = [...statusChoices, { value: rejected, label: words.rejectValue }];

  function choose(value: string, chosen: string | null): void {
    const { [valueKey(value)]: _before, ...values } = status.values ?? {};
    onChange({
      ...status,
      values: chosen === rejected || chosen === null ? values : { ...values, [valueKey(value)]: chosen as PetStatus },
    });
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
        {merged(column?.values ?? []).map(({ key, value, rows }) => (
          <li key={key} className={styles.valueRow}>
            <span className={styles.value}>{value === "" ? words.emptyValue : value}</span>
            <span className={styles.valueRows}>{formatNumber(rows)}</span>
            <Select
              className={styles.valueStatus}
              size="sm"
              aria-label={words.statusOf(value === "" ? words.emptyValue : value)}
              data={choices}
              value={status.values?.[key] ?? status.default ?? rejected}
              onChange={(chosen) => choose(value, chosen)}
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

/** Values that a mapping takes for the same, as one. */
function merged(values: NonNullable<Column["values"]>): { key: string; value: string; rows: number }[] {
  const byKey = Map.groupBy(values, ({ value }) => valueKey(value));
  return Array.from(byKey, ([key, same]) => ({ key, value: same[0]?.value ?? key, rows: same.reduce((sum, { rows }) => sum + rows, 0) }));
}
