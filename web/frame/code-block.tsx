import { ActionIcon, CopyButton, Tooltip } from "@mantine/core";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { useMemo, type ReactNode } from "react";
import { texts } from "../texts/texts.ts";
import styles from "./code-block.module.css";
import type { Language } from "./highlight.tsx";
import { CheckIcon, CopyIcon } from "./icons.tsx";
import { useIdle } from "./use-idle.ts";

/** Loads the syntax highlighter. */
export const highlighterQuery = queryOptions({ queryKey: ["highlighter"], staleTime: Infinity, queryFn: () => import("./highlight.tsx") });

type Props = { code: string; language: Language; label: string };

/** Code with a copy button, highlighted once the page is idle; wide code can be scrolled by keyboard. */
export function CodeBlock({ code, language, label }: Props): ReactNode {
  const { data: highlighter } = useQuery({ ...highlighterQuery, enabled: useIdle() && language !== "text" });
  const colored = useMemo(() => highlighter?.highlight(code, language) ?? code, [highlighter, code, language]);
  return (
    <div className={styles.block}>
      {/* A box that scrolls must be named and reachable by keyboard (WCAG 2.2, 2.1.1). A fieldset, which the rule wants, is for forms. */}
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
