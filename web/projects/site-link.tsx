import type { ReactNode } from "react";
import { texts } from "../texts/texts.ts";
import styles from "./projects.module.css";

/** A published address, which opens beside the dashboard. */
export function SiteLink({ url, children }: { url: string; children?: ReactNode }): ReactNode {
  return (
    <a className={styles.siteLink} href={url} target="_blank" rel="noopener noreferrer">
      {children ?? url.replace(/^https?:\/\//, "")}
      <span aria-hidden="true"> ↗</span>
      <span className={styles.readOnly}> ({texts.projects.opensAnew})</span>
    </a>
  );
}
