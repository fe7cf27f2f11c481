import { Box, NativeSelect } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import type { FormState } from "../parts/call-form.tsx";
import { PetPicker } from "../pets/pet-picker.tsx";
import { petQuery } from "../pets/queries.ts";
import { texts } from "../texts/texts.ts";
import type { ShopValues } from "./shop.ts";

const words = texts.projects.shop.hero;
const ofAnimals = "animals/";

/** The picture at the top of the first page. Without an animal the shop chooses a photo. */
export function HeroField({ form }: { form: FormState<ShopValues> }): ReactNode {
  const { value, onChange, error } = form.choice("hero");
  const [initial] = useState(value);
  const isFile = initial !== "" && initial !== "none" && !initial.startsWith(ofAnimals);
  const [source, setSource] = useState(initial.startsWith(ofAnimals) ? "animal" : initial);
  const petId = value.startsWith(ofAnimals) ? Number(value.slice(ofAnimals.length)) : 0;
  const { data: pet } = useQuery({ ...petQuery(petId), enabled: petId > 0 });
  return (
    <>
      <NativeSelect
        mt="sm"
        label={words.label}
        name="hero"
        data={[
          { value: "", label: words.auto },
          { value: "animal", label: words.animal },
          { value: "none", label: words.none },
          ...(isFile ? [{ value: initial, label: words.file(initial) }] : []),
        ]}
        value={source}
        onChange={({ currentTarget: { value: next } }) => {
          setSource(next);
          onChange(next === "animal" ? "" : next);
        }}
        error={error}
      />
      {source === "animal" && (
        <Box mt="sm">
          <PetPicker
            label={words.which}
            value={pet?.value ?? null}
            onChange={(chosen) => onChange(chosen ? ofAnimals + chosen.id : "")}
            clearable
          />
        </Box>
      )}
    </>
  );
}
