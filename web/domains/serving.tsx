import type { ReactNode } from "react";
import { texts } from "../texts/texts.ts";
import styles from "./domains.module.css";
import type { Domain } from "./state.ts";

const words = texts.domains.serving;

/** What visitors of a domain get now, and the service's reason, unless a problem already states it. */
export function Serving({ domain: { serving, problems } }: { domain: Domain }): ReactNode {
  const { what, to, reason } = serving;
  const isListed = problems.some(({ message }) => message === reason);
  return (
    <p className={styles.serving}>
      <strong>{what === "redirect" ? words.redirect(to ?? "") : words[what]}</strong>
      {!isListed && <span> {reason}</span>}
    </p>
  );
}
