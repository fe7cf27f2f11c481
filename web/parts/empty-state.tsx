import type { ReactNode } from "react";
import styles from "./empty-state.module.css";

/** Shown in place of an empty list, with what to do first; `children` are the buttons for it. */
export function EmptyState({ title, text, children }: { title: string; text: ReactNode; children?: ReactNode }): ReactNode {
  return (
    <div className={styles.empty}>
      <p className={styles.title}>{title}</p>
      <p className={styles.text}>{text}</p>
      {children && <div className={styles.actions}>{children}</div>}
    </div>
  );
}
