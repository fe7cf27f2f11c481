import { Button, Group } from "@mantine/core";
import type { ReactNode } from "react";
import { Dialog } from "../parts/dialog.tsx";
import { Secret } from "../parts/secret.tsx";
import { webhooksTexts as words } from "../texts/en-webhooks.ts";
import { texts } from "../texts/texts.ts";
import styles from "./webhooks.module.css";

/** Shows the secret of an endpoint once. `isRotated`: the earlier secret signs messages too, for 24 hours. */
export function SecretDialog({
  secret,
  isRotated = false,
  onClose,
}: {
  secret: string;
  isRotated?: boolean;
  onClose: () => void;
}): ReactNode {
  return (
    <Dialog title={words.secretTitle} size="lg" onClose={onClose}>
      <Secret label={words.secret} value={secret} unlessCopied={words.secretNotCopied} />
      <p className={styles.note}>
        {words.secretText} {isRotated && words.earlierSecret}
      </p>
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          {texts.dashboard.done}
        </Button>
      </Group>
    </Dialog>
  );
}
