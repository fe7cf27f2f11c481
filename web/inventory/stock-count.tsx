import { ActionIcon, Button, TextInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode, type SubmitEvent } from "react";
import { numberIn } from "../calls/send.ts";
import { useSession } from "../dashboard/session.ts";
import { Badge } from "../parts/badge.tsx";
import { errorLine } from "../parts/error-line.ts";
import { notify } from "../parts/notices.ts";
import { formatNumber, texts } from "../texts/texts.ts";
import { isLowQuery } from "./is-low.ts";
import { adjustStock, cacheStock, setStock, stockQuery, type InventoryItem } from "./queries.ts";
import styles from "./stock-count.module.css";

const words = texts.store.inventory;
type Change = { delta: number } | { quantity: number; before: number };

/** A pet's stock count, edited in place with − and + or as a typed number. Changes to one pet are sent one at a time. */
export function StockCount({ item, name }: { item: InventoryItem; name: string }): ReactNode {
  const { quantity } = item;
  // typed text is shown only while the count is the one it was typed over
  const [typed, setTyped] = useState({ upon: quantity, text: String(quantity) });
  const text = typed.upon === quantity ? typed.text : String(quantity);
  const { mutate, error, isPending } = useStockChange(item.petId, name, (count) => setTyped({ upon: count, text: String(count) }));
  function onSubmit(event: SubmitEvent): void {
    event.preventDefault();
    mutate({ quantity: numberIn(text), before: quantity });
  }
  const isChanged = text.trim() !== String(quantity);
  return (
    <>
      <form className={styles.count} onSubmit={onSubmit} noValidate>
        <ActionIcon
          className={styles.step}
          variant="default"
          size="lg"
          aria-label={words.less(name)}
          disabled={quantity === 0}
          onClick={() => mutate({ delta: -1 })}
        >
          −
        </ActionIcon>
        <TextInput
          className={styles.input}
          classNames={{ input: styles.field }}
          inputMode="numeric"
          aria-label={words.countOf(name)}
          value={text}
          onChange={({ currentTarget }) => setTyped({ upon: quantity, text: currentTarget.value })}
        />
        <ActionIcon className={styles.step} variant="default" size="lg" aria-label={words.more(name)} onClick={() => mutate({ delta: 1 })}>
          +
        </ActionIcon>
        {isChanged && (
          <Button type="submit" loading={isPending} aria-label={words.setCount(name)}>
            {words.set}
          </Button>
        )}
      </form>
      {error && (
        <p className={styles.error} role="alert">
          {errorLine(error)}
        </p>
      )}
    </>
  );
}

function useStockChange(petId: number, name: string, onChanged: (quantity: number) => void) {
  const client = useQueryClient();
  return useMutation({
    scope: { id: `stock-${petId}` },
    mutationFn: (change: Change) => ("delta" in change ? adjustStock(petId, change.delta) : setStock(petId, change.quantity)),
    onSuccess: (changed, change) => {
      cacheStock(client, changed);
      onChanged(changed.quantity);
      if ("before" in change) notifyWithUndo(changed, changed.quantity - change.before);
    },
  });

  /** Undo subtracts the difference rather than restoring the old count, so other people's later changes remain. */
  function notifyWithUndo(changed: InventoryItem, difference: number): void {
    const undo = async () => cacheStock(client, await adjustStock(petId, -difference));
    notify(words.counted(name, formatNumber(changed.quantity)), difference === 0 ? {} : { undo });
  }
}

/** A pet's stock in a table row, edited in place. */
export function StockCell({ petId, name }: { petId: number; name: string }): ReactNode {
  const { data: item } = useQuery(stockQuery(petId));
  if (!item) return <span className={styles.untracked}>{item === null ? words.notTracked : "…"}</span>;
  return (
    <div>
      <StockCount item={item} name={name} />
    </div>
  );
}

/** The mark of a stock count, as text and colour. Low means fallen to the account's `lowStock` or below, as in events and on the home page. */
export function StockMarkBadge({ item }: { item: InventoryItem }): ReactNode {
  const { data: isLow, isLoading, isError } = useQuery(isLowQuery(item, useSession().account.lowStock));
  if (isLoading || isError) return null; // neither is known
  const mark = item.quantity === 0 ? "none" : isLow ? "low" : "enough";
  if (mark === "enough") return <span className={styles.enough}>{words.enough}</span>;
  return (
    <Badge tone={mark === "none" ? "bad" : "busy"}>
      <span aria-hidden>{mark === "none" ? "○" : "◔"}</span> {words[mark]}
    </Badge>
  );
}
