import { Alert, Button, Group, Progress } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { listed } from "../../src/importing/lists.ts";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { Section } from "../parts/page-header.tsx";
import { importTexts as words } from "../texts/en-import-file.ts";
import { formatNumber, texts } from "../texts/texts.ts";
import styles from "./importing.module.css";
import { PastImports } from "./late-past-imports.tsx";
import { RejectList, CountList } from "./preview.tsx";
import type { Imported } from "./tasks.ts";
import { refusalOfTask, type TaskState } from "./use-task.ts";

type Props = { run: TaskState<Imported>; of: string; onStop: () => void; onAgain: () => void };

/** The progress of an import, then its result. */
export function RunView({ run, of, onStop, onAgain }: Props): ReactNode {
  const { isRunning, isStopped, result, failed, done } = run;
  if (isRunning) return <Running run={run} onStop={onStop} />;
  if (result) return <Done imported={result} of={of} />;
  return (
    <Section title={isStopped ? words.stoppedTitle : words.failedTitle}>
      {failed && <ErrorPanel error={refusalOfTask(failed)} />}
      <Alert color="gray" variant="light" mb="md">
        {isStopped ? words.stoppedText(formatNumber(done)) : words.failedText}
      </Alert>
      <Group gap="sm">
        <Button onClick={onAgain}>{texts.retry}</Button>
      </Group>
    </Section>
  );
}

function Running({ run: { done, total, waitMs }, onStop }: { run: TaskState<Imported>; onStop: () => void }): ReactNode {
  const percent = total === undefined || total === 0 ? 0 : (100 * done) / total;
  return (
    <Section title={words.running}>
      <Progress value={percent} size="lg" aria-label={words.running} transitionDuration={200} />
      <Group mt="sm" justify="space-between" align="center">
        <output className={styles.progress}>
          {total === undefined ? words.preparing : words.progress(formatNumber(done), formatNumber(total))}
          {waitMs !== undefined && <span className={styles.waiting}>{words.waiting(formatNumber(Math.ceil(waitMs / 1_000)))}</span>}
        </output>
        <Button variant="default" onClick={onStop}>
          {texts.importing.stop}
        </Button>
      </Group>
    </Section>
  );
}

function Done({ imported: { counts, categoriesMade, rejects }, of }: { imported: Imported; of: string }): ReactNode {
  const { created, updated, unchanged, rejected } = counts;
  return (
    <Section title={words.doneTitle}>
      <output className={styles.summary}>
        {words.summary(formatNumber(created), formatNumber(updated), formatNumber(unchanged), formatNumber(rejected))}
      </output>
      <CountList counts={counts} />
      {categoriesMade.length > 0 && <p className={styles.hint}>{words.categoriesMade(listed(categoriesMade))}</p>}
      <Group mt="md">
        <Button renderRoot={(props) => <Link to="/dashboard/animals" {...props} />}>{words.toAnimals}</Button>
      </Group>
      <RejectList rejects={rejects} total={rejected} of={of} />
      <PastImports />
    </Section>
  );
}
