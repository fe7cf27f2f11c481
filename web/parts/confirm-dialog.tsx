import { Button, Group } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { texts } from "../texts/texts.ts";
import styles from "./confirm-dialog.module.css";
import { Dialog } from "./dialog.tsx";
import { ErrorPanel } from "./error-panel.tsx";

type Props = {
  title: string;
  /** What is lost, and whether it can come back. */
  children: ReactNode;
  /** The button's words: what is done, as in "Revoke the key". */
  action: string;
  /** The other button's words, where "Cancel" could be taken for the action. */
  keep?: string;
  /** Nothing is destroyed: the button does not warn. */
  isSafe?: boolean;
  onConfirm: () => Promise<unknown>;
  /** Tells and notes what was done, also where the dialog has been left meanwhile. */
  onDone: () => void;
  onClose: () => void;
  /** What follows when it is done and the dialog is still there, where that is not only to close it. */
  afterwards?: () => void;
};

/** Asks before something is destroyed; mount it while the question stands. A refusal stays in the dialog. */
export function ConfirmDialog({
  title,
  children,
  action,
  keep = texts.dashboard.cancel,
  isSafe = false,
  onConfirm,
  onDone,
  onClose,
  afterwards = onClose,
}: Props): ReactNode {
  const { mutate, isPending, error } = useMutation({ mutationFn: onConfirm, onSuccess: onDone });
  return (
    <Dialog title={title} centered onClose={onClose}>
      <ErrorPanel error={error} />
      <div className={styles.text}>{children}</div>
      <Group justify="flex-end" gap="xs" mt="lg">
        <Button variant="default" onClick={onClose} data-autofocus>
          {keep}
        </Button>
        <Button
          className={isSafe ? undefined : styles.danger}
          loading={isPending}
          onClick={() => mutate(undefined, { onSuccess: afterwards })}
        >
          {action}
        </Button>
      </Group>
    </Dialog>
  );
}
