import { Button, ColorInput, Switch, Textarea, TextInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { Waiting } from "../frame/waiting.tsx";
import { CallForm, useCallForm } from "../parts/call-form.tsx";
import { ConfirmDialog } from "../parts/confirm-dialog.tsx";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { notify } from "../parts/notices.ts";
import { Section } from "../parts/page-header.tsx";
import { reservationsTexts } from "../texts/en-reservations.ts";
import { texts } from "../texts/texts.ts";
import styles from "./projects.module.css";
import { rereadSite, shopQuery, type Site } from "./queries.ts";
import { ShopLogo } from "./shop-logo.tsx";
import { publishShop, shopValues, type ShopValues } from "./shop.ts";

const words = texts.projects.shop;
const ofReservations = reservationsTexts.form;

/** Publishes the built-in shop with one button, and changes how it looks. */
export function ShopPanel({ site }: { site: Site }): ReactNode {
  const { id, name, deploymentId } = site.project.value;
  const { data, error, refetch } = useQuery(shopQuery(id, deploymentId));
  if (data === undefined) return error ? <ErrorPanel error={error} onRetry={() => void refetch()} /> : <Waiting lines={2} />;
  const values = shopValues(name, data.settings);
  return (
    <Section title={words.title} lead={words.lead}>
      {data.settings === null ? (
        <FirstPublication projectId={id} values={values} hasStartPage={data.startPage} />
      ) : (
        <>
          <ShopLogo projectId={id} settings={data.settings} logo={data.logo} />
          {/* The key is the form's saved values: a new logo, which makes a new deployment too, does not reset typed text. */}
          <ShopForm key={JSON.stringify(values)} projectId={id} initial={values} />
        </>
      )}
    </Section>
  );
}

type FirstProps = { projectId: number; values: ShopValues; hasStartPage: boolean };

/** The button that publishes the shop. It asks first if the shop would replace the owner's start page. */
function FirstPublication({ projectId, values, hasStartPage }: FirstProps): ReactNode {
  const client = useQueryClient();
  const [isAsked, setAsked] = useState(false);
  const onSuccess = (): void => {
    notify(words.published);
    void rereadSite(client, projectId);
  };
  const publish = useMutation({ mutationFn: () => publishShop(projectId, values), onSuccess });
  return (
    <>
      <ErrorPanel error={publish.error} />
      <Button loading={publish.isPending} onClick={() => (hasStartPage ? setAsked(true) : publish.mutate())}>
        {words.publish}
      </Button>
      {isAsked && (
        <ConfirmDialog
          title={words.replaceTitle}
          action={words.publish}
          isSafe
          onConfirm={() => publishShop(projectId, values, { replacesStartPage: true })}
          onDone={onSuccess}
          onClose={() => setAsked(false)}
        >
          {words.replaceText}
        </ConfirmDialog>
      )}
    </>
  );
}

function ShopForm({ projectId, initial }: { projectId: number; initial: ShopValues }): ReactNode {
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
      </CallForm>
    </div>
  );
}
