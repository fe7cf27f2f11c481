import type { ReactNode } from "react";
import { Moment } from "../parts/moment.tsx";
import { webhooksTexts as words } from "../texts/en-webhooks.ts";
import type { Webhook } from "./queries.ts";
import styles from "./webhooks.module.css";

/** Whether an endpoint is on and works. */
export function WebhookState({ of: { enabled, failingSince } }: { of: Webhook }): ReactNode {
  const state = !enabled ? "off" : failingSince === null ? "on" : "failing";
  return (
    <span className={styles.state} data-state={state}>
      {words.states[state]}
    </span>
  );
}

/** The types of events that an endpoint gets. */
export function Gets({ of: { types } }: { of: Webhook }): ReactNode {
  return types.includes("*") ? words.everything : types.join(", ");
}

/** Why an endpoint is off or fails; nothing while it works. */
export function Trouble({ of: { enabled, disabledBecause, failingSince, pausedUntil } }: { of: Webhook }): ReactNode {
  if (!enabled) return disabledBecause === null ? null : words.because[disabledBecause];
  if (failingSince === null) return null;
  return (
    <>
      {words.failingSince} <Moment at={failingSince} />. {words.retries}
      {pausedUntil !== null && (
        <>
          {" "}
          {words.pausedUntil} <Moment at={pausedUntil} />. {words.pauseEnds}
        </>
      )}
    </>
  );
}
