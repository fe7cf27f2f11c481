import { Button, Group, Loader, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState, type ReactNode } from "react";
import type { Mapping } from "../../src/importing/mapping.ts";
import { dashboardKey } from "../calls/lists.ts";
import { useSession } from "../dashboard/session.ts";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { PageHeader, Section } from "../parts/page-header.tsx";
import { formatNumber, texts } from "../texts/texts.ts";
import { download } from "./download.ts";
import { FileChoice } from "./file-choice.tsx";
import styles from "./importing.module.css";
import { MappingEditor } from "./mapping-editor.tsx";
import { AnimalPreview, CountList, RejectList } from "./preview.tsx";
import { refusalOfTask } from "./refusal-of-task.ts";
import { RunView } from "./run-view.tsx";
import type { Columns } from "./columns.ts";
import type { Checked } from "./tasks.ts";
import { useTask, type TaskState } from "./use-task.ts";

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
      {file ? <ChosenFile key={`${file.name} ${file.size} ${file.lastModified}`} file={file} /> : <FileChoice onFile={setFile} />}
    </>
  );
}

/** Reads the file's columns, then shows the mapping form. */
function ChosenFile({ file }: { file: File }): ReactNode {
  const { account } = useSession();
  const [name, setName] = useState(file.name);
  const { state, start } = useTask<"look">();
  useEffect(() => start({ kind: "look", file, of: { account: account.id, name: file.name } }), [start, file, account.id]);
  const { result, failed } = state;
  return (
    <>
      <p className={styles.file}>
        <strong>{file.name}</strong> {result && `${formatNumber(result.rows)} ${words.counts.rows}`}
      </p>
      {failed && <ErrorPanel error={refusalOfTask(failed)} />}
      {state.isRunning && <Reading />}
      {result && (result.rows === 0 || result.mapping === undefined) && <p className={styles.problem}>{words.noRows}</p>}
      {result?.mapping && result.rows > 0 && (
        <Mapped file={file} name={name} onName={setName} columns={result} guess={result.mapping} account={account.id} />
      )}
    </>
  );
}

type MappedProps = { file: File; name: string; onName: (name: string) => void; columns: Columns; guess: Mapping; account: number };

function Mapped({ file, name, onName, columns, guess, account }: MappedProps): ReactNode {
  const client = useQueryClient();
  const [mapping, setMapping] = useState(guess);
  const { state: checked, start: check } = useTask<"check">();
  const { state: run, start, stop } = useTask<"import">();
  const isOver = run.result ?? run.failed ?? (run.isStopped || undefined);
  const of = name.trim() || file.name;

  useEffect(() => check({ kind: "check", file, mapping, of: { account, name: of } }), [check, file, mapping, account, of]);
  useEffect(() => {
    // lists that show imported animals are read again
    if (isOver) client.removeQueries({ queryKey: [dashboardKey], predicate: ({ queryKey }) => String(queryKey[1]).startsWith("/") });
  }, [isOver, client]);

  const importNow = (resend: boolean) => start({ kind: "import", file, mapping, of: { account, name: of }, resend });
  if (run.isRunning || isOver) return <RunView run={run} of={of} onStop={stop} onAgain={importNow} />;
  return (
    <>
      <Section title={words.mapping} lead={words.mappingLead} actions={<MappingDownload mapping={mapping} of={of} />}>
        <MappingEditor columns={columns.columns} mapping={mapping} onChange={setMapping} />
        <TextInput
          mt="md"
          maw={420}
          label={words.remembered}
          description={words.rememberedHint}
          value={name}
          maxLength={200}
          onChange={({ currentTarget }) => onName(currentTarget.value)}
        />
      </Section>
      <Section title={words.preview}>
        <Preview checked={checked} of={of} onStart={() => importNow(false)} />
      </Section>
    </>
  );
}

function Preview({ checked, of, onStart }: { checked: TaskState<Checked>; of: string; onStart: () => void }): ReactNode {
  const { result, failed, isRunning } = checked;
  if (failed) return <ErrorPanel error={refusalOfTask(failed)} />;
  if (!result) return <Reading />;
  const { counts, animals, rejects } = result;
  const toSend = counts.created + counts.updated;
  return (
    <>
      <CountList counts={counts} />
      {animals.length > 0 && <AnimalPreview animals={animals} />}
      <Group mt="md" gap="sm">
        <Button size="md" disabled={toSend === 0} loading={isRunning} onClick={onStart}>
          {words.start(formatNumber(toSend))}
        </Button>
        {toSend === 0 && counts.rows > 0 && counts.unchanged > 0 && <span className={styles.hint}>{words.nothingToDo}</span>}
      </Group>
      <RejectList rejects={rejects} total={counts.rejected} of={of} />
    </>
  );
}

/** The mapping in the format of `petstore import --mapping`. */
function MappingDownload({ mapping, of }: { mapping: Mapping; of: string }): ReactNode {
  const save = () =>
    download(
      new Blob([`${JSON.stringify(mapping, null, 2)}\n`], { type: "application/json" }),
      `${of.replace(/\.csv$/i, "")}.mapping.json`,
    );
  return (
    <Button variant="subtle" onClick={save}>
      {words.downloadMapping}
    </Button>
  );
}

function Reading(): ReactNode {
  return (
    <output className={styles.reading}>
      <Loader size="sm" aria-hidden /> {words.reading}
    </output>
  );
}
