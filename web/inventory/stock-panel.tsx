import { Button, Group, TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { numberIn } from "../calls/send.ts";
import { Waiting } from "../frame/waiting.tsx";
import { CallForm, useCallForm } from "../parts/call-form.tsx";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { notify } from "../parts/notices.ts";
import { texts } from "../texts/texts.ts";
import { cacheNewStock, setStock, stockQuery, type InventoryItem } from "./queries.ts";
import { StockCount, StockMarkBadge } from "./stock-count.tsx";
import { StopTrackingDialog } from "./stop-tracking-dialog.tsx";

const words = texts.store.inventory;

/** The stock of one pet: its count, or a form to begin tracking. */
export function StockPanel({ petId, name }: { petId: number; name: string }): ReactNode {
  const { data: item, error, refetch } = useQuery(stockQuery(petId));
  if (item === undefined) return error ? <ErrorPanel error={error} onRetry={() => void refetch()} /> : <Waiting lines={1} />;
  return item === null ? <BeginTracking petId={petId} name={name} /> : <Tracked item={item} name={name} />;
}

function Tracked({ item, name }: { item: InventoryItem; name: string }): ReactNode {
  const [stopping, setStopping] = useState(false);
  return (
    <>
      <Group gap="sm">
        <div>
          <StockCount item={item} name={name} />
        </div>
        <StockMarkBadge item={item} />
        <Button variant="subtle" color="gray" c="dimmed" onClick={() => setStopping(true)}>
          {words.stop}
        </Button>
      </Group>
      {stopping && <StopTrackingDialog petId={item.petId} name={name} onClose={() => setStopping(false)} />}
    </>
  );
}

function BeginTracking({ petId, name }: { petId: number; name: string }): ReactNode {
  const client = useQueryClient();
  const form = useCallForm({
    initial: { quantity: "1" },
    send: ({ quantity }) => setStock(petId, numberIn(quantity)),
    onDone: (item) => {
      notify(words.began(name));
      cacheNewStock(client, item);
    },
  });
  return (
    <>
      <p>{words.untracked}</p>
      <CallForm form={form} submit={words.begin} isSecondary>
        <TextInput label={words.firstCount} inputMode="numeric" w={140} {...form.text("quantity")} />
      </CallForm>
    </>
  );
}
