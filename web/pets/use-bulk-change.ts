import { useMutation, useQueryClient, type QueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { sendChanges, type Change, type Result } from "../calls/changes.ts";
import { dashboardKey } from "../calls/lists.ts";
import { numberIn } from "../calls/send.ts";
import { notify } from "../parts/notices.ts";
import { bulkTexts as words } from "../texts/en-bulk.ts";
import { formatNumber } from "../texts/texts.ts";
import { priceChangeOf, type PriceValues } from "./price-change.ts";
import type { PetStatus } from "./search.ts";

export type Kind = "status" | "category" | "track" | "price" | "delete";
export type BulkValues = { status: PetStatus; categoryId: string | null; stock: string; price: PriceValues };

type Options = { kind: Kind; ids: readonly number[]; values: BulkValues; onClose: () => void; onDone: () => void };

/**
 * Changes many pets. What is done stays done if the change is stopped or fails: `start` then goes on with the others, and `leave` ends it. Whatever
 * the end, a notice offers to undo what was done.
 */
export function useBulkChange({ kind, ids, values, onClose, onDone }: Options) {
  const client = useQueryClient();
  const results = useRef<Result[]>([]);
  const [refused, setRefused] = useState<readonly Result[]>([]);
  const isStopped = useRef(false);
  const [done, setDone] = useState(0);
  const [isStopping, setStopping] = useState(false);
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => {
      const made = new Set(results.current.map(({ id }) => id));
      const changes = ids.filter((id) => !made.has(id)).map((id) => changeOf(id, kind, values));
      return sendChanges(changes, { onResults: add, isStopped: () => isStopped.current });
    },
    onSettled: () => reread(client),
    onSuccess: () => {
      if (results.current.length < ids.length) return leave();
      announce(words.done[kind]);
      const left = results.current.filter((result) => !isMade(result));
      if (left.length === 0) onDone();
      else setRefused(left);
    },
  });

  function add(more: readonly Result[]): void {
    results.current.push(...more);
    setDone(results.current.length);
  }

  function announce(text: (count: string) => string): void {
    const changed = results.current.filter(isMade);
    if (changed.length === 0) return;
    notify(text(formatNumber(changed.length)), kind === "delete" ? {} : { undo: () => undo(client, changed) });
  }

  function leave(): void {
    announce((count) => words.interrupted(count, formatNumber(ids.length)));
    onClose();
  }

  function stop(): void {
    isStopped.current = true;
    setStopping(true);
  }

  return { isRunning: isPending, isStopping, done, error, refused, start: () => mutate(), stop, leave };
}

function isMade({ outcome }: Result): boolean {
  return outcome !== "refused";
}

function changeOf(id: number, kind: Kind, { status, categoryId, stock, price }: BulkValues): Change {
  switch (kind) {
    case "status":
      return { id, status };
    case "category":
      return { id, categoryId: Number(categoryId) };
    case "track":
      return { id, stock: numberIn(stock) };
    case "price":
      return { id, ...priceChangeOf(price) };
    case "delete":
      return { id, delete: true };
  }
}

/** Restores the earlier values of what changed. A tracked pet's status follows its stock, so only that of untracked pets is sent. */
async function undo(client: QueryClient, results: readonly Result[]): Promise<void> {
  const changed = results.filter(({ outcome, before }) => outcome === "changed" && before);
  const back = changed.map(({ id, before, after }): Change => {
    const { name, categoryId, status, stock, price } = before!;
    const isStatus = stock === null && status !== after?.status;
    return {
      id,
      ...(name !== after?.name && { name }),
      ...(categoryId !== after?.categoryId && { categoryId }),
      ...(stock !== after?.stock && { stock }),
      ...(price !== undefined && { price }),
      ...((isStatus || after?.stock !== stock) && stock === null && { status }),
    };
  });
  const refused = (await sendChanges(back)).filter(({ outcome }) => outcome === "refused");
  reread(client);
  if (refused.length > 0) notify(words.notUndone(formatNumber(refused.length)), { isFailure: true });
  else notify(words.undone);
}

function reread(client: QueryClient): void {
  void client.resetQueries({
    queryKey: [dashboardKey],
    predicate: ({ queryKey }) => ["/pets", "/store/inventory"].includes(String(queryKey[1])),
  });
}
