import { useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ConfirmDialog } from "../parts/confirm-dialog.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { ThumbLink } from "../pets/thumb.tsx";
import { pastImportsTexts as words } from "../texts/en-past-imports.ts";
import { formatNumber } from "../texts/texts.ts";
import styles from "./past-imports.module.css";
import { undoImport, type PastImport } from "./past-imports.ts";

type Props = { of: PastImport; onClose: () => void };

/** Asks before an import is undone, and says what becomes of its animals. */
export function UndoDialog({ of: { id, fileName, status, created, updated }, onClose }: Props): ReactNode {
  const client = useQueryClient();
  const steps = [
    ...(status === "open" ? [words.undoOpen] : []),
    ...(created > 0 ? [words.undoCreated(formatNumber(created))] : []),
    ...(updated > 0 ? [words.undoUpdated(formatNumber(updated))] : []),
    words.undoCategories,
  ];
  return (
    <ConfirmDialog
      title={words.undoTitle(fileName)}
      action={words.undo}
      onConfirm={() => undoImport(client, id)}
      onDone={() => {}}
      onClose={onClose}
    >
      <ul className={styles.steps}>
        {steps.map((step) => (
          <li key={step}>{step}</li>
        ))}
      </ul>
      {created + updated > 0 && <p>{words.undoStays}</p>}
      <p>{words.undoLast}</p>
    </ConfirmDialog>
  );
}

/** What the undo of an import left, and why, and the photos that could not be fetched. */
export function DetailsDialog({ of: { fileName, stays, photosFailed }, onClose }: Props): ReactNode {
  return (
    <Dialog title={words.details(fileName)} onClose={onClose} size="lg">
      {stays !== undefined && stays.count > 0 && (
        <Details title={words.staysTitle} count={stays.count} shown={stays.pets.length}>
          {stays.pets.map(({ petId, reason }) => (
            <li key={petId}>
              <ThumbLink petId={petId} /> <span className={styles.quiet}>{reason}</span>
            </li>
          ))}
        </Details>
      )}
      {photosFailed && (
        <Details title={words.photosTitle} count={photosFailed.count} shown={photosFailed.photos.length}>
          {photosFailed.photos.map(({ petId, url, reason }) => (
            <li key={`${petId} ${url}`}>
              <ThumbLink petId={petId} /> <span className={styles.quiet}>{`${url}: ${reason}`}</span>
            </li>
          ))}
        </Details>
      )}
    </Dialog>
  );
}

type DetailsProps = { title: string; count: number; shown: number; children: ReactNode };

function Details({ title, count, shown, children }: DetailsProps): ReactNode {
  return (
    <section className={styles.listed}>
      <h3>{title}</h3>
      {count > shown && <p className={styles.quiet}>{words.first(formatNumber(shown), formatNumber(count))}</p>}
      <ul>{children}</ul>
    </section>
  );
}
