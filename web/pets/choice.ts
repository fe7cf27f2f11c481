import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { pages, type Query } from "../../client/pages.ts";
import { patientStore } from "../calls/patient.ts";
import { notifyError } from "../parts/notices.ts";

/** The most pets that can be chosen at once. */
const chosenMax = 30_000;

/** The chosen pets of a list. */
export type Choice = {
  ids: readonly number[];
  has: (id: number) => boolean;
  toggle: (id: number) => void;
  /** Chooses every pet that matches the filters. */
  all: () => void;
  isChoosing: boolean;
  clear: () => void;
};

/** Holds which pets are chosen. The choice applies only to the filters that it was made with. `numbered`: a pet of the list that the filters do not find. */
export function useChoice(filters: Query<"/pets">, numbered?: number): Choice {
  const of = JSON.stringify(filters);
  const [chosen, setChosen] = useState<{ of: string; ids: ReadonlySet<number> }>({ of, ids: new Set() });
  const ids = chosen.of === of ? chosen.ids : new Set<number>();
  const { mutate, isPending } = useMutation({
    mutationFn: () => everyId(filters),
    onSuccess: (found) => setChosen({ of, ids: numbered === undefined ? found : found.add(numbered) }),
    onError: notifyError,
  });
  return {
    ids: [...ids],
    has: (id) => ids.has(id),
    toggle: (id) => setChosen({ of, ids: ids.symmetricDifference(new Set([id])) }),
    all: () => mutate(),
    isChoosing: isPending,
    clear: () => setChosen({ of, ids: new Set() }),
  };
}

async function everyId(filters: Query<"/pets">): Promise<Set<number>> {
  const ids = new Set<number>();
  for await (const page of pages(patientStore(), "/pets", filters)) {
    for (const { id } of page) ids.add(id);
    if (ids.size >= chosenMax) break;
  }
  return ids;
}
