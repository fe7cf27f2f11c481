import { Select } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { Refusal } from "../calls/refusal.ts";
import { texts } from "../texts/texts.ts";
import { animalsByNameQuery, type Pet } from "./queries.ts";

const words = texts.store.animals;
const typingMs = 200;

type Props = {
  value: Pet | null;
  onChange: (animal: Pet | null) => void;
  label?: string;
  error?: string | undefined;
  clearable?: boolean;
};

/** A field to choose a pet by the beginning of its name; the service searches. */
export function AnimalPicker({ value, onChange, label = words.find, error, clearable = false }: Props): ReactNode {
  const [typed, setTyped] = useState("");
  const [q] = useDebouncedValue(typed, typingMs);
  const isChosen = value !== null && typed === optionOf(value);
  const { data: found = [] } = useQuery({
    ...animalsByNameQuery(isChosen ? "" : q.trim().slice(0, 200)),
    placeholderData: keepPreviousData,
  });
  const animals = value === null || found.some(({ id }) => id === value.id) ? found : [value, ...found];
  return (
    <Select
      label={label}
      placeholder={words.findHint}
      data={animals.map((pet) => ({ value: String(pet.id), label: optionOf(pet) }))}
      value={value === null ? null : String(value.id)}
      onChange={(id) => onChange(animals.find((pet) => String(pet.id) === id) ?? null)}
      error={error}
      clearable={clearable}
      searchable
      searchValue={typed}
      onSearchChange={setTyped}
      // the service has already filtered the options
      filter={({ options }) => options}
      nothingFoundMessage={words.findNothing}
    />
  );
}

/** Returns the chosen pet's id. @throws Refusal at the field `animal` if none is chosen */
export function chosen(animal: Pet | null): Pet {
  if (animal) return animal;
  const message = words.chooseOne;
  throw new Refusal("invalid_request", message, { status: 0, details: [{ path: "body.animal", message }] });
}

/** Pets may have the same name, so the label includes the id. */
function optionOf({ id, name, status }: Pet): string {
  return `${name} (${id}, ${texts.store.status[status]})`;
}
