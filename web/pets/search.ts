import type { Schemas } from "../calls/store.ts";
import { choiceIn, idIn, present, textIn } from "../parts/search-values.ts";

export type PetStatus = Schemas["PetStatus"];
export const petStatuses: readonly PetStatus[] = ["available", "pending", "sold"];
export const petSorts = ["id", "-id", "name", "-name"] as const;
export type PetSort = (typeof petSorts)[number];
export type PetFilters = { q?: string; status?: PetStatus; categoryId?: number; sort?: PetSort };
/** The search parameters of the pets page: the filters, the open dialog, and whether `q` is searched inside words too. */
export type PetSearch = PetFilters & { animal?: number; new?: true; export?: true; inside?: true };

export function petSearch(search: Record<string, unknown>): PetSearch {
  return {
    q: textIn(search["q"]),
    status: choiceIn(petStatuses, search["status"]),
    categoryId: idIn(search["categoryId"]),
    sort: choiceIn(petSorts, search["sort"]),
    animal: idIn(search["animal"]),
    new: search["new"] === true ? (true as const) : undefined,
    export: search["export"] === true ? (true as const) : undefined,
    inside: search["inside"] === true ? (true as const) : undefined,
  };
}

/** The filters of an address, as the service accepts them: with `q`, only sorting by name. */
export function filtersOf({ q, status, categoryId, sort }: PetSearch): PetFilters {
  return present({ q, status, categoryId, sort: q !== undefined && (sort === "id" || sort === "-id") ? undefined : sort });
}

/** The same filters as parameters of the list. */
export function queryOf({ status, ...filters }: PetFilters): Omit<PetFilters, "status"> & { status?: PetStatus[] } {
  return { ...filters, ...(status && { status: [status] }) };
}

/** The marks at which names are cut into words (specification 2.1), and their typographic forms. */
const marks = /[-/()[\]"'.,&+*#:;_\u2010-\u201f\u02b9\u02bb-\u02bd]/g;

/** Whether a search for `q` finds a name: a word of it, cut at spaces or also at marks, begins with the text. */
export function isFoundByName(name: string, q: string): boolean {
  const folded = ` ${name.toLowerCase()}`;
  return [folded, folded.replaceAll(marks, " ")].some((words) => words.includes(` ${q.trim().toLowerCase()}`));
}

/** The sort order of the filters. */
export function sortOf({ q, sort }: PetFilters): PetSort {
  return sort ?? (q === undefined ? "id" : "name");
}
