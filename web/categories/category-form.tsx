import { Textarea, TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { changeRows, reread, rereadList } from "../calls/rows.ts";
import type { Tagged } from "../calls/store.ts";
import { Waiting } from "../frame/waiting.tsx";
import { CallForm, useCallForm } from "../parts/call-form.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { notify } from "../parts/notices.ts";
import { ReloadIfChanged } from "../parts/reload-if-changed.tsx";
import { texts } from "../texts/texts.ts";
import { allCategoriesQuery, categoryQuery, createCategory, replaceCategory, type Category } from "./queries.ts";

/** A dialog to create a category. */
export function NewCategoryDialog({ onClose }: { onClose: () => void }): ReactNode {
  const client = useQueryClient();
  const form = useCallForm({
    initial: { name: "", description: "" },
    send: createCategory,
    onDone: ({ name }) => {
      notify(texts.store.categories.created(name));
      void rereadList(client, "/categories");
    },
    afterwards: onClose,
  });
  return (
    <Dialog title={texts.store.categories.new} onClose={onClose}>
      <CallForm form={form} submit={texts.store.categories.create} onCancel={onClose}>
        <Fields form={form} />
      </CallForm>
    </Dialog>
  );
}

/** A dialog to edit a category. */
export function EditCategoryDialog({ categoryId, onClose }: { categoryId: number; onClose: () => void }): ReactNode {
  const { data, error, refetch } = useQuery(categoryQuery(categoryId));
  return (
    <Dialog title={texts.store.categories.category(categoryId)} onClose={onClose}>
      <ErrorPanel error={error} onRetry={() => void refetch()} />
      {data && <EditForm key={data.etag} category={data} onReload={() => void refetch()} onClose={onClose} />}
      {!data && !error && <Waiting lines={3} />}
    </Dialog>
  );
}

function EditForm({ category, onReload, onClose }: { category: Tagged<Category>; onReload: () => void; onClose: () => void }): ReactNode {
  const client = useQueryClient();
  const { name, description = "" } = category.value;
  const form = useCallForm({
    initial: { name, description },
    send: (values) => replaceCategory(category, values),
    onDone: (saved) => {
      notify(texts.store.categories.saved(saved.name));
      changeRows(client, "/categories", (row) => (row.id === saved.id ? saved : row));
      void reread(client, { queryKey: allCategoriesQuery.queryKey });
    },
    afterwards: onClose,
  });
  return (
    <CallForm form={form} submit={texts.store.categories.save} onCancel={onClose}>
      <ReloadIfChanged error={form.error} onReload={onReload} />
      <Fields form={form} />
    </CallForm>
  );
}

function Fields({ form }: { form: ReturnType<typeof useCallForm<{ name: string; description: string }, Category>> }): ReactNode {
  return (
    <>
      <TextInput label={texts.store.categories.name} required data-autofocus {...form.text("name")} />
      <Textarea mt="sm" label={texts.store.categories.description} autosize minRows={2} maxRows={8} {...form.text("description")} />
    </>
  );
}
