import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { ConfirmDialog } from "../parts/confirm-dialog.tsx";
import { notify } from "../parts/notices.ts";
import { texts } from "../texts/texts.ts";
import { cacheDeletedPet } from "./cache.ts";
import type { Pet } from "./queries.ts";

const words = texts.store.animals;

/** Asks before a pet goes to the bin, and offers to undo it. The service refuses to delete a pet with an open order, and the dialog shows why. */
export function DeletePetDialog({ pet, onDeleted, onClose }: { pet: Pet; onDeleted: () => void; onClose: () => void }): ReactNode {
  const client = useQueryClient();
  return (
    <ConfirmDialog
      title={words.deleteTitle(pet.name)}
      action={words.delete}
      onConfirm={async () => (await import("../bin/deleting.ts")).binPet(pet.id)}
      onDone={() => {
        notify(words.deleted(pet.name), { undo: async () => (await import("../bin/deleting.ts")).undoDeletion(client, [pet.id]) });
        cacheDeletedPet(client, pet.id);
      }}
      onClose={onClose}
      afterwards={onDeleted}
    >
      <p>{words.deleteText}</p>
      <Link to="/dashboard/orders" search={{ petId: pet.id }}>
        {words.orders}
      </Link>
    </ConfirmDialog>
  );
}
