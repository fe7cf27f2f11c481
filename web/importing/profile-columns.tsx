import { MultiSelect, Select } from "@mantine/core";
import type { ReactNode } from "react";
import type { Column } from "../../src/importing/columns.ts";
import { photoColumnsMax, priceOf } from "../../src/importing/guess.ts";
import type { openPrices } from "../../src/importing/mapping-plan.ts";
import type { Mapping } from "../../src/importing/mapping-schema.ts";
import { profileTexts as words } from "../texts/en-import-profile.ts";
import styles from "./importing.module.css";
import { ColumnSelect, namesIn } from "./mapping-editor.tsx";

type Price = NonNullable<Mapping["price"]>;
type Props = {
  columns: readonly Column[];
  mapping: Mapping;
  openPrice: ReturnType<typeof openPrices>;
  onChange: (mapping: Mapping) => void;
};

const notCounted = "not counted";
/** Marks the choices of the stock that are columns. */
const columnPrefix = "column ";

/** The columns of the profile and of the stock. */
export function ProfileColumns({ columns, mapping, openPrice, onChange }: Props): ReactNode {
  const names = namesIn(columns);
  const { description, price, photos, stock } = mapping;
  function change<Field extends "description" | "price" | "photos" | "stock">(field: Field, value: Mapping[Field] | undefined): void {
    const { [field]: _before, ...others } = mapping;
    onChange((value === undefined ? others : { ...others, [field]: value }) as Mapping);
  }
  const columnNamed = (name: string | null) => columns.find((one) => one.name === name);
  return (
    <fieldset className={styles.values}>
      <legend className={styles.legend}>{words.title}</legend>
      <div className={styles.fields}>
        <ColumnSelect
          label={words.description}
          placeholder={words.none}
          data={names}
          value={description?.columns[0] ?? null}
          onChange={(name) => change("description", name === null ? undefined : { columns: [name] })}
          clear={words.clear(words.description)}
        />
        <MultiSelect
          label={words.photos}
          description={words.photosHint}
          data={names}
          value={photos?.columns ?? []}
          maxValues={photoColumnsMax}
          onChange={(chosen) => change("photos", chosen.length === 0 ? undefined : { columns: chosen })}
          searchable
        />
        <Select
          label={words.stock}
          data={[
            { value: "", label: words.oneUnit },
            { value: notCounted, label: words.notCounted },
            ...names.map((name) => ({ value: columnPrefix + name, label: name })),
          ]}
          value={typeof stock === "object" ? columnPrefix + stock.column : (stock ?? "")}
          onChange={(value) => change("stock", stockOf(value ?? ""))}
          allowDeselect={false}
          searchable
        />
        <ColumnSelect
          label={words.price}
          placeholder={words.none}
          data={names}
          value={price?.column ?? null}
          onChange={(name) => {
            const column = columnNamed(name);
            change("price", column && priceOf(column, columns));
          }}
          clear={words.clear(words.price)}
        />
        {price && <PriceChoices {...{ names, price, openPrice }} onChange={(next) => change("price", next)} />}
      </div>
    </fieldset>
  );
}

type PriceProps = { names: string[]; price: Price; openPrice: Props["openPrice"]; onChange: (price: Price) => void };

/** How the prices are read. */
function PriceChoices({ names, price, openPrice, onChange }: PriceProps): ReactNode {
  const { currencyColumn, ...others } = price;
  const { decimal: example } = openPrice;
  return (
    <>
      <Select
        label={words.currency}
        placeholder={words.chooseCurrency}
        data={Intl.supportedValuesOf("currency")}
        value={price.currency ?? null}
        error={openPrice.currency}
        onChange={(currency) => currency && onChange({ ...price, currency })}
        allowDeselect={false}
        searchable
      />
      <ColumnSelect
        label={words.currencyColumn}
        placeholder={words.none}
        data={names}
        value={currencyColumn ?? null}
        onChange={(name) => onChange(name === null ? others : { ...others, currencyColumn: name })}
        clear={words.clear(words.currencyColumn)}
      />
      {(example !== undefined || price.decimal) && (
        <Select
          label={example === undefined ? words.decimalOther : words.decimal(example)}
          placeholder={words.chooseDecimal}
          data={[
            { value: "comma", label: words.comma },
            { value: "point", label: words.point },
          ]}
          value={price.decimal ?? null}
          error={example !== undefined}
          onChange={(decimal) => (decimal === "comma" || decimal === "point") && onChange({ ...price, decimal })}
          allowDeselect={false}
        />
      )}
    </>
  );
}

function stockOf(value: string): Mapping["stock"] | undefined {
  if (value === "") return undefined;
  return value === notCounted ? notCounted : { column: value.slice(columnPrefix.length) };
}
