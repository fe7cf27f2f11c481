import { Button, CopyButton, TextInput } from "@mantine/core";
import type { ReactNode } from "react";
import { texts } from "../texts/texts.ts";
import styles from "./secret.module.css";

/** A secret that is shown once, with a copy button; focusing it selects the text. */
export function Secret({ label, value }: { label: string; value: string }): ReactNode {
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
        data-autofocus
      />
      <CopyButton value={value}>
        {({ copied, copy }) => (
          <Button variant={copied ? "light" : "filled"} onClick={copy}>
            {copied ? texts.copied : texts.copy}
          </Button>
        )}
      </CopyButton>
    </div>
  );
}
