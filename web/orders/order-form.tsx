import { TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef, type ReactNode } from "react";
import { Refusal } from "../calls/refusal.ts";
import { numberIn } from "../calls/send.ts";
import type { Tagged } from "../calls/store.ts";
import { Waiting } from "../frame/waiting.tsx";
import { CallForm, useCallForm, type FormState } from "../parts/call-form.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { notify } from "../parts/notices.ts";
import { ReloadIfChanged } from "../parts/reload-if-changed.tsx";
import { PetPicker, chosen } from "../pets/pet-picker.tsx";
import { petQuery, type Pet } from "../pets/queries.ts";
import { texts } from "../texts/texts.ts";
import { changeOrder, cacheNewOrder, cacheOrder, orderQuery, placeOrder, type Order } from "./queries.ts";
import { fromField, timeZone, toField } from "./ship-date.ts";

const words = texts.store.orders;

/** A dialog to place an order for a given pet, or for one chosen here. */
export function PlaceOrderDialog({ petId, onClose }: { petId: number | undefined; onClose: () => void }): ReactNode {
  const pet = useQuery({ ...petQuery(petId ?? 0), enabled: petId !== undefined });
  const isReady = petId === undefined || !pet.isPending;
  return (
    <Dialog title={words.new} onClose={onClose}>
      {isReady ? <PlaceForm pet={pet.data?.value ?? null} onClose={onClose} /> : <Waiting lines={3} />}
    </Dialog>
  );
}

function PlaceForm({ pet, onClose }: { pet: Pet | null; onClose: () => void }): ReactNode {
  const client = useQueryClient();
  // resending the same values after a lost response reuses the idempotency key, so it places one order; a refusal ends the attempt
  const attempt = useRef({ body: "", key: "" });
  const form = useCallForm({
    initial: { pet, quantity: "1", shipDate: "" },
    send: async (values) => {
      const shipDate = fromField(values.shipDate);
      const order = { petId: chosen(values.pet).id, quantity: numberIn(values.quantity), ...(shipDate !== undefined && { shipDate }) };
      const body = JSON.stringify(order);
      if (attempt.current.body !== body) attempt.current = { body, key: crypto.randomUUID() };
      try {
        return await placeOrder(order, attempt.current.key);
      } catch (error) {
        if (error instanceof Refusal && error.status !== 0) attempt.current = { body: "", key: "" };
        throw error;
      }
    },
    onDone: ({ id }) => {
      notify(words.placed(id));
      cacheNewOrder(client);
    },
    afterwards: onClose,
  });
  return (
    <CallForm form={form} submit={words.place} onCancel={onClose}>
      <PetPicker {...form.choice("pet")} forOrders />
      <QuantityField {...form.text("quantity")} />
      <ShipDateField {...form.text("shipDate")} />
    </CallForm>
  );
}

/** A dialog to edit an order. Of a fulfilled order, only the ship date can change. */
export function EditOrderDialog({ orderId, onClose }: { orderId: number; onClose: () => void }): ReactNode {
  const { data, error, refetch } = useQuery(orderQuery(orderId));
  return (
    <Dialog title={words.editTitle(orderId)} onClose={onClose}>
      <ErrorPanel error={error} onRetry={() => void refetch()} />
      {data && <EditForm key={data.etag} order={data} onReload={() => void refetch()} onClose={onClose} />}
      {!data && !error && <Waiting lines={3} />}
    </Dialog>
  );
}

function EditForm({ order, onReload, onClose }: { order: Tagged<Order>; onReload: () => void; onClose: () => void }): ReactNode {
  const client = useQueryClient();
  const { quantity, shipDate, complete } = order.value;
  const form = useCallForm({
    initial: { quantity: String(quantity), shipDate: toField(shipDate) },
    send: (values) => {
      const date = values.shipDate === toField(shipDate) ? {} : { shipDate: fromField(values.shipDate) ?? null };
      return changeOrder(order, { ...date, ...(!complete && { quantity: numberIn(values.quantity) }) });
    },
    onDone: (saved) => {
      notify(words.saved(saved.id));
      cacheOrder(client, saved);
    },
    afterwards: onClose,
  });
  return (
    <CallForm form={form} submit={words.save} onCancel={onClose}>
      <ReloadIfChanged error={form.error} onReload={onReload} />
      {complete ? <p>{words.finalQuantity}</p> : <QuantityField {...form.text("quantity")} />}
      <ShipDateField {...form.text("shipDate")} />
    </CallForm>
  );
}

type FieldProps = ReturnType<FormState<{ value: string }>["text"]>;

function QuantityField(field: FieldProps): ReactNode {
  return <TextInput mt="sm" label={words.quantity} inputMode="numeric" w={140} {...field} />;
}

function ShipDateField(field: FieldProps): ReactNode {
  return <TextInput mt="sm" type="datetime-local" label={words.shipDate} description={words.inZone(timeZone())} {...field} />;
}
