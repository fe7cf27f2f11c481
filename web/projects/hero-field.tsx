import { Box, NativeSelect } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState, type ReactNode } from "react";
import type { FormState } from "../parts/call-form.tsx";
import { PetPicker } from "../pets/pet-picker.tsx";
import { petQuery } from "../pets/queries.ts";
import { shopTexts } from "../texts/en-shop.ts";
import type { ShopValues } from "./shop.ts";

const words = shopTexts.hero;
const ofAnimals = "animals/";
const HeroPhotos = lazy(() => import("./hero-photos.tsx"));

/** The picture at the top of the first page. Without an animal the shop chooses a photo. */
export function HeroField({ form }: { form: FormState<ShopValues> }): ReactNode {
  const { value, onChange, error } = form.choice("hero");
  const [initial] = useState(value);
  const isAnimal = chosenIn(initial).petId > 0;
  const isFile = initial !== "" && initial !== "none" && !isAnimal;
  const [source, setSource] = useState(isAnimal ? "animal" : initial);
  const { petId, photoId } = chosenIn(value);
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
            onChange={(chosen) => onChange(chosen ? heroOf(chosen.id) : "")}
            clearable
          />
          <Suspense>{petId > 0 && <HeroPhotos petId={petId} photoId={photoId} onChange={(id) => onChange(heroOf(petId, id))} />}</Suspense>
        </Box>
      )}
    </>
  );
}

/** The animal and the photo of a setting; `petId` is 0 for any other picture, also for a file in a folder `animals`. */
function chosenIn(hero: string): { petId: number; photoId: number | undefined } {
  const [, petId = "0", photoId] = /^animals\/(\d+)(?:\/photos\/(\d+))?$/.exec(hero) ?? [];
  return { petId: Number(petId), photoId: photoId === undefined ? undefined : Number(photoId) };
}

function heroOf(petId: number, photoId?: number): string {
  return `${ofAnimals}${petId}${photoId === undefined ? "" : `/photos/${photoId}`}`;
}
