import { Button, CopyButton, Group } from "@mantine/core";
import type { ReactNode } from "react";
import { Dialog } from "../parts/dialog.tsx";
import { factorTexts } from "../texts/en-factors.ts";
import styles from "./factors.module.css";

/** Shows new recovery codes, once. */
export function RecoveryCodes({ codes, onClose }: { codes: string[]; onClose: () => void }): ReactNode {
  const text = `${codes.join("\n")}\n`;
  return (
    <Dialog title={factorTexts.codesTitle} size="lg" onClose={onClose}>
      <p>{factorTexts.codesShown}</p>
      <ul className={styles.codes} aria-label={factorTexts.codes}>
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
      <Group mt="lg" justify="flex-end" gap="xs">
        <Button
          variant="default"
          component="a"
          href={`data:text/plain;charset=utf-8,${encodeURIComponent(text)}`}
          download={factorTexts.downloadName}
        >
          {factorTexts.downloadCodes}
        </Button>
        <CopyButton value={text}>
          {({ copied, copy }) => (
            <Button variant="default" onClick={copy}>
              {copied ? factorTexts.copied : factorTexts.copyCodes}
            </Button>
          )}
        </CopyButton>
        <Button onClick={onClose} data-autofocus>
          {factorTexts.saved}
        </Button>
      </Group>
    </Dialog>
  );
}
