import { Button, FileButton } from "@mantine/core";
import { useState, type ReactNode } from "react";
import { DropZone } from "../parts/drop-zone.tsx";
import { importTexts as words } from "../texts/en-import-file.ts";
import styles from "./importing.module.css";

const megabytesMax = 100;

/** Accepts a file by button or by drag and drop. */
export function FileChoice({ onFile }: { onFile: (file: File) => void }): ReactNode {
  const [problem, setProblem] = useState<string>();
  function take(file: File | null | undefined): void {
    if (!file) return;
    const isTooLarge = file.size > megabytesMax * 1024 * 1024;
    setProblem(isTooLarge ? words.tooLarge(megabytesMax) : undefined);
    if (!isTooLarge) onFile(file);
  }
  return (
    <DropZone title={words.drop} onDrop={({ files }) => take(files[0])}>
      <FileButton accept=".csv,.txt,text/csv,.xlsx,.ods" onChange={take}>
        {(props) => <Button {...props}>{words.choose}</Button>}
      </FileButton>
      <p className={styles.hint}>{words.fileHint(megabytesMax)}</p>
      {problem && (
        <p className={styles.problem} role="alert">
          {problem}
        </p>
      )}
    </DropZone>
  );
}
