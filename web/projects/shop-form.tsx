import { ColorInput, Switch, Textarea, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { CallForm, useCallForm, type FormState } from "../parts/call-form.tsx";
import { notify } from "../parts/notices.ts";
import { reservationsTexts } from "../texts/en-reservations.ts";
import { texts } from "../texts/texts.ts";
import styles from "./projects.module.css";
import { rereadSite } from "./queries.ts";
import { publishShop, type ShopValues } from "./shop.ts";

const words = texts.projects.shop;
const ofReservations = reservationsTexts.form;

/** The form that changes how the shop looks. Only a project that serves a shop loads it. */
export default function ShopForm({ projectId, initial }: { projectId: number; initial: ShopValues }): ReactNode {
  const client = useQueryClient();
  const form = useCallForm<ShopValues, unknown>({
    initial,
    send: (values) => publishShop(projectId, values),
    onDone: () => {
      notify(words.saved);
      void rereadSite(client, projectId);
    },
  });
  const { value, onChange, error } = form.choice("colour");
  return (
    <div className={styles.form}>
      <CallForm form={form} submit={words.again}>
        <TextInput label={words.name} required maxLength={200} {...form.text("name")} />
        <ColorInput mt="sm" withEyeDropper={false} label={words.colour} format="hex" value={value} onChange={onChange} error={error} />
        <TextInput mt="sm" label={words.tagline} maxLength={200} {...form.text("tagline")} />
        <Textarea mt="sm" label={words.about} autosize minRows={2} maxLength={2_000} {...form.text("about")} />
        <TextInput mt="sm" label={words.email} type="email" maxLength={200} {...form.text("email")} />
        <TextInput mt="sm" label={words.phone} type="tel" maxLength={50} {...form.text("phone")} />
        <Textarea mt="sm" label={words.address} autosize minRows={2} maxLength={500} {...form.text("address")} />
        <Textarea mt="sm" label={words.hours} description={words.hoursHint} autosize minRows={2} {...form.text("hours")} />
        <ReservationFields form={form} />
      </CallForm>
    </div>
  );
}

/** The switch of reservations in the shop's form, and what is set once they are on. */
function ReservationFields({ form }: { form: FormState<ShopValues> }): ReactNode {
  return (
    <>
      <Switch
        mt="lg"
        label={ofReservations.enabled}
        description={ofReservations.enabledHint}
        checked={form.values.reserves}
        onChange={({ currentTarget }) => form.set("reserves", currentTarget.checked)}
      />
      {form.values.reserves && (
        <>
          <TextInput
            mt="sm"
            type="number"
            min={1}
            max={720}
            step={1}
            required
            label={ofReservations.holdHours}
            {...form.text("holdHours")}
          />
          <Textarea
            mt="sm"
            label={ofReservations.text}
            description={ofReservations.textHint}
            autosize
            minRows={2}
            maxLength={1_000}
            {...form.text("reservationText")}
          />
        </>
      )}
    </>
  );
}
