import type { Transaction } from "../../platform/db/database.ts";
import type { Facts } from "./facts.ts";
import { findProfiles, recordProfile, writeProfiles } from "./profiles.store.ts";
import type { Price, StoredProfile, UrlOf } from "./profiles.ts";

/** A description, a price and facts. A part that is left out stays as it is. */
export type ProfileValues = { description?: string | null; price?: Price | null; facts?: Facts | null };

/** Values to write. The added facts join those of the pet. */
type WrittenValues = ProfileValues & { addedFacts?: Facts | null };

/** The parts of a profile that writes of many pets may change, as they were. */
export function priorProfile({ description, price, facts }: StoredProfile): ProfileValues {
  return { description, price, facts };
}

/** A profile before it was written, and its version afterwards. */
export type WrittenProfile = { before: StoredProfile | undefined; version: number };

/** Writes the descriptions, prices and facts of locked or new pets where they differ. Returns what was written, by pet. */
export async function writeProfileValues(
  tx: Transaction,
  { accountId, urlOf }: { accountId: number; urlOf: UrlOf },
  wanted: readonly { petId: number; values: WrittenValues }[],
): Promise<Map<number, WrittenProfile>> {
  const current = await findProfiles(
    tx,
    accountId,
    wanted.map(({ petId }) => petId),
  );
  const changes = wanted.flatMap(({ petId, values }) => {
    const before = current.get(petId);
    const { description = before?.description ?? null, price = before?.price ?? null, facts = before?.facts ?? null } = values;
    const after = {
      petId,
      description: description === "" ? null : description,
      price,
      facts: values.addedFacts ? { ...facts, ...values.addedFacts } : facts,
      photos: before?.photos ?? [],
      version: (before?.version ?? 0) + 1,
    };
    return isSame(before, after) ? [] : [{ before, after }];
  });
  if (changes.length === 0) return new Map();
  await writeProfiles(tx, accountId, changes);
  for (const { before, after } of changes) recordProfile(tx, accountId, urlOf, before, after);
  return new Map(changes.map(({ before, after }) => [after.petId, { before, version: after.version }]));
}

function isSame(before: StoredProfile | undefined, after: StoredProfile): boolean {
  const price = (of: StoredProfile | undefined): string => JSON.stringify([of?.price?.amount, of?.price?.currency]);
  const facts = (of: StoredProfile | undefined): string => JSON.stringify(of?.facts ?? null);
  return (before?.description ?? null) === after.description && price(before) === price(after) && facts(before) === facts(after);
}
