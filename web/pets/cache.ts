import type { QueryClient } from "@tanstack/react-query";
import { changeRows, reread, rereadBeside, rereadList } from "../calls/rows.ts";
import { petQuery, type Pet } from "./queries.ts";

/** Updates a pet wherever it is shown. */
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

/** Rereads a single pet, because a change of its status changes its version. */
export function invalidatePet(client: QueryClient, petId: number): void {
  void reread(client, { queryKey: petQuery(petId).queryKey });
}

/** Rereads all that is shown of pets but the lists. */
export function invalidatePets(client: QueryClient): void {
  void rereadBeside(client, "/pets");
}
