import { Button } from "@mantine/core";
import { lazy, Suspense, useState, type ReactNode } from "react";
import { formatNumber, texts } from "../texts/texts.ts";
import styles from "./bulk.module.css";
import type { Kind } from "./use-bulk-change.ts";

/** Loaded with the first change, because few visits to the page make one. */
const BulkDialog = lazy(async () => ({ default: (await import("./bulk-dialog.tsx")).BulkDialog }));

const words = texts.store.animals.bulk;
const kinds: Kind[] = ["status", "category", "track", "delete"];

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
      {kind && (
        <Suspense>
          <BulkDialog key={kind} kind={kind} ids={ids} onClose={() => setKind(undefined)} onDone={onClear} />
        </Suspense>
      )}
    </section>
  );
}
