import { useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ConfirmDialog } from "../parts/confirm-dialog.tsx";
import { notify } from "../parts/notices.ts";
import { texts } from "../texts/texts.ts";
import { cacheUntracked, stopTracking } from "./queries.ts";

const words = texts.store.inventory;

export function StopTrackingDialog({ petId, name, onClose }: { petId: number; name: string; onClose: () => void }): ReactNode {
  const client = useQueryClient();
  return (
    <ConfirmDialog
      title={words.stopTitle(name)}
      action={words.stop}
      onConfirm={() => stopTracking(petId)}
      onDone={() => {
        notify(words.stopped(name));
        cacheUntracked(client, petId);
      }}
      onClose={onClose}
    >
      {words.stopText}
    </ConfirmDialog>
  );
}
