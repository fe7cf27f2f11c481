import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import styles from "./importing.module.css";

type Props = { label: string; isDisabled: boolean; isRunning: boolean; onStart: () => void; hint: string | undefined };

/** The button that starts an import. It stays at the lower edge of the window while the page scrolls. */
export function StartBar({ label, isDisabled, isRunning, onStart, hint }: Props): ReactNode {
  return (
    <div className={styles.startBar}>
      <Button size="md" disabled={isDisabled} loading={isRunning} onClick={onStart}>
        {label}
      </Button>
      {hint !== undefined && <span className={styles.hint}>{hint}</span>}
    </div>
  );
}
