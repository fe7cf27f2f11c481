import type { ReactNode } from "react";
import { Anchor } from "./anchor.tsx";
import styles from "./heading.module.css";

type Props = { id: string; level: 1 | 2; children: string };

/** The heading of a part of an operation, with a link to it. `level` is that of the operation's heading. */
export function PartHeading({ id, level, children }: Props): ReactNode {
  const Tag = level === 1 ? "h2" : "h3";
  return (
    <div className={styles.part}>
      <Tag id={id}>{children}</Tag>
      <Anchor id={id} name={children} />
    </div>
  );
}

/** A heading one level below a `PartHeading`. */
export function SubHeading({ id, level, children }: Props): ReactNode {
  const Tag = level === 1 ? "h3" : "h4";
  return (
    <div className={styles.sub}>
      <Tag id={id}>{children}</Tag>
      <Anchor id={id} name={children} />
    </div>
  );
}
