import { Problem } from "../platform/problem.ts";
import type { PetStatus } from "./mapping.ts";

/** A pet that an earlier run has loaded, and the hash of its row then. */
export type Known = { petId: number; hash: string };
/** The loaded pets by source id. `set` records a created or changed pet. */
export type LoadedPets = { get(sourceId: string): Known | undefined; set(sourceId: string, known: Known): unknown };
/** An element of a batch, kept in the state until there is a response. */
export type BatchElement = {
  sourceId: string;
  hash: string;
  replaces: number | null;
  pet: { name: string; categoryId: number; status: PetStatus };
};
/**
 * The state of an import between runs. `batch` is the batch that has no response yet. It is saved before it is sent, so that the run after a crash
 * completes exactly that batch. `sentAt` is in ms since the Unix epoch.
 */
export type State = {
  server: string;
  account: number | null;
  batch: { sentAt: number; elements: BatchElement[] } | null;
  animals: Map<string, Known>;
};

/** The part of a state that a load uses, wherever it is stored. */
export type LoadState = Pick<State, "batch"> & { animals: LoadedPets };

/** @throws Problem `invalid_request` if a state belongs to another server or account */
export function checkBelongs(state: State, file: string, server: string, account: number | null): void {
  const other = state.server !== server ? `the server ${state.server}` : "another account";
  const sameAccount = account === null || state.account === null || state.account === account;
  if (state.server === server && sameAccount) return;
  throw new Problem(
    "invalid_request",
    `The state file ${file} belongs to ${other}. Name another one with --state to import into ${server} too.`,
  );
}
