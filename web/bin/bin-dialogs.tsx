import { Button, Group } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { CategorySelect } from "../categories/category-select.tsx";
import { ConfirmDialog } from "../parts/confirm-dialog.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { notify } from "../parts/notices.ts";
import { binTexts as words } from "../texts/en-bin.ts";
import { formatNumber, texts } from "../texts/texts.ts";
import { deleteForGood, emptyBin, rereadBin, type Binned } from "./queries.ts";
import { returnAndSay } from "./returning.ts";

type Props = { animals: readonly Binned[]; onClose: () => void };

/** Asks before animals are deleted for good. One that somebody has restored meanwhile stays. */
export function DeleteDialog({ animals, onClose }: Props): ReactNode {
  const client = useQueryClient();
  const [first] = animals;
  const title = animals.length === 1 ? words.deleteTitle(first?.name ?? "") : words.deleteManyTitle(formatNumber(animals.length));
  return (
    <ConfirmDialog
      title={title}
      action={words.delete}
      onConfirm={async () => {
        const results = await deleteForGood(animals.map(({ id }) => id));
        notify(words.deletedForGood(formatNumber(results.filter(({ outcome }) => outcome !== "refused").length)));
      }}
      onDone={() => void rereadBin(client)}
      onClose={onClose}
    >
      <p>{words.deleteText}</p>
    </ConfirmDialog>
  );
}

/** Asks before the whole bin is emptied. */
export function EmptyDialog({ onClose }: { onClose: () => void }): ReactNode {
  const client = useQueryClient();
  return (
    <ConfirmDialog
      title={words.emptyTitle}
      action={words.empty}
      onConfirm={() => emptyBin().finally(() => void rereadBin(client))}
      onDone={() => notify(words.emptied)}
      onClose={onClose}
    >
      <p>{words.emptyText}</p>
    </ConfirmDialog>
  );
}

/** Asks for the category of animals whose own has been deleted, and returns them into it. */
export function CategoryDialog({ animals, onClose }: Props): ReactNode {
  const client = useQueryClient();
  const [categoryId, setCategoryId] = useState<string | null>(null);
  const { mutate, isPending, error } = useMutation({
    mutationFn: () =>
      returnAndSay(
        client,
        animals.map(({ id }) => id),
        { categoryId: Number(categoryId) },
      ),
    onSuccess: onClose,
  });
  return (
    <Dialog title={words.categoryTitle} onClose={onClose}>
      <ErrorPanel error={error} />
      <p>{words.categoryText(formatNumber(animals.length))}</p>
      <CategorySelect label={texts.store.animals.category} value={categoryId} onChange={setCategoryId} canCreate />
      <Group justify="flex-end" gap="xs" mt="lg">
        <Button variant="default" onClick={onClose}>
          {texts.dashboard.cancel}
        </Button>
        <Button disabled={categoryId === null} loading={isPending} onClick={() => mutate()}>
          {words.restore}
        </Button>
      </Group>
    </Dialog>
  );
}
