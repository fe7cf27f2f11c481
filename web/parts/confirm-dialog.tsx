import { Button, Group } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { texts } from "../texts/texts.ts";
import styles from "./confirm-dialog.module.css";
import { Dialog } from "./dialog.tsx";
import { ErrorPanel } from "./error-panel.tsx";

type Props<Answer> = {
  title: string;
  /** What is lost, and whether it can be restored. */
  children: ReactNode;
  /** The button's label: the action, such as "Revoke the key". */
  action: string;
  /** The other button's label, if "Cancel" could be mistaken for the action. Default: "Cancel". */
  keep?: string;
  /** The action destroys nothing, so its button is not red. */
  isSafe?: boolean;
  onConfirm: () => Promise<Answer>;
  /** Called after success, even if the dialog was closed meanwhile: for notices and cached data. */
  onDone: (answer: Answer) => void;
  onClose: () => void;
  /** Called after `onDone` if the dialog is still mounted. Default: closes it. */
  afterwards?: () => void;
};

/** Asks before something is destroyed; mount it to ask. Errors are shown in the dialog. */
export function ConfirmDialog<Answer>({
  title,
  children,
  action,
  keep = texts.dashboard.cancel,
  isSafe = false,
  onConfirm,
  onDone,
  onClose,
  afterwards = onClose,
}: Props<Answer>): ReactNode {
  const { mutate, isPending, error } = useMutation({ mutationFn: onConfirm, onSuccess: onDone });
  return (
    <Dialog title={title} onClose={onClose}>
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
