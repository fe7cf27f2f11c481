import type { ReactNode } from "react";
import { domainsTexts } from "../texts/en-domains.ts";
import styles from "./domains.module.css";
import type { Domain } from "./state.ts";

const words = domainsTexts.problems;

/** Problems that are not about DNS records: the page leaves out their expected and found values. */
const uncompared: ReadonlySet<string> = new Set(["redirect_target_not_ready", "plan_required"]);

/** A domain's problems: the DNS records that were expected and found, and how to fix them. The service sends all these texts. */
export function Problems({ problems }: Pick<Domain, "problems">): ReactNode {
  return (
    <ul className={styles.problems} aria-label={words.title}>
      {problems.map(({ code, message, expected, found, fix }) => (
        <li key={`${code} ${found}`} className={styles.problem}>
          <p className={styles.problemTitle}>{message}</p>
          <dl className={styles.compared}>
            {!uncompared.has(code) && (
              <>
                <dt>{words.expected}</dt>
                <dd className={styles.mono}>{expected}</dd>
                <dt>{words.found}</dt>
                <dd className={styles.mono}>{found}</dd>
              </>
            )}
            <dt>{words.fix}</dt>
            <dd>{fix}</dd>
          </dl>
        </li>
      ))}
    </ul>
  );
}
