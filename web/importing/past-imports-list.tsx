import { Button, Progress } from "@mantine/core";
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState, type ReactNode } from "react";
import { useNames, type Names } from "../activity/names.ts";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { Ago } from "../parts/moment.tsx";
import { notify } from "../parts/notices.ts";
import { Section } from "../parts/page-header.tsx";
import { RowsTable, type Column } from "../parts/rows-table.tsx";
import { pastImportsTexts as words } from "../texts/en-past-imports.ts";
import { formatNumber, formatShortMoment, texts } from "../texts/texts.ts";
import { DetailsDialog, UndoDialog } from "./past-import-dialogs.tsx";
import styles from "./past-imports.module.css";
import { importsQuery, isUndoable, isUndoing, type PastImport } from "./past-imports.ts";
import { dropLists } from "./use-task.ts";

type Shown = { dialog: "undo" | "details"; of: PastImport };

/** The imports of the shop, with what each did, and its undo. */
export function PastImportsList(): ReactNode {
  const list = useInfiniteQuery(importsQuery);
  const { data: imports, error, hasNextPage } = list;
  const names = useNames();
  const [shown, setShown] = useState<Shown>();
  useEndsOfUndo(imports);
  if (imports?.length === 0 || (!imports && !error)) return null;
  const close = () => setShown(undefined);
  return (
    <Section title={words.title} lead={words.lead}>
      <ErrorPanel error={error} onRetry={() => void list.refetch()} />
      {imports && <RowsTable label={words.title} columns={columnsOf(names, setShown)} rows={imports} keyOf={({ id }) => id} />}
      {hasNextPage && (
        <Button mt="md" variant="default" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          {texts.dashboard.more}
        </Button>
      )}
      {shown?.dialog === "undo" && <UndoDialog of={shown.of} onClose={close} />}
      {shown?.dialog === "details" && <DetailsDialog of={shown.of} onClose={close} />}
    </Section>
  );
}

/** Notifies the user when an undo has ended, and drops the lists that were read before. */
function useEndsOfUndo(imports: readonly PastImport[] | undefined): void {
  const client = useQueryClient();
  const undoing = useRef(new Set<number>());
  useEffect(() => {
    const ended = (imports ?? []).filter(({ id, status }) => status === "undone" && undoing.current.has(id));
    for (const { fileName, stays } of ended) notify(stays?.count ? words.undoneBut(fileName, stayed(stays.count)) : words.undone(fileName));
    if (ended.length > 0) dropLists(client);
    undoing.current = new Set((imports ?? []).filter(isUndoing).map(({ id }) => id));
  }, [imports, client]);
}

const stayed = (count: number): string => words.stayed(formatNumber(count));

function columnsOf(names: Names, show: (shown: Shown) => void): Column<PastImport>[] {
  return [
    { id: "file", header: words.file, cell: (of) => <File of={of} /> },
    { id: "did", header: words.did, cell: didOf },
    { id: "when", header: words.when, cell: (of) => <When of={of} names={names} /> },
    { id: "state", header: words.state, cell: (of) => <State of={of} onDetails={() => show({ dialog: "details", of })} /> },
    {
      id: "actions",
      header: texts.dashboard.actions,
      width: "110px",
      isActions: true,
      cell: (of) =>
        isUndoable(of) && (
          <Button
            variant="default"
            size="compact-sm"
            aria-label={words.undoOf(of.fileName, formatShortMoment(new Date(of.startedAt)))}
            onClick={() => show({ dialog: "undo", of })}
          >
            {words.undo}
          </Button>
        ),
    },
  ];
}

function File({ of: { fileName, source } }: { of: PastImport }): ReactNode {
  return (
    <span className={styles.lines}>
      <strong>{fileName}</strong>
      <span className={styles.quiet}>{words.from(source)}</span>
    </span>
  );
}

function didOf(of: PastImport): string {
  const parts = (["created", "updated", "unchanged", "rejected"] as const).filter((name) => of[name] > 0);
  return parts.length === 0 ? words.noRows : parts.map((name) => words[name](formatNumber(of[name]))).join(", ");
}

function When({ of: { startedAt, by }, names }: { of: PastImport; names: Names }): ReactNode {
  return (
    <span className={styles.lines}>
      <Ago at={startedAt} />
      <span className={styles.quiet}>{names.get(`${by.type}/${by.id}`) ?? words.by[by.type](String(by.id))}</span>
    </span>
  );
}

function State({ of, onDetails }: { of: PastImport; onDetails: () => void }): ReactNode {
  const { status, stays, photosFailed, undone = 0 } = of;
  const total = Math.max(of.created + of.updated, undone);
  const details = [
    ...(stays?.count ? [stayed(stays.count)] : []),
    ...(photosFailed ? [words.photosFailed(formatNumber(photosFailed.count))] : []),
  ];
  return (
    <span className={styles.lines}>
      <span className={styles.state} data-state={status}>
        {words.states[status]}
      </span>
      {isUndoing(of) && (
        <>
          <Progress value={total === 0 ? 0 : (100 * undone) / total} aria-label={words.states.undoing} />
          <span className={styles.quiet}>{words.going(formatNumber(undone), formatNumber(total))}</span>
        </>
      )}
      {status === "finished" && !isUndoable(of) && <span className={styles.quiet}>{words.tooOld}</span>}
      {details.length > 0 && (
        <Button variant="subtle" size="compact-sm" className={styles.details} onClick={onDetails}>
          {details.join(", ")}
        </Button>
      )}
    </span>
  );
}
