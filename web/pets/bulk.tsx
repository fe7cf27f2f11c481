import { Button, Group, Progress, Select, TextInput } from "@mantine/core";
import { useMutation, useQueryClient, type QueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { sendChanges, type Change, type Result } from "../calls/changes.ts";
import { dashboardKey } from "../calls/lists.ts";
import { CategorySelect } from "../categories/category-select.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { wordsOf } from "../parts/explained.ts";
import { notify } from "../parts/notices.ts";
import { numberIn } from "../calls/send.ts";
import { formatNumber, texts } from "../texts/texts.ts";
import styles from "./bulk.module.css";
import { petStatuses, type PetStatus } from "./search.ts";

const words = texts.store.animals.bulk;
const statusChoices = petStatuses.map((value) => ({ value, label: texts.store.status[value] }));
const kinds = ["status", "category", "track", "delete"] as const;
type Kind = (typeof kinds)[number];

type Props = {
  ids: readonly number[];
  /** How many pets match the filters, for the button that chooses all of them; undefined while unknown. */
  all: number | undefined;
  onAll: () => void;
  isChoosing: boolean;
  onClear: () => void;
};

/** The actions on all chosen pets. */
export function BulkBar({ ids, all, onAll, isChoosing, onClear }: Props): ReactNode {
  const [kind, setKind] = useState<Kind>();
  return (
    <section className={styles.bar} aria-label={words.title}>
      <output className={styles.count}>{words.chosen(formatNumber(ids.length))}</output>
      {all !== undefined && all > ids.length && (
        <Button variant="subtle" size="compact-sm" loading={isChoosing} onClick={onAll}>
          {words.all(formatNumber(all))}
        </Button>
      )}
      <span className={styles.space} />
      {kinds.map((one) => (
        <Button
          key={one}
          size="compact-md"
          variant="default"
          className={one === "delete" ? styles.dangerous : undefined}
          onClick={() => setKind(one)}
        >
          {words.actions[one]}
        </Button>
      ))}
      <Button size="compact-md" variant="subtle" onClick={onClear}>
        {words.clear}
      </Button>
      {kind && <BulkDialog key={kind} kind={kind} ids={ids} onClose={() => setKind(undefined)} onDone={onClear} />}
    </section>
  );
}

type DialogProps = { kind: Kind; ids: readonly number[]; onClose: () => void; onDone: () => void };

function BulkDialog({ kind, ids, onClose, onDone }: DialogProps): ReactNode {
  const client = useQueryClient();
  const [values, setValues] = useState<BulkValues>({ status: "available", categoryId: null, stock: "1" });
  const [done, setDone] = useState(0);
  const count = formatNumber(ids.length);
  const { mutate, isPending, error, data } = useMutation({
    mutationFn: () =>
      sendChanges(
        ids.map((id) => changeOf(id, kind, values)),
        (some) => setDone((before) => before + some),
      ),
    onMutate: () => setDone(0),
    onSettled: () => reread(client),
    onSuccess: (results) => {
      const changed = results.filter(({ outcome }) => outcome !== "refused");
      if (changed.length > 0)
        notify(words.done[kind](formatNumber(changed.length)), kind === "delete" ? {} : { undo: () => undo(client, results) });
      if (changed.length === results.length) onDone();
    },
  });
  const refused = data?.filter(({ outcome }) => outcome === "refused") ?? [];

  if (refused.length > 0) return <Refused results={refused} onClose={onDone} />;
  const isReady = kind === "category" ? values.categoryId !== null : kind !== "track" || /^\d{1,9}$/.test(values.stock.trim());
  return (
    <Dialog title={words.titles[kind](count)} onClose={onClose}>
      <ErrorPanel error={error} />
      <Values kind={kind} values={values} onChange={setValues} />
      <p>{words.explained[kind]}</p>
      {isPending && <Progress value={(100 * done) / ids.length} aria-label={words.progress(formatNumber(done), count)} />}
      <Group justify="flex-end" gap="xs" mt="lg">
        <Button variant="default" onClick={onClose}>
          {texts.dashboard.cancel}
        </Button>
        <Button className={kind === "delete" ? styles.danger : undefined} disabled={!isReady} loading={isPending} onClick={() => mutate()}>
          {words.titles[kind](count)}
        </Button>
      </Group>
    </Dialog>
  );
}

type BulkValues = { status: PetStatus; categoryId: string | null; stock: string };

function changeOf(id: number, kind: Kind, { status, categoryId, stock }: BulkValues): Change {
  switch (kind) {
    case "status":
      return { id, status };
    case "category":
      return { id, categoryId: Number(categoryId) };
    case "track":
      return { id, stock: numberIn(stock) };
    case "delete":
      return { id, delete: true };
  }
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

function Refused({ results, onClose }: { results: Result[]; onClose: () => void }): ReactNode {
  const reasons = Map.groupBy(results, ({ code, message }) => wordsOf(code ?? "", message ?? ""));
  return (
    <Dialog title={words.refused(formatNumber(results.length))} onClose={onClose}>
      <ul>
        {[...reasons].map(([reason, same]) => (
          <li key={reason}>
            {formatNumber(same.length)}: {reason}
          </li>
        ))}
      </ul>
      <Group justify="flex-end" mt="lg">
        <Button onClick={onClose}>{texts.dashboard.close}</Button>
      </Group>
    </Dialog>
  );
}

/** Restores the changed pets' earlier values. A tracked pet's status follows its stock, so only that of untracked pets is sent. */
async function undo(client: QueryClient, results: readonly Result[]): Promise<void> {
  const changed = results.filter(({ outcome, before }) => outcome === "changed" && before);
  const back = changed.map(({ id, before, after }): Change => {
    const { name, categoryId, status, stock } = before!;
    const isStatus = stock === null && status !== after?.status;
    return {
      id,
      name,
      categoryId,
      ...(stock !== after?.stock && { stock }),
      ...((isStatus || after?.stock !== stock) && stock === null && { status }),
    };
  });
  const refused = (await sendChanges(back)).filter(({ outcome }) => outcome === "refused");
  reread(client);
  if (refused.length > 0) notify(words.notUndone(formatNumber(refused.length)), { isFailure: true });
  else notify(words.undone);
}

function reread(client: QueryClient): void {
  void client.resetQueries({
    queryKey: [dashboardKey],
    predicate: ({ queryKey }) => ["/pets", "/store/inventory"].includes(String(queryKey[1])),
  });
}
