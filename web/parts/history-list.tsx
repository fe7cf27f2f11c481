import type { ReactNode } from "react";
import { historyTexts as words } from "../texts/en-history.ts";
import styles from "./history-list.module.css";
import { Ago } from "./moment.tsx";

export type Actor = { type: keyof typeof words.actors; name: string | null };
/** One step: what happened, when and by whom, what it changed, and what it belongs to. */
export type HistoryStep = { position: number; title: string; at: string; actor: Actor; changes: string[]; beside?: ReactNode };

/** What happened to one thing, in the order given. */
export function HistoryList({ label, steps }: { label: string; steps: HistoryStep[] }): ReactNode {
  return (
    <ol className={styles.steps} aria-label={label}>
      {steps.map(({ position, title, at, actor, changes, beside }) => (
        <li key={position}>
          <strong>{title}</strong> <span>{words.by(actor.name ?? words.actors[actor.type])}</span> · <Ago at={at} />
          {beside && <> · {beside}</>}
          {changes.map((change) => (
            <p key={change}>{change}</p>
          ))}
        </li>
      ))}
    </ol>
  );
}
