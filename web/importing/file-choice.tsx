import { Button, FileButton } from "@mantine/core";
import { useState, type DragEvent, type ReactNode } from "react";
import { importTexts as words } from "../texts/en-import-file.ts";
import styles from "./importing.module.css";

const megabytesMax = 100;

/** Accepts a file by button or by drag and drop. */
export function FileChoice({ onFile }: { onFile: (file: File) => void }): ReactNode {
  const [isOver, setOver] = useState(false);
  const [problem, setProblem] = useState<string>();
  function take(file: File | null | undefined): void {
    if (!file) return;
    const isTooLarge = file.size > megabytesMax * 1024 * 1024;
    setProblem(isTooLarge ? words.tooLarge(megabytesMax) : undefined);
    if (!isTooLarge) onFile(file);
  }
  function onDrop(event: DragEvent): void {
    event.preventDefault();
    setOver(false);
    take(event.dataTransfer.files[0]);
  }
  return (
    <div
      className={styles.drop}
      data-over={isOver}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={onDrop}
    >
      <p className={styles.dropTitle}>{words.drop}</p>
      <FileButton accept=".csv,.txt,text/csv,.xlsx,.ods" onChange={take}>
        {(props) => <Button {...props}>{words.choose}</Button>}
      </FileButton>
      <p className={styles.hint}>{words.fileHint(megabytesMax)}</p>
      {problem && (
        <p className={styles.problem} role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}
