import { TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { fromField, timeZone, toField } from "../orders/ship-date.ts";
import { CallForm, useCallForm } from "../parts/call-form.tsx";
import { ConfirmDialog } from "../parts/confirm-dialog.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { notify } from "../parts/notices.ts";
import { reservationsTexts as words } from "../texts/en-reservations.ts";
import { ContactCell } from "./contact-cell.tsx";
import { changeReservation, showReservation, type Reservation } from "./queries.ts";

export type Asked = "accept" | "refuse" | "change" | "deleteContact";
type Props = { reservation: Reservation; onClose: () => void };

/** The dialog of an action on a reservation. */
export function ReservationDialog({ asked, ...props }: Props & { asked: Asked }): ReactNode {
  if (asked === "accept") return <AcceptDialog {...props} />;
  if (asked === "deleteContact") return <DeleteContactDialog {...props} />;
  return asked === "refuse" ? <RefuseDialog {...props} /> : <ChangeDialog {...props} />;
}

function AcceptDialog({ reservation: { id }, onClose }: Props): ReactNode {
  const client = useQueryClient();
  const onDone = (changed: Reservation): void => {
    notify(words.accepted(id));
    showReservation(client, changed);
  };
  return (
    <ConfirmDialog
      title={words.acceptTitle(id)}
      action={words.accept}
      isSafe
      onConfirm={() => changeReservation(id, { state: "accepted" })}
      onDone={onDone}
      onClose={onClose}
    >
      {words.acceptText}
    </ConfirmDialog>
  );
}

function RefuseDialog({ reservation: { id }, onClose }: Props): ReactNode {
  const client = useQueryClient();
  const onDone = (changed: Reservation): void => {
    notify(words.refused(id));
    showReservation(client, changed);
  };
  return (
    <ConfirmDialog
      title={words.refuseTitle(id)}
      action={words.refuse}
      keep={words.keep}
      onConfirm={() => changeReservation(id, { state: "refused" })}
      onDone={onDone}
      onClose={onClose}
    >
      <p>{words.refuseText}</p>
      <ContactCell id={id} />
    </ConfirmDialog>
  );
}

function DeleteContactDialog({ reservation: { id }, onClose }: Props): ReactNode {
  const client = useQueryClient();
  const onDone = (changed: Reservation): void => {
    notify(words.contactDeleted(id));
    showReservation(client, changed);
  };
  return (
    <ConfirmDialog
      title={words.deleteContactTitle(id)}
      action={words.deleteContact}
      onConfirm={() => changeReservation(id, { contact: null })}
      onDone={onDone}
      onClose={onClose}
    >
      <p>{words.deleteContactText}</p>
      <ContactCell id={id} />
    </ConfirmDialog>
  );
}

function ChangeDialog({ reservation: { id, lapsesAt }, onClose }: Props): ReactNode {
  const client = useQueryClient();
  const form = useCallForm({
    initial: { lapsesAt: toField(lapsesAt) },
    send: (values) => changeReservation(id, { lapsesAt: fromField(values.lapsesAt) ?? "" }),
    onDone: (changed) => {
      notify(words.changed(id));
      showReservation(client, changed);
    },
    afterwards: onClose,
  });
  return (
    <Dialog title={words.changeTitle(id)} onClose={onClose}>
      <CallForm form={form} submit={words.save} onCancel={onClose}>
        <TextInput
          type="datetime-local"
          required
          label={words.lapsesAt}
          description={words.lapsesHint(timeZone())}
          data-autofocus
          {...form.text("lapsesAt")}
        />
      </CallForm>
    </Dialog>
  );
}
