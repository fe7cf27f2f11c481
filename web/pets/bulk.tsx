import { Button } from "@mantine/core";
import { useState, type ReactNode } from "react";
import { useLater } from "../frame/use-later.ts";
import { formatNumber, texts } from "../texts/texts.ts";
import styles from "./bulk.module.css";
import type { Kind } from "./use-bulk-change.ts";

const loadDialog = async () => (await import("./bulk-dialog.tsx")).BulkDialog;

const words = texts.store.animals.bulk;
const kinds: Kind[] = ["status", "category", "track", "price", "delete"];

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
  const { code: BulkDialog, loadNow } = useLater("dialog of a change", loadDialog);
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
          onClick={() => {
            loadNow();
            setKind(one);
          }}
        >
          {words.actions[one]}
        </Button>
      ))}
      <Button size="compact-md" variant="subtle" onClick={onClear}>
        {words.clear}
      </Button>
      {kind && BulkDialog && <BulkDialog key={kind} kind={kind} ids={ids} onClose={() => setKind(undefined)} onDone={onClear} />}
    </section>
  );
}
