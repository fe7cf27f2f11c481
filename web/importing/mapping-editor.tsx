import { Checkbox, Select, TextInput } from "@mantine/core";
import type { ReactNode } from "react";
import type { Column } from "../../src/importing/columns.ts";
import { otherCategory, valuesOf } from "../../src/importing/guess.ts";
import type { Mapping } from "../../src/importing/mapping-schema.ts";
import { importTexts as words } from "../texts/en-import-file.ts";
import styles from "./importing.module.css";
import { StatusValues } from "./status-values.tsx";

type Props = { columns: readonly Column[]; mapping: Mapping; onChange: (mapping: Mapping) => void };

/** The form that maps columns to fields. */
export function MappingEditor({ columns, mapping, onChange }: Props): ReactNode {
  const names = namesIn(columns);
  const change = (part: Partial<Mapping>) => onChange({ ...mapping, ...part });
  const [nameColumn = "", fallback] = mapping.name.columns;
  return (
    <div className={styles.fields}>
      <ColumnSelect
        label={words.id}
        description={words.idHint}
        placeholder={words.noId}
        data={names}
        value={mapping.id ?? null}
        onChange={(id) => onChange(withId(mapping, id))}
        clear={words.noId}
      />
      <ColumnSelect
        label={words.category}
        description={words.categoryHint}
        placeholder={words.oneCategory}
        data={names}
        value={mapping.category.columns[0] ?? null}
        onChange={(column) => change({ category: withColumn(mapping.category, column) })}
        clear={words.oneCategory}
      />
      <ColumnSelect
        label={words.name}
        data={names}
        value={nameColumn}
        onChange={(column) => column && change({ name: { ...mapping.name, columns: [column, ...(fallback ? [fallback] : [])] } })}
      />
      <TextInput
        label={mapping.category.columns.length === 0 ? words.allCategory : words.categoryDefault}
        placeholder={words.noFallback}
        value={mapping.category.default ?? ""}
        onChange={({ currentTarget: { value } }) => change({ category: withDefault(mapping.category, value) })}
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
        onChange={(name) => onChange(withStatusColumn(mapping, columns, name))}
        clear={words.clearStatus}
      />
      <Stars name={mapping.name} onChange={(name) => change({ name })} />
      {mapping.status && <StatusValues columns={columns} status={mapping.status} onChange={(status) => change({ status })} />}
    </div>
  );
}

/** The columns that can be chosen. */
export function namesIn(columns: readonly Column[]): string[] {
  return columns.map(({ name }) => name).filter((name, index, all) => name !== "" && all.indexOf(name) === index);
}

function Stars({ name, onChange }: { name: Mapping["name"]; onChange: (name: Mapping["name"]) => void }): ReactNode {
  return (
    <Checkbox
      label={words.stars}
      checked={name.transforms?.includes("strip-stars") ?? false}
      onChange={({ currentTarget: { checked } }) => onChange({ ...name, transforms: checked ? ["strip-stars"] : [] })}
    />
  );
}

/** Sets the id column. Without one, each row is a separate animal. */
export function withId({ id: _before, ...mapping }: Mapping, id: string | null): Mapping {
  return id === null ? mapping : { id, ...mapping };
}

function withColumn(category: Mapping["category"], column: string | null): Mapping["category"] {
  if (column !== null) return { ...category, columns: [column] };
  return { ...category, columns: [], default: category.default ?? otherCategory };
}

function withDefault({ default: _default, ...category }: Mapping["category"], value: string): Mapping["category"] {
  return value === "" ? category : { ...category, default: value };
}

function withStatusColumn({ status: _status, ...mapping }: Mapping, columns: readonly Column[], name: string | null): Mapping {
  const column = columns.find((one) => one.name === name);
  if (!column) return mapping;
  return { ...mapping, status: { columns: [column.name], ...(column.values && { values: valuesOf(column) }) } };
}

type ColumnSelectProps = {
  label: string;
  description?: string;
  placeholder?: string;
  data: string[];
  value: string | null;
  onChange: (column: string | null) => void;
  /** The label of the clear button. Default: no button. */
  clear?: string;
};

/** A choice of one column. */
export function ColumnSelect({ clear, ...props }: ColumnSelectProps): ReactNode {
  const clearing =
    clear === undefined ? {} : { clearable: true, clearButtonProps: { "aria-label": clear, "aria-hidden": false, tabIndex: 0 } };
  return <Select {...props} {...clearing} allowDeselect={false} searchable limit={200} />;
}
