import { Alert, Button, Loader } from "@mantine/core";
import type { ReactNode } from "react";
import { RowsTable } from "../parts/rows-table.tsx";
import { importTexts as words } from "../texts/en-import-file.ts";
import { formatNumber } from "../texts/texts.ts";
import { download } from "./download.ts";
import styles from "./importing.module.css";
import type { Counts, Rejects } from "./tasks.ts";

const shown = ["rows", "created", "updated", "unchanged", "superseded", "rejected"] as const;

/** The counts of a planned or finished import. */
export function CountList({ counts }: { counts: Counts }): ReactNode {
  return (
    <dl className={styles.counts}>
      {shown.map((name) => (
        <div key={name} className={styles.count} data-warns={name === "rejected" && counts.rejected > 0}>
          <dt>{words.counts[name]}</dt>
          <dd>{formatNumber(counts[name])}</dd>
        </div>
      ))}
    </dl>
  );
}

type RepeatedProps = { counts: Counts; repeated: string | undefined; onEveryRow?: () => void };

/** Warns of rows that are left out because a later row has the same id. */
export function RepeatedIds({ counts: { superseded }, repeated, onEveryRow }: RepeatedProps): ReactNode {
  if (repeated === undefined) return null;
  return (
    <Alert
      role="alert"
      color="yellow"
      variant="light"
      mb="md"
      title={words.repeatedTitle(formatNumber(superseded))}
      className={styles.warning}
    >
      <p className={styles.alertText}>{words.repeatedText(repeated)}</p>
      {onEveryRow && (
        <Button variant="default" size="compact-sm" onClick={onEveryRow}>
          {words.everyRow}
        </Button>
      )}
    </Alert>
  );
}

export function Reading(): ReactNode {
  return (
    <output className={styles.reading}>
      <Loader size="sm" aria-hidden /> {words.reading}
    </output>
  );
}

/** The rejected rows with the reasons; the download has all of them. */
export function RejectList({ rejects: { first, file }, total, of }: { rejects: Rejects; total: number; of: string }): ReactNode {
  if (file === undefined) return null;
  return (
    <section aria-label={words.rejects(formatNumber(total))} className={styles.rejects}>
      <h3 className={styles.heading}>{words.rejects(formatNumber(total))}</h3>
      <p className={styles.hint}>
        {words.rejectsHint} {total > first.length && words.shownRejects(formatNumber(first.length))}
      </p>
      <Button variant="default" mb="sm" onClick={() => download(file, `${of.replace(/\.csv$/i, "")}-rejects.csv`)}>
        {words.downloadRejects}
      </Button>
      <RowsTable
        label={words.firstRejects}
        rows={first}
        keyOf={({ line }) => line}
        columns={[
          { id: "line", header: words.line, width: "100px", cell: ({ line }) => formatNumber(line) },
          { id: "reason", header: words.reason, cell: ({ reason }) => reason },
        ]}
      />
    </section>
  );
}
