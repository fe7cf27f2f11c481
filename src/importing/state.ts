import { Problem } from "../platform/problem.ts";
import type { PetStatus } from "./mapping.ts";

/** An animal that an earlier run has put into the shop, and the hash of its row then. */
export type Known = { petId: number; hash: string };
/** Where a load looks up what is known by source id, and notes what it made and changed. */
export type Notes = { get(sourceId: string): Known | undefined; set(sourceId: string, known: Known): unknown };
/** A batch's element as it is sent, and as the state keeps it until it is answered. */
export type BatchElement = {
  sourceId: string;
  hash: string;
  replaces: number | null;
  pet: { name: string; categoryId: number; status: PetStatus };
};
/**
 * What an import remembers between runs. `batch` is the one that was sent and not yet answered: it is written before
 * the batch leaves, so that a run that was killed goes on with exactly that batch. `sentAt` is ms since the Unix epoch.
 */
export type State = {
  server: string;
  account: number | null;
  batch: { sentAt: number; elements: BatchElement[] } | null;
  animals: Map<string, Known>;
};

/** The part of a state that a load works with, wherever it is kept. */
export type LoadState = Pick<State, "batch"> & { animals: Notes };

/** Raises `invalid_request` where a state belongs to another server or account than the one that is asked now. */
export function checkBelongs(state: State, file: string, server: string, account: number | null): void {
  const other = state.server !== server ? `the server ${state.server}` : "another account";
  const sameAccount = account === null || state.account === null || state.account === account;
  if (state.server === server && sameAccount) return;
  throw new Problem(
    "invalid_request",
    `The state file ${file} belongs to ${other}. Name another one with --state to import into ${server} too.`,
  );
}
