import { Select } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { reread, rereadList } from "../calls/rows.ts";
import { errorLine } from "../parts/error-line.ts";
import { notify } from "../parts/notices.ts";
import { formatNumber, texts } from "../texts/texts.ts";
import { allCategoriesQuery, categoriesMax, createCategory } from "./queries.ts";

type Props = {
  label: string;
  placeholder?: string;
  /** A category id as a string of digits. */
  value: string | null;
  onChange: (categoryId: string | null) => void;
  error?: string | undefined;
  clearable?: boolean;
  /** Offers to create the category whose name was typed, when there is none of this name. */
  canCreate?: boolean;
};

/** The value of the option that creates a category. */
const newCategory = "new";

/** A field to choose a category by part of its name. */
export function CategorySelect({ label, placeholder, value, onChange, error, clearable = false, canCreate = false }: Props): ReactNode {
  const { data: categories = [] } = useQuery(allCategoriesQuery);
  const known = categories.map(({ id, name }) => ({ value: String(id), label: name }));
  const { typed, setTyped, create, isCreating, failure } = useNewCategory(onChange);
  const isNew = canCreate && typed !== "" && !known.some((one) => one.label.toLowerCase() === typed.toLowerCase());
  const isUnknown = value !== null && !known.some((one) => one.value === value);
  const options = isUnknown ? [...known, { value, label: texts.store.categories.category(Number(value)) }] : known;
  return (
    <Select
      label={label}
      placeholder={placeholder}
      data={isNew ? [...options, { value: newCategory, label: texts.store.categories.createNamed(typed) }] : options}
      value={value}
      onChange={(chosen) => (chosen === newCategory ? create() : onChange(chosen))}
      onSearchChange={(text) => setTyped(text.trim())}
      disabled={isCreating}
      error={failure ?? error}
      clearable={clearable}
      searchable
      limit={200}
      description={categories.length >= categoriesMax ? texts.store.categories.many(formatNumber(categoriesMax)) : undefined}
    />
  );
}

/** Creates a category with the typed name, then chooses it. */
function useNewCategory(onChange: (categoryId: string) => void) {
  const client = useQueryClient();
  const [typed, setTyped] = useState("");
  const { mutate, isPending, error } = useMutation({
    mutationFn: (name: string) => createCategory({ name, description: "" }),
    onSuccess: async ({ id, name }) => {
      notify(texts.store.categories.created(name));
      await reread(client, { queryKey: allCategoriesQuery.queryKey });
      void rereadList(client, "/categories");
      onChange(String(id));
    },
  });
  return { typed, setTyped, create: () => mutate(typed), isCreating: isPending, failure: error ? errorLine(error) : undefined };
}

/** Category names by id. */
export function useCategoryNames(): ReadonlyMap<number, string> {
  const { data = [] } = useQuery(allCategoriesQuery);
  return new Map(data.map(({ id, name }) => [id, name]));
}
