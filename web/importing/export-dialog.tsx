import { Button, Group, Progress, Radio, Stack } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef, useState, type ReactNode } from "react";
import type { Query } from "../../client/pages.ts";
import { exportList, type ExportFormat } from "../../src/importing/exporting.ts";
import { patientStore } from "../calls/patient.ts";
import { Dialog } from "../parts/dialog.tsx";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { notify } from "../parts/notices.ts";
import { formatNumber, texts } from "../texts/texts.ts";
import { download } from "./download.ts";

const words = texts.importing.export;
const formats: Record<ExportFormat, { type: string; file: string }> = {
  csv: { type: "text/csv", file: "animals.csv" },
  ndjson: { type: "application/x-ndjson", file: "animals.ndjson" },
};

/** Exports every pet that matches the filters to a file, page by page. */
export function ExportDialog({ filters, onClose }: { filters: Query<"/pets">; onClose: () => void }): ReactNode {
  const [format, setFormat] = useState<ExportFormat>("csv");
  const [count, setCount] = useState(0);
  const [isStopped, setStopped] = useState(false);
  const controller = useRef<AbortController>(null);
  useEffect(() => () => controller.current?.abort(), []);
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => {
      controller.current = new AbortController();
      setStopped(false);
      setCount(0);
      return exportPets(filters, format, controller.current.signal, setCount);
    },
    onSuccess: ({ file, animals }) => {
      download(file, formats[format].file);
      notify(words.done(formatNumber(animals)));
      onClose();
    },
  });
  const stop = () => {
    setStopped(true);
    controller.current?.abort();
  };
  const isFiltered = Object.keys(filters).some((name) => name !== "sort");
  return (
    <Dialog title={words.title} onClose={onClose}>
      <p>{isFiltered ? words.lead : words.all}</p>
      <ErrorPanel error={isStopped ? null : error} />
      <Radio.Group label={words.format} value={format} onChange={(value) => setFormat(value)}>
        <Stack gap="xs" mt="xs">
          <Radio value="csv" label={words.formats.csv} disabled={isPending} />
          <Radio value="ndjson" label={words.formats.ndjson} disabled={isPending} />
        </Stack>
      </Radio.Group>
      {isPending && (
        <>
          <Progress mt="md" value={100} animated aria-label={words.title} />
          <output>{words.progress(formatNumber(count))}</output>
        </>
      )}
      <Group mt="lg" justify="flex-end" gap="xs">
        <Button variant="default" onClick={isPending ? stop : onClose}>
          {isPending ? words.stop : texts.dashboard.cancel}
        </Button>
        <Button loading={isPending} onClick={() => mutate()}>
          {words.start}
        </Button>
      </Group>
    </Dialog>
  );
}

/** Reads all pages and stores each as a Blob, which the browser may keep outside of memory. @throws Refusal */
async function exportPets(
  filters: Query<"/pets">,
  format: ExportFormat,
  signal: AbortSignal,
  onCount: (animals: number) => void,
): Promise<{ file: Blob; animals: number }> {
  let animals = 0;
  const onRows = (rows: number) => onCount((animals += rows));
  // Without a byte order mark, Excel takes a CSV file for windows-1252.
  const parts = format === "csv" ? [new Blob(["\uFEFF"])] : [];
  for await (const text of exportList(patientStore({ signal }), "pets", format, { query: filters, onRows })) parts.push(new Blob([text]));
  return { file: new Blob(parts, { type: formats[format].type }), animals };
}
