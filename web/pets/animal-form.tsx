import { Group, SegmentedControl, Textarea, TextInput } from "@mantine/core";
import type { ReactNode } from "react";
import { CategorySelect } from "../categories/category-select.tsx";
import { CallForm, type FormState } from "../parts/call-form.tsx";
import { animalTexts as words } from "../texts/en-animal.ts";
import { profileTexts } from "../texts/en-profile.ts";
import { texts } from "../texts/texts.ts";
import styles from "./animal-page.module.css";
import type { AnimalValues } from "./animal-values.ts";
import { FactFields } from "./fact-fields.tsx";
import { petStatuses, type PetStatus } from "./search.ts";

const { name, category, status: statusLabel, trackedStatus } = texts.store.animals;
const statusChoices = petStatuses.map((value) => ({ value, label: texts.store.status[value] }));

/** The `id` of the form, to which the button of the save bar belongs. */
export const formId = "animal";

/** The fields of an animal: name, category, price, facts and description. */
export function AnimalFields({ form, isNew = false }: { form: FormState<AnimalValues>; isNew?: boolean }): ReactNode {
  const facts = form.choice("facts");
  return (
    <CallForm form={form} id={formId}>
      <div className={styles.fields}>
        <TextInput label={name} required data-autofocus={isNew || undefined} {...form.text("name")} />
        <CategorySelect label={category} canCreate {...form.choice("categoryId")} />
        <Group gap="sm" grow align="flex-start">
          <TextInput label={profileTexts.price} inputMode="decimal" {...form.text("price")} />
          <TextInput label={profileTexts.currency} maxLength={3} {...form.text("currency")} />
        </Group>
        <Textarea label={profileTexts.description} autosize minRows={4} maxLength={5_000} {...form.text("description")} />
        <FactFields value={facts.value} errors={form.errorsIn("facts")} onChange={facts.onChange} />
      </div>
    </CallForm>
  );
}

type StatusProps = { form: FormState<AnimalValues>; status: PetStatus; isTracked: boolean };

/** The status is the animal's own until another is chosen. That of a tracked animal follows its stock, so it is read-only. */
export function StatusField({ form, status, isTracked }: StatusProps): ReactNode {
  const { value, onChange, error } = form.choice("status");
  return (
    <fieldset className={styles.status}>
      <legend>{statusLabel}</legend>
      <SegmentedControl
        data={statusChoices}
        value={isTracked ? status : (value ?? status)}
        onChange={(chosen) => onChange(chosen === status ? null : chosen)}
        disabled={isTracked}
        fullWidth
      />
      {isTracked && <p className={styles.hint}>{trackedStatus}</p>}
      {error && <p className={styles.error}>{error}</p>}
    </fieldset>
  );
}

export function UnitsField({ form }: { form: FormState<AnimalValues> }): ReactNode {
  return <TextInput label={words.units} description={words.unitsHint} inputMode="numeric" {...form.text("units")} />;
}
