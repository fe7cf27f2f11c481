import { Alert, Button, Checkbox } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState, type ReactNode } from "react";
import type { CsvFormat } from "../../src/importing/csv.ts";
import type { Pet } from "../../src/importing/pets.ts";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { Section } from "../parts/page-header.tsx";
import { RowsTable, type Column } from "../parts/rows-table.tsx";
import { importTexts } from "../texts/en-import-file.ts";
import { formatNumber, texts } from "../texts/texts.ts";
import styles from "./importing.module.css";
import { CountList, Reading, RejectList, RepeatedIds } from "./preview.tsx";
import { RunView } from "./run-view.tsx";
import { StartBar } from "./start-bar.tsx";
import type { ExportChange } from "./tasks.ts";
import { dropLists, refusalOfTask, useTask } from "./use-task.ts";

const words = importTexts.ownExport;

const columns: Column<ExportChange>[] = [
  { id: "id", header: texts.store.animals.id, width: "110px", cell: ({ change: { id } }) => id },
  { id: "animal", header: words.animal, cell: ({ name }) => name },
  { id: "change", header: words.change, cell: (change) => <Fields of={change} /> },
];

/** Imports a file that was exported here: shows its changes, then makes them. */
export function ExportUpdate({ file, format, onAsNew }: { file: File; format: CsvFormat; onAsNew: () => void }): ReactNode {
  const client = useQueryClient();
  const { state: checked, start: check } = useTask<"checkExport">();
  const { state: run, start, stop } = useTask<"importExport">();
  const isOver = run.result ?? run.failed ?? (run.isStopped || undefined);
  const [appliesStale, setAppliesStale] = useState(false);
  useEffect(() => check({ kind: "checkExport", file, format, appliesStale }), [check, file, format, appliesStale]);
  useEffect(() => {
    if (isOver) dropLists(client);
  }, [isOver, client]);
  const changeNow = () => start({ kind: "importExport", file, format, appliesStale });
  if (run.isRunning || isOver) return <RunView run={run} of={file.name} onStop={stop} onAgain={changeNow} />;
  const { result, failed, isRunning } = checked;
  return (
    <>
      <Alert variant="light" title={words.title} mb="lg">
        <p className={styles.alertText}>{words.text}</p>
        <Button variant="default" size="compact-sm" onClick={onAsNew}>
          {words.asNew}
        </Button>
      </Alert>
      {failed && <ErrorPanel error={refusalOfTask(failed)} />}
      {isRunning && !result && <Reading />}
      {result && (
        <Section title={words.changes}>
          <CountList counts={result.counts} />
          <RepeatedIds counts={result.counts} repeated={result.repeated} />
          {(result.counts.stale ?? 0) > 0 || appliesStale ? (
            <Alert color="yellow" variant="light" mb="md" title={words.staleTitle} className={styles.warning}>
              <p className={styles.alertText}>{words.staleText}</p>
              <Checkbox
                label={words.applyStale}
                checked={appliesStale}
                onChange={({ currentTarget: { checked: isChecked } }) => setAppliesStale(isChecked)}
              />
            </Alert>
          ) : null}
          {result.changes.length > 0 && (
            <RowsTable label={words.changes} rows={result.changes} keyOf={({ change: { id } }) => id} columns={columns} />
          )}
          <RejectList rejects={result.rejects} total={result.counts.rejected} of={file.name} />
        </Section>
      )}
      {result && (
        <StartBar
          label={words.start(formatNumber(result.counts.updated))}
          isDisabled={result.counts.updated === 0}
          isRunning={isRunning}
          onStart={changeNow}
          hint={result.counts.updated === 0 && result.counts.unchanged > 0 ? importTexts.nothingToDo : undefined}
        />
      )}
    </>
  );
}

function Fields({ of: { fields, stale } }: { of: ExportChange }): ReactNode {
  return (
    <span className={styles.fieldChanges}>
      {fields.map(({ field, before, after }) => (
        <span key={field}>
          {words.fields[field]}: {words.fromTo(shown(field, before), shown(field, after))}
        </span>
      ))}
      {stale.map(({ field, before, after }) => (
        <span key={field}>
          {words.fields[field]}: {words.stays(shown(field, before), shown(field, after))}
        </span>
      ))}
    </span>
  );
}

function shown(field: ExportChange["fields"][number]["field"], value: string): string {
  if (field === "stock" && value === "") return words.untracked;
  return field === "status" ? (texts.store.status[value as Pet["status"]] ?? value) : value;
}
