import type { ReactNode } from "react";
import styles from "./factors.module.css";

/** A second factor: its name, a text about it, and its button. */
export function Factor({ name, text, children }: { name: string; text: ReactNode; children: ReactNode }): ReactNode {
  return (
    <div className={styles.row}>
      <div className={styles.words}>
        <h3>{name}</h3>
        <p>{text}</p>
      </div>
      {children}
    </div>
  );
}
