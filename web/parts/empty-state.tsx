import type { ReactNode } from "react";
import styles from "./empty-state.module.css";

/** Stands where there is nothing yet, and says what to do first; `children` do it. */
export function EmptyState({ title, text, children }: { title: string; text: ReactNode; children?: ReactNode }): ReactNode {
  return (
    <div className={styles.empty}>
      <p className={styles.title}>{title}</p>
      <p className={styles.text}>{text}</p>
      {children && <div className={styles.actions}>{children}</div>}
    </div>
  );
}
