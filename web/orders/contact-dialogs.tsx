import { Textarea, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { refusedFields } from "../calls/refusal.ts";
import type { Tagged } from "../calls/store.ts";
import { CallForm, useCallForm } from "../parts/call-form.tsx";
import { ConfirmDialog } from "../parts/confirm-dialog.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { notify } from "../parts/notices.ts";
import { ordersTexts as words } from "../texts/en-orders.ts";
import { contactFields, deleteContact, rereadContact, saveContact, type Contact } from "./details.ts";

type Props = { orderId: number; contact: Tagged<Contact> | null; onClose: () => void };

/** The form for who ordered. */
export function ContactDialog({ orderId, contact, onClose }: Props): ReactNode {
  const client = useQueryClient();
  const { name = "", email = "", phone = "", address = "", note = "" } = contact?.value ?? {};
  const form = useCallForm({
    initial: { name, email, phone, address, note },
    send: async (given) => saveContact(orderId, filledOf(given), contact),
    onDone: () => {
      rereadContact(client, orderId);
      notify(words.savedContact);
    },
    afterwards: onClose,
  });
  return (
    <Dialog title={contact ? words.changeContact : words.addContact} onClose={onClose}>
      <CallForm form={form} submit={words.saveContact} onCancel={onClose}>
        <TextInput label={words.name} autoComplete="off" data-autofocus {...form.text("name")} />
        <TextInput label={words.email} type="email" autoComplete="off" mt="sm" {...form.text("email")} />
        <TextInput label={words.phone} type="tel" autoComplete="off" mt="sm" {...form.text("phone")} />
        <Textarea label={words.address} autosize minRows={2} maxRows={6} mt="sm" {...form.text("address")} />
        <Textarea label={words.note} description={words.noteHint} autosize minRows={2} maxRows={8} mt="sm" {...form.text("note")} />
      </CallForm>
    </Dialog>
  );
}

/** The fields that are filled in. @throws Refusal at the name if none is */
function filledOf(given: Required<Contact>): Contact {
  const filled = contactFields.filter((field) => given[field].trim() !== "");
  if (filled.length > 0) return Object.fromEntries(filled.map((field) => [field, given[field]]));
  throw refusedFields([{ path: "body.name", message: words.needsSome }]);
}

/** Asks before the contact of an order is deleted. */
export function DeleteContactDialog({ orderId, onClose }: Omit<Props, "contact">): ReactNode {
  const client = useQueryClient();
  return (
    <ConfirmDialog
      title={words.deleteContactTitle}
      action={words.deleteContact}
      onConfirm={() => deleteContact(orderId)}
      onDone={() => {
        rereadContact(client, orderId);
        notify(words.deletedContact);
      }}
      onClose={onClose}
    >
      {words.deleteContactText}
    </ConfirmDialog>
  );
}
