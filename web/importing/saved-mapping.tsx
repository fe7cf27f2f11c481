import { Button, FileButton } from "@mantine/core";
import { useRef, useState, type ReactNode } from "react";
import type { Column } from "../../src/importing/columns.ts";
import { mappingSchema, type Mapping } from "../../src/importing/mapping-schema.ts";
import { columnsOf } from "../../src/importing/mapping.ts";
import type { Detail } from "../../src/platform/problem.ts";
import { importTexts as words } from "../texts/en-import-file.ts";
import { download } from "./download.ts";
import styles from "./importing.module.css";

const bytesMax = 1024 * 1024;

type Props = { mapping: Mapping; of: string; columns: readonly Column[]; onLoad: (mapping: Mapping) => void };

/** Saves the mapping in the format of `petstore import --mapping`, and loads a saved one. */
export function SavedMapping({ mapping, of, columns, onLoad }: Props): ReactNode {
  const [isWrong, setWrong] = useState(false);
  const reset = useRef<() => void>(null);
  const save = () =>
    download(
      new Blob([`${JSON.stringify(mapping, null, 2)}\n`], { type: "application/json" }),
      `${of.replace(/\.csv$/i, "")}.mapping.json`,
    );
  async function load(file: File | null): Promise<void> {
    if (!file) return;
    // so that the same file can be chosen again once it is corrected
    reset.current?.();
    const loaded = await readMapping(file, columns);
    setWrong(loaded === undefined);
    if (loaded) onLoad(loaded);
  }
  return (
    <>
      <FileButton resetRef={reset} accept=".json,application/json" onChange={(file) => void load(file)}>
        {(props) => (
          <Button {...props} variant="subtle">
            {words.loadMapping}
          </Button>
        )}
      </FileButton>
      <Button variant="subtle" onClick={save}>
        {words.downloadMapping}
      </Button>
      {isWrong && (
        <p className={styles.problem} role="alert">
          {words.mappingWrong}
        </p>
      )}
    </>
  );
}

/** Returns undefined if the file is not a mapping, or names columns that are missing. */
async function readMapping(file: File, columns: readonly Column[]): Promise<Mapping | undefined> {
  if (file.size > bytesMax) return undefined;
  const { checkOf } = await import("../../src/platform/http/value-checks.ts");
  let read: unknown;
  try {
    read = JSON.parse((await file.text()).replace(/^\uFEFF/, ""));
  } catch {
    return undefined;
  }
  const found: Detail[] = [];
  const saved = checkOf(mappingSchema)(read, "mapping", found) as Mapping;
  if (found.length > 0) return undefined;
  const names = new Set(columns.map(({ name }) => name));
  const { category } = saved;
  const isWhole = columnsOf(saved).every((column) => names.has(column)) && (category.columns.length > 0 || category.default !== undefined);
  return isWhole ? saved : undefined;
}
