import type { ReactNode } from "react";
import type { CurrentUser } from "../calls/members.ts";
import { EmptyState } from "../parts/empty-state.tsx";
import { domainsTexts as words } from "../texts/en-domains.ts";
import { texts } from "../texts/texts.ts";
import styles from "./domains.module.css";

type Props = Pick<CurrentUser["account"], "plan"> & { isSuspending?: boolean };

/** Explains which plans have custom domains (specification 5.1). `isSuspending`: the account has domains that are not served now. */
export function PlanNotice({ plan, isSuspending = false }: Props): ReactNode {
  const name = texts.dashboard.plans[plan];
  if (isSuspending)
    return (
      <div className={styles.notice} data-tone="warning">
        <p className={styles.noticeTitle}>{words.suspendedTitle}</p>
        <p>
          {words.suspendedText} {words.yourPlan(name)}
        </p>
      </div>
    );
  return (
    <EmptyState
      title={words.planTitle}
      text={
        <>
          {words.planText} {words.yourPlan(name)}
        </>
      }
    />
  );
}
