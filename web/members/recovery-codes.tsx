import { Button, CopyButton, Group } from "@mantine/core";
import type { ReactNode } from "react";
import { Dialog } from "../parts/dialog.tsx";
import { texts } from "../texts/texts.ts";
import styles from "./factors.module.css";

/** Shows new recovery codes, once. */
export function RecoveryCodes({ codes, onClose }: { codes: string[]; onClose: () => void }): ReactNode {
  const text = `${codes.join("\n")}\n`;
  return (
    <Dialog title={texts.factors.codesTitle} size="lg" onClose={onClose}>
      <p>{texts.factors.codesShown}</p>
      <ul className={styles.codes} aria-label={texts.factors.codes}>
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
      <Group mt="lg" justify="flex-end" gap="xs">
        <Button
          variant="default"
          component="a"
          href={`data:text/plain;charset=utf-8,${encodeURIComponent(text)}`}
          download={texts.factors.downloadName}
        >
          {texts.factors.downloadCodes}
        </Button>
        <CopyButton value={text}>
          {({ copied, copy }) => (
            <Button variant="default" onClick={copy}>
              {copied ? texts.factors.copied : texts.factors.copyCodes}
            </Button>
          )}
        </CopyButton>
        <Button onClick={onClose} data-autofocus>
          {texts.factors.saved}
        </Button>
      </Group>
    </Dialog>
  );
}
