import { ActionIcon, CopyButton, Tooltip } from "@mantine/core";
import { useMemo, type ReactNode } from "react";
import { texts } from "../texts/texts.ts";
import styles from "./code-block.module.css";
import { highlight, type Language } from "./highlight.tsx";
import { CheckIcon, CopyIcon } from "./icons.tsx";

type Props = { code: string; language: Language; label: string };

/** Highlighted code with a copy button; wide code can be scrolled by keyboard. */
export function CodeBlock({ code, language, label }: Props): ReactNode {
  const colored = useMemo(() => highlight(code, language), [code, language]);
  return (
    <div className={styles.block}>
      {/* What scrolls must be reachable by keyboard, and named (WCAG 2.2, 2.1.1); a fieldset is no place for code. */}
      {/* oxlint-disable-next-line jsx-a11y/prefer-tag-over-role, jsx-a11y/no-noninteractive-tabindex */}
      <pre className={styles.code} tabIndex={0} role="group" aria-label={label}>
        <code>{colored}</code>
      </pre>
      <CopyIconButton text={code} />
    </div>
  );
}

function CopyIconButton({ text }: { text: string }): ReactNode {
  return (
    <CopyButton value={text}>
      {({ copied, copy }) => (
        <Tooltip label={copied ? texts.copied : texts.copy}>
          <ActionIcon
            className={`${styles.copy} screen-only`}
            variant="subtle"
            color={copied ? "pine" : "gray"}
            aria-label={copied ? texts.copied : texts.copy}
            onClick={copy}
          >
            {copied ? <CheckIcon /> : <CopyIcon />}
          </ActionIcon>
        </Tooltip>
      )}
    </CopyButton>
  );
}
