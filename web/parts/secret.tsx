import { Button, CopyButton, TextInput } from "@mantine/core";
import { useState, type ReactNode } from "react";
import { texts } from "../texts/texts.ts";
import styles from "./secret.module.css";
import { useUnsaved, type Question } from "./unsaved.tsx";

/** A secret that is shown once, with a copy button. Until it is copied, the dialog asks `unlessCopied` before it closes. */
export function Secret({ label, value, unlessCopied }: { label: string; value: string; unlessCopied?: Question }): ReactNode {
  const [isTaken, setTaken] = useState(unlessCopied === undefined);
  useUnsaved(!isTaken, unlessCopied);
  return (
    <div className={styles.secret}>
      <TextInput
        className={styles.field}
        classNames={{ input: styles.input }}
        label={label}
        description={texts.dashboard.shownOnce}
        value={value}
        readOnly
        spellCheck={false}
        onFocus={({ currentTarget }) => currentTarget.select()}
        onCopy={() => setTaken(true)}
        data-autofocus
      />
      <CopyButton value={value}>
        {({ copied, copy }) => (
          <Button
            variant={copied ? "light" : "filled"}
            onClick={() => {
              copy();
              setTaken(true);
            }}
          >
            {copied ? texts.copied : texts.copy}
          </Button>
        )}
      </CopyButton>
    </div>
  );
}
