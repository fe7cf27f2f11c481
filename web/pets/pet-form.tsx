import { SegmentedControl, TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Tagged } from "../calls/store.ts";
import { CategorySelect } from "../categories/category-select.tsx";
import { allCategoriesQuery } from "../categories/queries.ts";
import { CallForm, useCallForm, type FormState } from "../parts/call-form.tsx";
import { notify } from "../parts/notices.ts";
import { ReloadIfChanged } from "../parts/reload-if-changed.tsx";
import { texts } from "../texts/texts.ts";
import { cachePet, cacheNewPet } from "./cache.ts";
import styles from "./pet-form.module.css";
import { createPet, newStatus, replacePet, type PetValues, type Pet } from "./queries.ts";
import { petStatuses, type PetStatus } from "./search.ts";

const words = texts.store.animals;
const statusChoices = petStatuses.map((value) => ({ value, label: texts.store.status[value] }));

/** A dialog to create a pet. Default category: that of the current filter. */
export function NewPetForm({ categoryId, onClose }: { categoryId: number | undefined; onClose: () => void }): ReactNode {
  const client = useQueryClient();
  const { data: categories } = useQuery(allCategoriesQuery);
  const form = useCallForm<PetValues, Pet>({
    initial: { name: "", categoryId: categoryId === undefined ? null : String(categoryId), status: null },
    send: createPet,
    onDone: ({ name }) => {
      notify(words.created(name));
      cacheNewPet(client);
    },
    afterwards: onClose,
  });
  return (
    <CallForm form={form} submit={words.create} onCancel={onClose}>
      {categories?.length === 0 && (
        <p className={styles.note}>
          {words.noCategoriesText}{" "}
          <Link to="/dashboard/categories" search={{ new: true }}>
            {texts.store.categories.new}
          </Link>
        </p>
      )}
      <Fields form={form} status={newStatus} isTracked={false} />
    </CallForm>
  );
}

type EditProps = { pet: Tagged<Pet>; isTracked: boolean; onSaved: () => void; onReload: () => void };

/** Edits a pet. The service refuses to save if somebody else has changed the pet since it was read. */
export function EditPetForm({ pet, isTracked, onSaved, onReload }: EditProps): ReactNode {
  const client = useQueryClient();
  const { name, categoryId, status } = pet.value;
  const form = useCallForm<PetValues, Pet>({
    initial: { name, categoryId: String(categoryId), status: null },
    send: (values) => replacePet(pet, isTracked ? { ...values, status: null } : values),
    onDone: (saved) => {
      notify(words.saved(saved.name));
      cachePet(client, saved);
    },
    afterwards: onSaved,
  });
  return (
    <CallForm form={form} submit={words.save}>
      <ReloadIfChanged error={form.error} onReload={onReload} />
      <Fields form={form} status={status} isTracked={isTracked} />
    </CallForm>
  );
}

type FieldsProps = { form: FormState<PetValues>; status: PetStatus; isTracked: boolean };

/** The status is the pet's own until another is chosen. That of a tracked pet follows its stock, so it is read-only. */
function Fields({ form, status, isTracked }: FieldsProps): ReactNode {
  const { value, onChange, error } = form.choice("status");
  return (
    <div className={styles.fields}>
      <TextInput label={words.name} required data-autofocus {...form.text("name")} />
      <CategorySelect label={words.category} canCreate {...form.choice("categoryId")} />
      <fieldset className={styles.status}>
        <legend className={styles.legend}>{words.status}</legend>
        <SegmentedControl
          data={statusChoices}
          value={isTracked ? status : (value ?? status)}
          onChange={(chosen) => onChange(chosen)}
          disabled={isTracked}
          fullWidth
        />
        {isTracked && <p className={styles.note}>{words.trackedStatus}</p>}
        {error && <p className={styles.error}>{error}</p>}
      </fieldset>
    </div>
  );
}
