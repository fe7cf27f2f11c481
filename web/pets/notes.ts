import type { QueryClient } from "@tanstack/react-query";
import { dashboardKey } from "../calls/lists.ts";
import { changeRows, rereadList } from "../calls/rows.ts";
import { animalQuery, type Pet } from "./queries.ts";

/** Shows an animal as it now stands wherever it is shown. */
export function cachePet(client: QueryClient, pet: Pet): void {
  changeRows(client, "/pets", (row) => (row.id === pet.id ? pet : row));
  invalidatePets(client);
}

export function cacheNewPet(client: QueryClient): void {
  void rereadList(client, "/pets");
}

export function cacheDeletedPet(client: QueryClient, petId: number): void {
  changeRows(client, "/pets", (row) => (row.id === petId ? undefined : row));
  changeRows(client, "/store/inventory", (row) => (row.petId === petId ? undefined : row));
  invalidatePets(client);
}

/** Reads an animal anew where it is shown alone: its version has changed with its status. */
export function invalidatePet(client: QueryClient, petId: number): void {
  void client.invalidateQueries({ queryKey: animalQuery(petId).queryKey });
}

/** Single animals and those found by id or name are read anew; the lists stay where they are. */
export function invalidatePets(client: QueryClient): void {
  void client.invalidateQueries({ queryKey: [dashboardKey, "/pets"], predicate: ({ queryKey }) => typeof queryKey[2] === "string" });
}
