import type { ReactNode } from "react";
import { texts } from "../texts/texts.ts";
import styles from "./projects.module.css";

/** A link to a published site, which opens in a new tab. */
export function SiteLink({ url, children }: { url: string; children?: ReactNode }): ReactNode {
  return (
    <a className={styles.siteLink} href={url} target="_blank" rel="noopener noreferrer">
      {children ?? url.replace(/^https?:\/\//, "")}
      <span aria-hidden="true"> ↗</span>
      <span className={styles.readOnly}> ({texts.projects.opensAnew})</span>
    </a>
  );
}
