import type { ReactNode } from "react";
import styles from "./heading.module.css";

/** The heading of a part of an operation, below the operation's own of `level`. */
export function PartHeading({ level, children }: { level: 1 | 2; children: ReactNode }): ReactNode {
  const Tag = level === 1 ? "h2" : "h3";
  return <Tag className={styles.part}>{children}</Tag>;
}

/** A step below a part's heading. */
export function SubHeading({ level, children }: { level: 1 | 2; children: ReactNode }): ReactNode {
  const Tag = level === 1 ? "h3" : "h4";
  return <Tag className={styles.sub}>{children}</Tag>;
}
