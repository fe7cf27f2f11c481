import { ColorInput, NativeSelect, Select, Switch, Textarea, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useMemo, useState, type ReactNode } from "react";
import { weekOf } from "../../src/publishing/storefront/opening.ts";
import { holdHoursMax, reservationTextMax } from "../../src/publishing/storefront/reservation-settings.ts";
import { CallForm, useCallForm, type FormState } from "../parts/call-form.tsx";
import { notify } from "../parts/notices.ts";
import { reservationsTexts } from "../texts/en-reservations.ts";
import { shopTexts as words } from "../texts/en-shop.ts";
import { HeroField } from "./hero-field.tsx";
import { PageFields } from "./page-fields.tsx";
import styles from "./projects.module.css";
import { rereadSite } from "./queries.ts";
import { ShopPreview } from "./shop-preview.tsx";
import { hoursIn, publishShop, type ShopValues } from "./shop.ts";

const ofReservations = reservationsTexts.form;

type Props = {
  projectId: number;
  deploymentId: number | null;
  initial: ShopValues;
  /** Whether the preview is shown, which outlives the form: each save opens another. */
  preview: { isOpen: boolean; setOpen: (isOpen: boolean) => void };
};

/** The form that changes how the shop looks. Only a project that serves a shop loads it. */
export default function ShopForm({ projectId, deploymentId, initial, preview }: Props): ReactNode {
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
    <div className={styles.withPreview}>
      <CallForm form={form} submit={words.again}>
        <TextInput label={words.name} required maxLength={200} {...form.text("name")} />
        <ColorInput mt="sm" withEyeDropper={false} label={words.colour} format="hex" value={value} onChange={onChange} error={error} />
        <NativeSelect mt="sm" label={words.theme} description={words.themeHint} data={words.themes} {...form.text("theme")} />
        <HeroField form={form} />
        <TextInput mt="sm" label={words.tagline} maxLength={200} {...form.text("tagline")} />
        <Textarea mt="sm" label={words.about} autosize minRows={2} maxLength={2_000} {...form.text("about")} />
        <TextInput mt="sm" label={words.email} type="email" maxLength={200} {...form.text("email")} />
        <TextInput mt="sm" label={words.phone} type="tel" maxLength={50} {...form.text("phone")} />
        <Textarea mt="sm" label={words.address} autosize minRows={2} maxLength={500} {...form.text("address")} />
        <Hours form={form} />
        <TimeZone form={form} />
        <Textarea mt="sm" label={words.social} description={words.socialHint} autosize minRows={2} {...form.text("social")} />
        <PageFields {...form.choice("pages")} />
        <ReservationFields form={form} />
      </CallForm>
      <ShopPreview projectId={projectId} deploymentId={deploymentId} values={form.values} {...preview} />
    </div>
  );
}

/** The opening hours. Below them, whether pages can tell from them when the shop is open. */
function Hours({ form }: { form: FormState<ShopValues> }): ReactNode {
  const hours = hoursIn(form.values.hours);
  const hint = hours.length > 0 && weekOf(hours) === undefined ? words.hoursUnsure : words.hoursHint;
  return <Textarea mt="sm" label={words.hours} description={hint} autosize minRows={2} {...form.text("hours")} />;
}

/** The time zone, which the browser lists. One that it does not know, such as one with an earlier name, stays. */
function TimeZone({ form }: { form: FormState<ShopValues> }): ReactNode {
  const { value, onChange, error } = form.choice("timeZone");
  const [initial] = useState(value);
  const zones = useMemo(() => [...new Set([...(initial === "" ? [] : [initial]), ...Intl.supportedValuesOf("timeZone")])], [initial]);
  return (
    <Select
      mt="sm"
      label={words.timeZone}
      description={words.timeZoneHint}
      placeholder={words.timeZoneNone}
      data={zones}
      searchable
      clearable
      clearButtonProps={{ "aria-label": words.timeZoneNone }}
      name="timeZone"
      value={value === "" ? null : value}
      onChange={(zone) => onChange(zone ?? "")}
      error={error}
    />
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
            max={holdHoursMax}
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
            maxLength={reservationTextMax}
            {...form.text("reservationText")}
          />
        </>
      )}
    </>
  );
}
