import type { Transaction } from "../../platform/db/database.ts";
import type { Price, StoredProfile, UrlOf } from "../profiles/profiles.ts";
import { findProfiles, recordProfile, writeProfiles } from "../profiles/profiles.store.ts";

/** A description and a price. A part that is left out stays as it is. */
export type ProfileValues = { description?: string | null; price?: Price | null };

/** A profile before it was written, and its version afterwards. */
export type WrittenProfile = { before: StoredProfile | undefined; version: number };

/** Writes the descriptions and prices of locked or new pets where they differ. Returns what was written, by pet. */
export async function writeProfileValues(
  tx: Transaction,
  { accountId, urlOf }: { accountId: number; urlOf: UrlOf },
  wanted: readonly { petId: number; values: ProfileValues }[],
): Promise<Map<number, WrittenProfile>> {
  const current = await findProfiles(
    tx,
    accountId,
    wanted.map(({ petId }) => petId),
  );
  const changes = wanted.flatMap(({ petId, values }) => {
    const before = current.get(petId);
    const { description = before?.description ?? null, price = before?.price ?? null } = values;
    const after = {
      petId,
      description: description === "" ? null : description,
      price,
      photos: before?.photos ?? [],
      version: (before?.version ?? 0) + 1,
    };
    return isSame(before, after) ? [] : [{ before, after }];
  });
  if (changes.length === 0) return new Map();
  await writeProfiles(
    tx,
    accountId,
    changes.map(({ after }) => after),
  );
  for (const { before, after } of changes) recordProfile(tx, accountId, urlOf, before, after);
  return new Map(changes.map(({ before, after }) => [after.petId, { before, version: after.version }]));
}

function isSame(before: StoredProfile | undefined, after: StoredProfile): boolean {
  const price = (of: StoredProfile | undefined): string => JSON.stringify([of?.price?.amount, of?.price?.currency]);
  return (before?.description ?? null) === after.description && price(before) === price(after);
}
