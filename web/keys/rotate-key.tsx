import { TextInput } from "@mantine/core";
import { useState, type ReactNode } from "react";
import { ask, type Key, type RotatedKey } from "../calls/members.ts";
import { numberIn } from "../calls/send.ts";
import { CallForm, useCallForm } from "../parts/call-form.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { texts } from "../texts/texts.ts";
import styles from "./keys.module.css";
import { MadeKeyView } from "./made-key.tsx";
import { overlapHoursMax } from "./scopes.ts";

/** A dialog that replaces a key with a new one; the old one ends after an overlap. */
export function RotateKey({ of, onMade, onClose }: { of: Key; onMade: () => void; onClose: () => void }): ReactNode {
  const [made, setMade] = useState<RotatedKey>();
  const form = useCallForm<{ overlapHours: string }, RotatedKey>({
    initial: { overlapHours: "24" },
    send: ({ overlapHours }) => ask("POST /keys/{id}/rotate", { id: of.id, body: { overlapHours: numberIn(overlapHours) } }),
    onDone: (key) => {
      setMade(key);
      onMade();
    },
  });
  return (
    <Dialog title={made ? texts.keys.createdTitle : texts.keys.rotateTitle(of.prefix)} size="lg" onClose={onClose}>
      {made ? (
        <MadeKeyView made={made} onClose={onClose} />
      ) : (
        <CallForm form={form} submit={texts.keys.rotateAction} onCancel={onClose}>
          <p className={styles.note}>{texts.keys.rotateText}</p>
          <TextInput
            label={texts.keys.overlap}
            description={texts.keys.overlapHint(overlapHoursMax)}
            inputMode="numeric"
            data-autofocus
            {...form.text("overlapHours")}
          />
        </CallForm>
      )}
    </Dialog>
  );
}
