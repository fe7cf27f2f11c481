import { useMutation, useQueryClient, type QueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { sendChanges, type Change, type Result } from "../calls/changes.ts";
import { dashboardKey } from "../calls/lists.ts";
import { numberIn } from "../calls/send.ts";
import { notify, type Notice } from "../parts/notices.ts";
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
    const undo = kind === "delete" ? undoOfDeletion(client, changed) : undoOf(client, changed);
    notify(text(formatNumber(changed.length)), { undo, stays: true });
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

type Undo = NonNullable<Notice["undo"]>;

/**
 * Restores the earlier values of what changed, and says how many pets it left because somebody has changed them since. If it fails, the next call
 * goes on with those that are left. A tracked pet's status follows its stock, so only that of untracked pets is sent.
 */
function undoOf(client: QueryClient, results: readonly Result[]): Undo {
  const all = results.flatMap(backOf);
  let left = all;
  let changedSince = 0;
  return async (report) => {
    const onResults = (some: readonly Result[]): void => {
      const lost = some.filter(({ code }) => code === "precondition_failed" || code === "not_found");
      const ended = new Set([...some.filter(isMade), ...lost].map(({ id }) => id));
      changedSince += lost.length;
      left = left.filter(({ id }) => !ended.has(id));
      report(words.undoing(formatNumber(all.length - left.length), formatNumber(all.length)));
    };
    try {
      await sendChanges(left, { onResults });
    } finally {
      reread(client);
    }
    if (left.length > 0) throw new Error(words.notUndone(formatNumber(left.length)));
    if (changedSince > 0) notify(words.changedSince(formatNumber(changedSince)), { isFailure: true });
    else notify(words.undone);
  };
}

/** Returns what was deleted from the bin. A call after a failure finds those that are back, and goes on with the others. */
function undoOfDeletion(client: QueryClient, deleted: readonly Result[]): Undo {
  const ids = deleted.map(({ id }) => id);
  return async (report) => {
    const { undoDeletion } = await import("../bin/deleting.ts");
    await undoDeletion(client, ids, (done) => report(words.undoing(formatNumber(done), formatNumber(ids.length))));
  };
}

/** The change that takes a change back, as far as nobody has changed the same parts since. */
function backOf({ id, outcome, before, after, versions, madeProfile }: Result): Change[] {
  if (outcome !== "changed" || !before || !after) return [];
  const { name, categoryId, status, stock, price } = before;
  const isCounted = stock !== after.stock;
  const fields = {
    ...(name !== after.name && { name }),
    ...(categoryId !== after.categoryId && { categoryId }),
    ...(stock === null && status !== after.status && { status }),
  };
  const isOfPet = Object.keys(fields).length > 0 && !isCounted;
  return [
    {
      id,
      ...fields,
      ...(isCounted && { stock }),
      ...(price !== undefined && (madeProfile ? { removeProfile: true } : { price })),
      since: {
        ...(isOfPet && versions?.pet !== undefined && { pet: versions.pet }),
        ...(isCounted && versions?.stock !== undefined && { stock: versions.stock }),
        ...(price !== undefined && versions?.profile !== undefined && { profile: versions.profile }),
      },
    },
  ];
}

function reread(client: QueryClient): void {
  void client.resetQueries({
    queryKey: [dashboardKey],
    predicate: ({ queryKey }) => ["/pets", "/store/inventory"].includes(String(queryKey[1])),
  });
}
