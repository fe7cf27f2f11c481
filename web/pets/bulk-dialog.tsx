import { Button, Group, Progress, Select, TextInput } from "@mantine/core";
import { useState, type ReactNode } from "react";
import type { Result } from "../calls/changes.ts";
import { CategorySelect } from "../categories/category-select.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { wordsOf } from "../parts/explained.ts";
import { bulkTexts as words } from "../texts/en-bulk.ts";
import { formatNumber, texts } from "../texts/texts.ts";
import { BulkPrice } from "./bulk-price.tsx";
import styles from "./bulk.module.css";
import { priceChangeOf, type PriceValues } from "./price-change.ts";
import { petStatuses } from "./search.ts";
import { useShopCurrency } from "./shop-currency.ts";
import { useBulkChange, type BulkValues, type Kind } from "./use-bulk-change.ts";

const statusChoices = petStatuses.map((value) => ({ value, label: texts.store.status[value] }));

type DialogProps = { kind: Kind; ids: readonly number[]; onClose: () => void; onDone: () => void };

/** Asks for the new values, then shows how far the changes are, which can be stopped, and what stayed as it was. */
export function BulkDialog({ kind, ids, onClose, onDone }: DialogProps): ReactNode {
  const newPrice: PriceValues = { how: "set", price: "", currency: useShopCurrency(), percent: "" };
  const [values, setValues] = useState<BulkValues>({ status: "available", categoryId: null, stock: "1", price: newPrice });
  const { isRunning, isStopping, done, error, refused, start, stop, leave } = useBulkChange({ kind, ids, values, onClose, onDone });
  const [count, doneCount] = [formatNumber(ids.length), formatNumber(done)];
  if (refused.length > 0) return <Refused results={refused} onClose={onDone} />;
  return (
    <Dialog title={words.titles[kind](count)} onClose={isRunning ? stop : leave}>
      <ErrorPanel error={error} />
      {isRunning && <Running value={(100 * done) / ids.length} text={words.progress(doneCount, count)} />}
      {!isRunning && done > 0 && <p>{words.interrupted(doneCount, count)}</p>}
      {!isRunning && done === 0 && (
        <>
          <Values kind={kind} values={values} onChange={setValues} />
          <p>{kind === "price" ? words.explained.price[values.price.how === "set" ? "set" : "percent"] : words.explained[kind]}</p>
        </>
      )}
      <Group justify="flex-end" gap="xs" mt="lg">
        <Button variant="default" disabled={isStopping} onClick={isRunning ? stop : leave}>
          {isRunning ? texts.importing.stop : texts.dashboard.cancel}
        </Button>
        {!isRunning && (
          <Button className={kind === "delete" ? styles.danger : undefined} disabled={!isReady(kind, values)} onClick={start}>
            {done > 0 ? texts.retry : words.titles[kind](count)}
          </Button>
        )}
      </Group>
    </Dialog>
  );
}

function isReady(kind: Kind, { categoryId, stock, price }: BulkValues): boolean {
  if (kind === "category") return categoryId !== null;
  if (kind === "price") return priceChangeOf(price) !== undefined;
  return kind !== "track" || /^\d{1,9}$/.test(stock.trim());
}

function Running({ value, text }: { value: number; text: string }): ReactNode {
  return (
    <>
      <Progress value={value} size="lg" aria-label={text} transitionDuration={200} />
      <output className={styles.progress}>{text}</output>
    </>
  );
}

type ValuesProps = { kind: Kind; values: BulkValues; onChange: (values: BulkValues) => void };

function Values({ kind, values, onChange }: ValuesProps): ReactNode {
  if (kind === "category")
    return (
      <CategorySelect
        label={texts.store.animals.category}
        value={values.categoryId}
        onChange={(categoryId) => onChange({ ...values, categoryId })}
      />
    );
  if (kind === "track")
    return (
      <TextInput
        label={words.units}
        inputMode="numeric"
        w={160}
        value={values.stock}
        onChange={({ currentTarget }) => onChange({ ...values, stock: currentTarget.value })}
      />
    );
  if (kind === "price") return <BulkPrice values={values.price} onChange={(price) => onChange({ ...values, price })} />;
  if (kind === "delete") return null;
  return (
    <Select
      label={texts.store.animals.status}
      data={statusChoices}
      value={values.status}
      onChange={(status) => status && onChange({ ...values, status })}
      allowDeselect={false}
    />
  );
}

function Refused({ results, onClose }: { results: readonly Result[]; onClose: () => void }): ReactNode {
  const reasons = Map.groupBy(results, ({ code, message }) => wordsOf(code ?? "", message ?? ""));
  return (
    <Dialog title={words.refused(formatNumber(results.length))} onClose={onClose}>
      <ul>
        {[...reasons].map(([reason, same]) => (
          <li key={reason}>
            {formatNumber(same.length)}: {reason} {namesOf(same)}
          </li>
        ))}
      </ul>
      <Group justify="flex-end" mt="lg">
        <Button onClick={onClose}>{texts.dashboard.close}</Button>
      </Group>
    </Dialog>
  );
}

/** The most animals that are named for one reason. */
const namedMax = 5;

/** The names of animals that stayed as they were, in brackets. Empty if the service does not know them any more. */
function namesOf(results: readonly Result[]): string {
  const names = results.slice(0, namedMax).flatMap(({ before }) => before?.name ?? []);
  if (names.length === 0) return "";
  const more = results.length - names.length;
  return `(${[...names, ...(more > 0 ? [words.more(formatNumber(more))] : [])].join(", ")})`;
}
