import type { QueryClient } from "@tanstack/react-query";
import { dashboardKey } from "../calls/lists.ts";
import { changeRows, rereadList } from "../calls/rows.ts";
import { animalQuery, type Pet } from "./queries.ts";

/** Shows an animal as it now stands wherever it is shown. */
export function noteAnimal(client: QueryClient, pet: Pet): void {
  changeRows(client, "/pets", (row) => (row.id === pet.id ? pet : row));
  forgetLookUps(client);
}

export function noteNewAnimal(client: QueryClient): void {
  void rereadList(client, "/pets");
}

export function noteDeletedAnimal(client: QueryClient, petId: number): void {
  changeRows(client, "/pets", (row) => (row.id === petId ? undefined : row));
  changeRows(client, "/store/inventory", (row) => (row.petId === petId ? undefined : row));
  forgetLookUps(client);
}

/** Reads an animal anew where it is shown alone: its version has changed with its status. */
export function rereadAnimal(client: QueryClient, petId: number): void {
  void client.invalidateQueries({ queryKey: animalQuery(petId).queryKey });
}

/** Single animals and those found by id or name are read anew; the lists stay where they are. */
export function forgetLookUps(client: QueryClient): void {
  void client.invalidateQueries({ queryKey: [dashboardKey, "/pets"], predicate: ({ queryKey }) => typeof queryKey[2] === "string" });
}
