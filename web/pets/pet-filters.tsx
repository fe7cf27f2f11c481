import { Select } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { CategorySelect } from "../categories/category-select.tsx";
import { Filters, SearchField } from "../parts/filters.tsx";
import { texts } from "../texts/texts.ts";
import { SavedViews } from "../views/saved-views.tsx";
import { petSearch, petSorts, sortOf, type PetFilters, petStatuses } from "./search.ts";

const route = getRouteApi("/dashboard/animals");
const words = texts.store.animals;
const statusChoices = petStatuses.map((value) => ({ value, label: texts.store.status[value] }));

/** The filters and the sort order of the pets; `undefined` removes a filter. */
export type FilterChange = { [Name in keyof PetFilters]?: PetFilters[Name] | undefined };
type Props = { filters: PetFilters; onChange: (change: FilterChange) => void };

export function PetFilterBar({ filters, onChange }: Props): ReactNode {
  const navigate = route.useNavigate();
  const { q, status, categoryId } = filters;
  const isFiltered = (q ?? status ?? categoryId) !== undefined;
  const sorts = petSorts.filter((sort) => q === undefined || sort.endsWith("name"));
  return (
    <Filters
      search={
        <SearchField
          label={words.search}
          placeholder={words.searchHint}
          value={q ?? ""}
          onChange={(text) => onChange({ q: text || undefined })}
        />
      }
      views={<SavedViews list="animals" shown={filters} onOpen={(query) => void navigate({ search: petSearch(query) })} />}
      onClear={isFiltered ? () => onChange({ q: undefined, status: undefined, categoryId: undefined }) : undefined}
    >
      <Select
        label={words.status}
        placeholder={texts.store.anyStatus}
        data={statusChoices}
        value={status ?? null}
        onChange={(value) => onChange({ status: value ?? undefined })}
        clearable
      />
      <CategorySelect
        label={words.category}
        placeholder={words.anyCategory}
        value={categoryId === undefined ? null : String(categoryId)}
        onChange={(value) => onChange({ categoryId: value === null ? undefined : Number(value) })}
        clearable
      />
      <Select
        label={words.sort}
        data={sorts.map((value) => ({ value, label: words.sorts[value] }))}
        value={sortOf(filters)}
        onChange={(value) => onChange({ sort: value ?? undefined })}
        allowDeselect={false}
      />
    </Filters>
  );
}
