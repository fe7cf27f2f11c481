import { useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState, type ReactNode } from "react";
import { rereadList } from "../calls/rows.ts";
import { isUnsavedForm, useCallForm } from "../parts/call-form.tsx";
import { notify } from "../parts/notices.ts";
import { PageGuard } from "../parts/page-guard.tsx";
import { PageHeader } from "../parts/page-header.tsx";
import { SaveBar } from "../parts/save-bar.tsx";
import { animalTexts } from "../texts/en-animal.ts";
import { profileTexts } from "../texts/en-profile.ts";
import { texts } from "../texts/texts.ts";
import { AnimalFields, formId, StatusField, UnitsField } from "./animal-form.tsx";
import styles from "./animal-page.module.css";
import { AllAnimals, Section } from "./animal-page.tsx";
import { useNewAnimal } from "./animal-saving.ts";
import { valuesOf, type AnimalValues } from "./animal-values.ts";
import { cacheNewPet } from "./cache.ts";
import { ChosenPhotos } from "./chosen-photos.tsx";
import { newStatus, type Pet } from "./queries.ts";
import { useShopCurrency } from "./shop-currency.ts";

const route = getRouteApi("/dashboard/animals/new");
const words = texts.store.animals;

/** `/dashboard/animals/new`: a new animal with its photos, price and stock. It counts as one unit unless the page says otherwise. */
export function NewAnimalPage(): ReactNode {
  return (
    <PageGuard question={animalTexts.leave}>
      <PageHeader title={words.new} lead={<AllAnimals />} />
      <NewAnimal />
    </PageGuard>
  );
}

function NewAnimal(): ReactNode {
  const client = useQueryClient();
  const navigate = useNavigate();
  const { categoryId } = route.useSearch();
  const [files, setFiles] = useState<File[]>([]);
  const { isMade, create } = useNewAnimal();
  const page = useRef<HTMLDivElement>(null);
  useEffect(() => page.current?.querySelector<HTMLElement>("[data-autofocus]")?.focus(), []);
  const shopCurrency = useShopCurrency();
  const [currency] = useState(shopCurrency); // an open form keeps that with which it began
  const initial = valuesOf(undefined, undefined, { categoryId, currency });
  const form = useCallForm<AnimalValues, Pet>({
    initial,
    send: (values) => create(values, files),
    onDone: ({ name }) => {
      notify(words.created(name));
      cacheNewPet(client);
      void rereadList(client, "/store/inventory");
    },
    afterwards: ({ id }) =>
      void navigate({ to: "/dashboard/animals/$animalId", params: { animalId: String(id) }, replace: true, ignoreBlocker: true }),
  });
  const isUnsaved = isUnsavedForm(form.values, initial) || files.length > 0;
  return (
    <>
      <div className={styles.page} ref={page}>
        <div>
          <Section title={profileTexts.photos}>
            <ChosenPhotos files={files} onChange={setFiles} />
          </Section>
          <AnimalFields form={form} isNew />
        </div>
        <aside className={styles.side}>
          <Section title={animalTexts.stock}>
            <UnitsField form={form} />
          </Section>
          <div className={styles.part}>
            <StatusField
              form={form}
              status={form.values.units.trim() === "" ? newStatus : "available"}
              isTracked={form.values.units.trim() !== ""}
            />
          </div>
        </aside>
      </div>
      <SaveBar
        of={formId}
        form={form}
        label={animalTexts.create}
        said={isMade && form.error ? animalTexts.partly : isUnsaved ? animalTexts.unsaved : ""}
      />
    </>
  );
}
