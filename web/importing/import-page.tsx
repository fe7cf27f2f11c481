import { Alert, Button, Group } from "@mantine/core";
import { lazyRouteComponent } from "@tanstack/react-router";
import { Suspense, useEffect, useState, type ReactNode } from "react";
import type { CsvFormat } from "../../src/importing/csv.ts";
import { useSession } from "../dashboard/session.ts";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { PageHeader } from "../parts/page-header.tsx";
import { importTexts as words } from "../texts/en-import-file.ts";
import { formatNumber, texts } from "../texts/texts.ts";
import { ExportUpdate } from "./export-update.tsx";
import { FileChoice } from "./file-choice.tsx";
import { EncodingQuestion, FormatChoice } from "./format-choice.tsx";
import styles from "./importing.module.css";
import { PastImports } from "./late-past-imports.tsx";
import { Reading } from "./preview.tsx";
import { refusalOfTask, useTask } from "./use-task.ts";

const MappedFile = lazyRouteComponent(() => import("./mapped-file.tsx"), "MappedFile");

/** `/dashboard/import`: choose a file, map its columns, preview, import. */
export function ImportPage(): ReactNode {
  const [file, setFile] = useState<File>();
  return (
    <>
      <PageHeader title={texts.importing.page} lead={texts.importing.lead}>
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
  const [format, setFormat] = useState<Partial<CsvFormat>>({});
  const [answer, setAnswer] = useState<"new" | "changes">();
  const { state, start } = useTask<"inspect">();
  const { id } = account;
  useEffect(() => start({ kind: "inspect", file, account: id, format }), [start, file, id, format]);
  const { result, failed } = state;
  const rowsAre = answer ?? (result && { yes: "changes", no: "new", unclear: undefined }[result.ownExport]);
  const isReadable = result?.guess !== undefined && result.rows > 0 && result.readings === undefined;
  // The last format that could be read stays on the page, so that a wrong choice can be corrected.
  const [last, setLast] = useState(result);
  if (result && result !== last) setLast(result);
  return (
    <>
      <p className={styles.file}>
        <strong>{file.name}</strong> {result && `${formatNumber(result.rows)} ${words.counts.rows}`}
      </p>
      {failed && <ErrorPanel error={refusalOfTask(failed)} />}
      {state.isRunning && <Reading />}
      {last && <FormatChoice format={{ ...last.format, ...format }} sheets={last.sheets} onChange={setFormat} />}
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
        <Suspense fallback={<Reading />}>
          <MappedFile
            key={JSON.stringify(result.format)}
            {...{ file, columns: result, guess: result.guess, format: result.format, sources: result.sources }}
            source={source ?? result.source}
            account={id}
            onSource={setSource}
          />
        </Suspense>
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
