import { Alert, Autocomplete } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useState, type ReactNode } from "react";
import type { CsvFormat } from "../../src/importing/csv.ts";
import type { Guess } from "../../src/importing/guess.ts";
import { listed } from "../../src/importing/lists.ts";
import { openPrices, planMapping, withCurrency } from "../../src/importing/mapping-plan.ts";
import type { Mapping } from "../../src/importing/mapping-schema.ts";
import { useSession } from "../dashboard/session.ts";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { Section } from "../parts/page-header.tsx";
import { importTexts as words } from "../texts/en-import-file.ts";
import { formatNumber } from "../texts/texts.ts";
import { FactColumns } from "./fact-columns.tsx";
import styles from "./importing.module.css";
import { MappingEditor, withId } from "./mapping-editor.tsx";
import { PetPreview } from "./pet-preview.tsx";
import { CountList, Reading, RejectList, RepeatedIds } from "./preview.tsx";
import { ProfileColumns } from "./profile-columns.tsx";
import { Questions } from "./questions.tsx";
import { RunView } from "./run-view.tsx";
import { SavedMapping } from "./saved-mapping.tsx";
import { StartBar } from "./start-bar.tsx";
import type { Checked, Counts, Inspected } from "./tasks.ts";
import { dropLists, refusalOfTask, useTask, type TaskState } from "./use-task.ts";

type MappedProps = {
  file: File;
  source: string;
  sources: string[];
  onSource: (source: string) => void;
  columns: Inspected;
  guess: Guess;
  format: CsvFormat;
  account: number;
};

/** The form that maps the columns of a file, what that makes of its rows, and the import. */
export function MappedFile({ file, source: named, sources, onSource, columns, guess, format, account }: MappedProps): ReactNode {
  const client = useQueryClient();
  const { currency } = useSession().account;
  const [given, setMapping] = useState(guess.mapping);
  const mapping = useMemo(() => withCurrency(columns.columns, given, currency), [columns, given, currency]);
  const [isChecked, setChecked] = useState(guess.unsure.length === 0);
  const { state: checked, start: check } = useTask<"check">();
  const { state: run, start, stop } = useTask<"import">();
  const isOver = run.result ?? run.failed ?? (run.isStopped || undefined);
  const of = file.name;
  const source = named.trim();

  useEffect(() => {
    if (source !== "") check({ kind: "check", file, mapping, format, account, source });
  }, [check, file, mapping, format, account, source]);
  useEffect(() => {
    if (isOver) dropLists(client);
  }, [isOver, client]);

  const { statuses, unused } = planMapping(columns.columns, mapping);
  const unanswered = statuses.filter(({ status }) => status === undefined).length;
  const openPrice = openPrices(columns.columns, mapping);
  const isPriceOpen = Object.keys(openPrice).length > 0;
  const importNow = () => start({ kind: "import", file, mapping, format, account, source });
  if (run.isRunning || isOver) return <RunView run={run} of={of} onStop={stop} onAgain={importNow} />;
  return (
    <>
      <Section
        title={words.mapping}
        lead={columns.isRecalled ? words.mappingRecalled : words.mappingLead}
        actions={<SavedMapping {...{ mapping: { ...mapping, source }, of, columns: columns.columns }} onLoad={setMapping} />}
      >
        <MappingEditor columns={columns.columns} mapping={mapping} onChange={setMapping} />
        <ProfileColumns columns={columns.columns} mapping={mapping} openPrice={openPrice} onChange={setMapping} />
        <FactColumns columns={columns.columns} mapping={mapping} onChange={setMapping} />
        {unused.length > 0 && <p className={styles.hint}>{words.unused(listed(unused))}</p>}
        <Questions {...{ unanswered, isChecked, isPriceOpen }} unsure={guess.unsure} onChecked={setChecked} />
        <SourceName {...{ named, sources, onSource }} otherSource={columns.otherSource} />
      </Section>
      {source !== "" && (
        <Section title={words.preview}>
          <Preview checked={checked} of={of} mapping={mapping} onEveryRow={() => setMapping(withId(mapping, null))} />
        </Section>
      )}
      {source !== "" && checked.result && (
        <Start
          checked={checked}
          counts={checked.result.counts}
          isAnswered={isChecked && unanswered === 0 && !isPriceOpen && source !== ""}
          onStart={importNow}
        />
      )}
    </>
  );
}

type SourceNameProps = Pick<MappedProps, "sources" | "onSource"> & { named: string; otherSource: string | undefined };

function SourceName({ named, sources, onSource, otherSource }: SourceNameProps): ReactNode {
  const isOpen = named.trim() === "" && otherSource !== undefined;
  return (
    <Autocomplete
      mt="md"
      maw={420}
      label={words.source}
      description={words.sourceHint}
      value={named}
      data={sources}
      maxLength={200}
      error={isOpen && words.otherSource(otherSource)}
      onChange={onSource}
    />
  );
}

type PreviewProps = { checked: TaskState<Checked>; of: string; mapping: Mapping; onEveryRow: () => void };

function Preview({ checked: { result, failed }, of, mapping, onEveryRow }: PreviewProps): ReactNode {
  if (failed) return <ErrorPanel error={refusalOfTask(failed)} />;
  if (!result) return <Reading />;
  const { counts, animals, rejects, repeated, needed, room = needed } = result;
  return (
    <>
      {needed > room && (
        <Alert color="red" variant="light" mb="md" role="alert" title={words.tooMany}>
          <p className={styles.alertText}>{words.tooManyText(formatNumber(needed), formatNumber(room))}</p>
        </Alert>
      )}
      <CountList counts={counts} />
      <RepeatedIds counts={counts} repeated={repeated} onEveryRow={onEveryRow} />
      {animals.length > 0 && <PetPreview animals={animals} mapping={mapping} />}
      <RejectList rejects={rejects} total={counts.rejected} of={of} />
    </>
  );
}

type StartProps = { checked: TaskState<Checked>; counts: Counts; isAnswered: boolean; onStart: () => void };

function Start({ checked, counts: { created, updated, unchanged, rows }, isAnswered, onStart }: StartProps): ReactNode {
  const { needed = 0, room = needed } = checked.result ?? {};
  const toSend = created + updated;
  const hint = toSend === 0 && rows > 0 && unchanged > 0 ? words.nothingToDo : undefined;
  return (
    <StartBar
      label={words.start(formatNumber(toSend))}
      isDisabled={toSend === 0 || checked.failed !== undefined || !isAnswered || needed > room}
      isRunning={checked.isRunning}
      onStart={onStart}
      hint={isAnswered ? hint : words.answerFirst}
    />
  );
}
