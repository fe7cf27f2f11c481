import { Alert, Button, Select, TextInput } from "@mantine/core";
import type { ReactNode } from "react";
import { delimiters, type CsvFormat } from "../../src/importing/csv.ts";
import { type Encoding, type EncodingReading, encodings } from "../../src/importing/encodings.ts";
import { formatTexts as words } from "../texts/en-import-format.ts";
import styles from "./importing.module.css";

const encodingChoices = encodings.map((value) => ({ value, label: labelOf(value) }));
const delimiterChoices = delimiters.map((value) => ({ value, label: words.delimiters[value] }));

function labelOf(encoding: Encoding): string {
  return (words.encodings as Partial<Record<Encoding, string>>)[encoding] ?? encoding;
}

/** `onChange` gets the choices; the rest is detected anew. */
type Props = { format: CsvFormat; onChange: (format: Partial<CsvFormat>) => void };

/** Shows the file's encoding, delimiter and line of the header, or the sheet of a workbook, and lets the user correct them. */
export function FormatChoice({ format, sheets, onChange }: Props & { sheets: string[] | undefined }): ReactNode {
  return (
    <div className={styles.fields}>
      {sheets && format.sheet !== undefined && (
        <Select
          label={words.sheet}
          description={sheets.length > 1 && words.severalSheets(String(sheets.length))}
          data={[...new Set([...sheets, format.sheet])]}
          value={format.sheet}
          onChange={(sheet) => sheet !== null && onChange({ sheet })}
          allowDeselect={false}
        />
      )}
      {!sheets && <TextChoice {...{ format, onChange }} />}
      <TextInput
        label={words.headerLine}
        type="number"
        min={1}
        value={format.headerLine}
        onChange={({ currentTarget: { valueAsNumber } }) => valueAsNumber >= 1 && onChange({ ...format, headerLine: valueAsNumber })}
      />
    </div>
  );
}

function TextChoice({ format, onChange }: Props): ReactNode {
  return (
    <>
      <Select
        label={words.encoding}
        data={encodingChoices}
        value={format.encoding}
        onChange={(encoding) => encoding && onChange({ ...format, encoding })}
        allowDeselect={false}
        searchable
      />
      <Select
        label={words.delimiter}
        data={delimiterChoices}
        value={format.delimiter}
        onChange={(delimiter) => delimiter && onChange({ ...format, delimiter })}
        allowDeselect={false}
      />
    </>
  );
}

/** Asks which of several encodings is right, by what each makes of the file. */
export function EncodingQuestion({ readings, format, onChange }: Props & { readings: readonly EncodingReading[] }): ReactNode {
  return (
    <Alert variant="light" title={words.unsure} mb="lg">
      <p className={styles.alertText}>{words.unsureText}</p>
      {readings.map(({ encoding, cells }) => (
        <p key={encoding} className={styles.alertText}>
          <Button variant="default" size="compact-sm" onClick={() => onChange({ ...format, encoding })}>
            {labelOf(encoding)}
          </Button>{" "}
          {cells.join(" · ")}
        </p>
      ))}
    </Alert>
  );
}
