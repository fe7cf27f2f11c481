import type { ReactNode } from "react";
import { usePageTitle } from "../frame/page-title.ts";
import styles from "./page-header.module.css";

type Props = { title: string; tab?: string; lead?: ReactNode; children?: ReactNode };

/** The heading of a page. `tab` is the title of the browser's tab. Default: the heading. `children` are the page's main actions. */
export function PageHeader({ title, tab = title, lead, children }: Props): ReactNode {
  usePageTitle(tab);
  return (
    <div className={styles.header}>
      <h1 className={styles.title}>{title}</h1>
      {lead && <p className={styles.lead}>{lead}</p>}
      {children && <div className={styles.actions}>{children}</div>}
    </div>
  );
}

type SectionProps = { title: string; lead?: ReactNode; actions?: ReactNode; children: ReactNode };

/** A section of a page with a heading. */
export function Section({ title, lead, actions, children }: SectionProps): ReactNode {
  return (
    <section className={styles.section} aria-label={title}>
      <div className={styles.header}>
        <h2 className={styles.sectionTitle}>{title}</h2>
        {lead && <p className={styles.lead}>{lead}</p>}
        {actions && <div className={styles.actions}>{actions}</div>}
      </div>
      {children}
    </section>
  );
}
