import { Alert, Autocomplete, Button, Group } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState, type ReactNode } from "react";
import type { Columns } from "../../src/importing/columns.ts";
import type { CsvFormat } from "../../src/importing/csv-format.ts";
import { planMapping } from "../../src/importing/mapping-plan.ts";
import type { Guess } from "../../src/importing/guess.ts";
import { useSession } from "../dashboard/session.ts";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { PageHeader, Section } from "../parts/page-header.tsx";
import { formatNumber, texts } from "../texts/texts.ts";
import { ExportUpdate } from "./export-update.tsx";
import { FileChoice } from "./file-choice.tsx";
import { EncodingQuestion, FormatChoice } from "./format-choice.tsx";
import styles from "./importing.module.css";
import { PastImports } from "./late-past-imports.tsx";
import { MappingEditor, withId } from "./mapping-editor.tsx";
import { CountList, PetPreview, Reading, RejectList, RepeatedIds } from "./preview.tsx";
import { RunView } from "./run-view.tsx";
import { Questions } from "./questions.tsx";
import { SavedMapping } from "./saved-mapping.tsx";
import { StartBar } from "./start-bar.tsx";
import type { Checked, Counts } from "./tasks.ts";
import { dropLists, refusalOfTask, useTask, type TaskState } from "./use-task.ts";

const words = texts.importing;

/** `/dashboard/import`: choose a file, map its columns, preview, import. */
export function ImportPage(): ReactNode {
  const [file, setFile] = useState<File>();
  return (
    <>
      <PageHeader title={words.page} lead={words.lead}>
        {file && (
          <Button variant="default" onClick={() => setFile(undefined)}>
            {words.another}
          </Button>
        )}
      </PageHeader>
      {file ? (
        <ChosenFile key={`${file.name} ${file.size} ${file.lastModified}`} file={file} />
      ) : (
        <>
          <FileChoice onFile={setFile} />
          <PastImports />
        </>
      )}
    </>
  );
}

/** Reads the file's columns, then shows the mapping form, or for an export of this shop the changes it makes. */
function ChosenFile({ file }: { file: File }): ReactNode {
  const { account } = useSession();
  const [source, setSource] = useState<string>();
  const [format, setFormat] = useState<CsvFormat>();
  const [answer, setAnswer] = useState<"new" | "changes">();
  const { state, start } = useTask<"inspect">();
  const { id } = account;
  useEffect(() => start({ kind: "inspect", file, account: id, format }), [start, file, id, format]);
  const { result, failed } = state;
  const rowsAre = answer ?? (result && { yes: "changes", no: "new", unclear: undefined }[result.ownExport]);
  const isReadable = result?.guess !== undefined && result.rows > 0 && result.readings === undefined;
  const shownFormat = format ?? result?.format;
  return (
    <>
      <p className={styles.file}>
        <strong>{file.name}</strong> {result && `${formatNumber(result.rows)} ${words.counts.rows}`}
      </p>
      {failed && <ErrorPanel error={refusalOfTask(failed)} />}
      {state.isRunning && <Reading />}
      {shownFormat && <FormatChoice format={shownFormat} onChange={setFormat} />}
      {result?.readings && <EncodingQuestion readings={result.readings} format={result.format} onChange={setFormat} />}
      {result && !isReadable && !result.readings && <p className={styles.problem}>{words.noRows}</p>}
      {isReadable && rowsAre === undefined && <RowsQuestion onAnswer={setAnswer} />}
      {isReadable && rowsAre === "changes" && <ExportUpdate file={file} format={result.format} onAsNew={() => setAnswer("new")} />}
      {isReadable && rowsAre === "new" && result.ownExport !== "no" && (
        <Button variant="default" size="compact-sm" onClick={() => setAnswer("changes")}>
          {words.ownExport.inPlace}
        </Button>
      )}
      {isReadable && result.guess && rowsAre === "new" && (
        <Mapped
          key={JSON.stringify(result.format)}
          {...{ file, columns: result, guess: result.guess, format: result.format, sources: result.sources }}
          source={source ?? result.source}
          account={id}
          onSource={setSource}
        />
      )}
    </>
  );
}

/** Asks what the rows of a file are that may be an export of the shop. */
function RowsQuestion({ onAnswer }: { onAnswer: (answer: "new" | "changes") => void }): ReactNode {
  return (
    <Alert color="yellow" variant="light" title={words.ownExport.unclearTitle} className={styles.warning}>
      <p className={styles.alertText}>{words.ownExport.unclearText}</p>
      <Group gap="sm">
        <Button size="compact-sm" onClick={() => onAnswer("changes")}>
          {words.ownExport.inPlace}
        </Button>
        <Button variant="default" size="compact-sm" onClick={() => onAnswer("new")}>
          {words.ownExport.asNew}
        </Button>
      </Group>
    </Alert>
  );
}

type MappedProps = {
  file: File;
  source: string;
  sources: string[];
  onSource: (source: string) => void;
  columns: Columns;
  guess: Guess;
  format: CsvFormat;
  account: number;
};

function Mapped({ file, source: named, sources, onSource, columns, guess, format, account }: MappedProps): ReactNode {
  const client = useQueryClient();
  const [mapping, setMapping] = useState(guess.mapping);
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
  const importNow = () => start({ kind: "import", file, mapping, format, account, source });
  if (run.isRunning || isOver) return <RunView run={run} of={of} onStop={stop} onAgain={importNow} />;
  return (
    <>
      <Section
        title={words.mapping}
        lead={words.mappingLead}
        actions={<SavedMapping {...{ mapping: { ...mapping, source }, of, columns: columns.columns }} onLoad={setMapping} />}
      >
        <MappingEditor columns={columns.columns} mapping={mapping} onChange={setMapping} />
        {unused.length > 0 && <p className={styles.hint}>{words.unused(unused.join(", "))}</p>}
        <Questions {...{ unanswered, isChecked }} unsure={guess.unsure} onChecked={setChecked} />
        <Autocomplete
          mt="md"
          maw={420}
          label={words.source}
          description={words.sourceHint}
          value={named}
          data={sources}
          maxLength={200}
          onChange={onSource}
        />
      </Section>
      <Section title={words.preview}>
        <Preview checked={checked} of={of} hasIds={mapping.id !== undefined} onEveryRow={() => setMapping(withId(mapping, null))} />
      </Section>
      {checked.result && (
        <Start
          checked={checked}
          counts={checked.result.counts}
          isAnswered={isChecked && unanswered === 0 && source !== ""}
          onStart={importNow}
        />
      )}
    </>
  );
}

type PreviewProps = { checked: TaskState<Checked>; of: string; hasIds: boolean; onEveryRow: () => void };

function Preview({ checked: { result, failed }, of, hasIds, onEveryRow }: PreviewProps): ReactNode {
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
      {animals.length > 0 && <PetPreview animals={animals} hasIds={hasIds} />}
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
