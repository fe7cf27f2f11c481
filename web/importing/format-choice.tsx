import { Select, SimpleGrid } from "@mantine/core";
import type { ReactNode } from "react";
import { delimiters, encodings, type CsvFormat } from "../../src/importing/csv-format.ts";
import { texts } from "../texts/texts.ts";

const words = texts.importing.format;
const encodingChoices = encodings.map((value) => ({ value, label: words.encodings[value] }));
const delimiterChoices = delimiters.map((value) => ({ value, label: words.delimiters[value] }));

/** Shows the file's encoding and delimiter, and lets the user correct them. */
export function FormatChoice({ format, onChange }: { format: CsvFormat; onChange: (format: CsvFormat) => void }): ReactNode {
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="md" my="md">
      <Select
        label={words.encoding}
        data={encodingChoices}
        value={format.encoding}
        onChange={(encoding) => encoding && onChange({ ...format, encoding })}
        allowDeselect={false}
      />
      <Select
        label={words.delimiter}
        data={delimiterChoices}
        value={format.delimiter}
        onChange={(delimiter) => delimiter && onChange({ ...format, delimiter })}
        allowDeselect={false}
      />
    </SimpleGrid>
  );
}
