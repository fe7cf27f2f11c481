import type { ReactNode } from "react";
import { domainsTexts } from "../texts/en-domains.ts";
import styles from "./domains.module.css";
import type { Domain } from "./state.ts";

const words = domainsTexts.attention;

/** The three checks for a certificate that is late or has expired (specification 5.8). */
export function Attention({ attention: { checks } }: { attention: NonNullable<Domain["attention"]> }): ReactNode {
  return (
    <section className={styles.attention} aria-label={words.title}>
      <p className={styles.problemTitle}>{words.title}</p>
      <ul className={styles.checks}>
        {checks.map(({ check, passed, message }) => (
          <li key={check} className={styles.check}>
            <span className={styles.mark} data-passed={String(passed)}>
              {passed === null ? words.unknown : passed ? words.passed : words.notPassed}
            </span>
            <span>{message}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
