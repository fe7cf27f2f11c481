import { Alert, Checkbox } from "@mantine/core";
import type { ReactNode } from "react";
import type { GuessedField } from "../../src/importing/header-words.ts";
import { importTexts as words } from "../texts/en-import-file.ts";
import { profileTexts } from "../texts/en-import-profile.ts";
import { formatNumber } from "../texts/texts.ts";
import styles from "./importing.module.css";

const fields: Record<GuessedField, string> = { ...words, ...profileTexts };

type Props = {
  /** The number of values without a status. */
  unanswered: number;
  unsure: readonly GuessedField[];
  /** Whether the prices leave their currency or their amounts open. */
  isPriceOpen: boolean;
  isChecked: boolean;
  onChecked: (isChecked: boolean) => void;
};

/** What the guess does not settle. Nothing is imported before it is answered. */
export function Questions({ unanswered, unsure, isPriceOpen, isChecked, onChecked }: Props): ReactNode {
  return (
    <>
      {unanswered > 0 && (
        <Question title={words.unansweredTitle(formatNumber(unanswered))}>
          <p className={styles.alertText}>{words.unansweredText}</p>
        </Question>
      )}
      {isPriceOpen && (
        <Question title={profileTexts.openTitle}>
          <p className={styles.alertText}>{profileTexts.openText}</p>
        </Question>
      )}
      {unsure.length > 0 && (
        <Question title={words.mapping}>
          <p className={styles.alertText}>{words.unsureText(unsure.map((field) => fields[field]).join(", "))}</p>
          <Checkbox label={words.unsureChecked} checked={isChecked} onChange={({ currentTarget: { checked } }) => onChecked(checked)} />
        </Question>
      )}
    </>
  );
}

function Question({ title, children }: { title: string; children: ReactNode }): ReactNode {
  return (
    <Alert color="yellow" variant="light" mt="md" title={title} className={styles.warning}>
      {children}
    </Alert>
  );
}
