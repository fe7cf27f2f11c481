import { Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { formatNumber, texts } from "../texts/texts.ts";
import { allCategoriesQuery, categoriesMax } from "./queries.ts";

type Props = {
  label: string;
  placeholder?: string;
  /** A category id as a string of digits. */
  value: string | null;
  onChange: (categoryId: string | null) => void;
  error?: string | undefined;
  clearable?: boolean;
};

/** A field to choose a category by part of its name. */
export function CategorySelect({ label, placeholder, value, onChange, error, clearable = false }: Props): ReactNode {
  const { data: categories = [] } = useQuery(allCategoriesQuery);
  const known = categories.map(({ id, name }) => ({ value: String(id), label: name }));
  const isUnknown = value !== null && !known.some((one) => one.value === value);
  return (
    <Select
      label={label}
      placeholder={placeholder}
      data={isUnknown ? [...known, { value, label: texts.store.categories.category(Number(value)) }] : known}
      value={value}
      onChange={onChange}
      error={error}
      clearable={clearable}
      searchable
      limit={200}
      description={categories.length >= categoriesMax ? texts.store.categories.many(formatNumber(categoriesMax)) : undefined}
    />
  );
}

/** Category names by id. */
export function useCategoryNames(): ReadonlyMap<number, string> {
  const { data = [] } = useQuery(allCategoriesQuery);
  return new Map(data.map(({ id, name }) => [id, name]));
}
