import { Group, Textarea, TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { reread } from "../calls/rows.ts";
import { answerOf, ifUnchanged, store, type Schemas, type Tagged } from "../calls/store.ts";
import { Waiting } from "../frame/waiting.tsx";
import { CallForm, useCallForm } from "../parts/call-form.tsx";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { notify } from "../parts/notices.ts";
import { profileTexts as words } from "../texts/en-shop.ts";
import { PhotoEditor } from "./photo-editor.tsx";
import { amountOf, shownAmount } from "./price.ts";
import { profileQuery } from "./profile-query.ts";

type Profile = Schemas["Profile"];

/** A pet's profile: its description, price and photos. */
export function ProfilePart({ petId }: { petId: number }): ReactNode {
  const { data, error, refetch } = useQuery(profileQuery(petId));
  if (data === undefined) return error ? <ErrorPanel error={error} onRetry={() => void refetch()} /> : <Waiting lines={2} />;
  return (
    <>
      <PhotoEditor petId={petId} photos={data?.value.photos ?? []} />
      {/* The key leaves out the photos, so that changing them does not reset typed text. */}
      <ProfileForm key={JSON.stringify([data?.value.description, data?.value.price])} petId={petId} profile={data} />
    </>
  );
}

type Values = { description: string; price: string; currency: string };

function ProfileForm({ petId, profile }: { petId: number; profile: Tagged<Profile> | null }): ReactNode {
  const client = useQueryClient();
  const { description = "", price } = profile?.value ?? {};
  const form = useCallForm<Values, Profile>({
    initial: { description, price: price ? shownAmount(price) : "", currency: price?.currency ?? "EUR" },
    send: (values) => {
      const body = { description: values.description, ...(values.price.trim() !== "" && { price: amountOf(values, words.wrongPrice) }) };
      const params = { path: { petId }, ...(profile && { header: ifUnchanged(profile) }) };
      return answerOf<Profile>(store.PUT("/pets/{petId}/profile", { params, body }));
    },
    onDone: () => {
      notify(words.saved);
      void reread(client, { queryKey: profileQuery(petId).queryKey });
    },
  });
  return (
    <CallForm form={form} submit={words.save} isSecondary>
      <Textarea mt="sm" label={words.description} autosize minRows={3} maxLength={5_000} {...form.text("description")} />
      <Group mt="sm" gap="sm" grow>
        <TextInput label={words.price} inputMode="decimal" {...form.text("price")} />
        <TextInput label={words.currency} maxLength={3} {...form.text("currency")} />
      </Group>
    </CallForm>
  );
}
