import { Select } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { refusedFields } from "../calls/refusal.ts";
import { texts } from "../texts/texts.ts";
import { petsByNameQuery, type Pet } from "./queries.ts";
import { Thumb, WithThumb } from "./thumb.tsx";

const words = texts.store.animals;
const typingMs = 200;

type Props = {
  value: Pet | null;
  onChange: (pet: Pet | null) => void;
  label?: string;
  error?: string | undefined;
  clearable?: boolean;
  /** Offers only pets that can be ordered. */
  forOrders?: boolean;
};

/** A field to choose a pet by name. It asks the service for matches once it gets the focus. */
export function PetPicker({ value, onChange, label = words.find, error, clearable = false, forOrders = false }: Props): ReactNode {
  const [typed, setTyped] = useState("");
  const [q] = useDebouncedValue(typed, typingMs);
  const [isUsed, setUsed] = useState(false);
  const isChosen = value !== null && typed === optionOf(value);
  const { data: found = [], isLoading } = useQuery({
    ...petsByNameQuery(isChosen ? "" : q.trim().slice(0, 200), forOrders),
    enabled: isUsed,
    placeholderData: keepPreviousData,
  });
  const nothing = forOrders ? words.findNothingToOrder : words.findNothing;
  const offered = value === null || found.some(({ id }) => id === value.id) ? found : [value, ...found];
  return (
    <Select
      label={label}
      placeholder={words.findHint}
      leftSection={value && <Thumb petId={value.id} isInField />}
      leftSectionWidth={40}
      leftSectionPointerEvents="none"
      data={offered.map((pet) => ({ value: String(pet.id), label: optionOf(pet) }))}
      value={value === null ? null : String(value.id)}
      onChange={(id) => onChange(offered.find((pet) => String(pet.id) === id) ?? null)}
      error={error}
      clearable={clearable}
      onFocus={() => setUsed(true)}
      searchable
      searchValue={typed}
      onSearchChange={setTyped}
      // the service has already filtered the options
      filter={({ options }) => options}
      renderOption={({ option }) => <WithThumb petId={Number(option.value)}>{option.label}</WithThumb>}
      nothingFoundMessage={isLoading ? texts.loading : nothing}
    />
  );
}

/** Returns the chosen pet. @throws Refusal at the field `pet` if none is chosen */
export function chosen(pet: Pet | null): Pet {
  if (pet) return pet;
  throw refusedFields([{ path: "body.pet", message: words.chooseOne }]);
}

/** Pets may have the same name, so the label includes the id. */
function optionOf({ id, name, status }: Pet): string {
  return `${name} (${id}, ${texts.store.status[status]})`;
}
