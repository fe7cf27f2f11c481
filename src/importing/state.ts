import { Problem } from "../platform/problem.ts";
import type { PetStatus } from "./mapping-schema.ts";

/*
 * What releases before 1.2.0 remembered between two runs of an import, in a state file or in the browser. It is handed to the service once.
 */

/** A pet that an earlier run has loaded, and the hash of its row then. */
export type Known = { petId: number; hash: string };
/** An element of a batch that had no answer. */
export type BatchElement = {
  sourceId: string;
  hash: string;
  replaces: number | null;
  pet: { name: string; categoryId: number; status: PetStatus };
};
/** The loaded pets by source id, and the batch that had no answer yet. `sentAt` is in ms since the Unix epoch. */
export type Memory = { batch: { sentAt: number; elements: BatchElement[] } | null; animals: Map<string, Known> };
export type State = Memory & { server: string; account: number | null };

/** @throws Problem `invalid_request` if a state belongs to another server or account */
export function checkBelongs(state: State, file: string, server: string, account: number | null): void {
  const other = state.server !== server ? `the server ${state.server}` : "another account";
  const sameAccount = account === null || state.account === null || state.account === account;
  if (state.server === server && sameAccount) return;
  throw new Problem("invalid_request", `The state file ${file} belongs to ${other}. Move it away to import into ${server} too.`);
}
