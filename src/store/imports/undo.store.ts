import sql, { join } from "sql-template-tag";
import type { Transaction } from "../../platform/db/database.ts";
import { deleteEntries, lockPetsWithEntries, setCounts, type StoredItem } from "../inventory/inventory.store.ts";
import { statusOfStock } from "../inventory/inventory.ts";
import { deletePets, updatePets, type StoredPet } from "../pets/pets.store.ts";
import type { Pet } from "../pets/pets.ts";
import { writeProfileValues, type ProfileValues } from "../profiles/profile-values.store.ts";
import { findProfiles, removeProfile } from "../profiles/profiles.store.ts";
import type { StoredProfile } from "../profiles/profiles.ts";
import {
  deleteChanges,
  deleteKnown,
  findChanges,
  findKnown,
  findOtherImports,
  firstChanges,
  saveChanges,
  saveKnown,
  type Change,
  type ImportContext,
  type KnownRow,
  type Versions,
} from "./import-changes.store.ts";
import { dropPhotos } from "./import-photos.store.ts";
import { addUndone, finishUndo, lockImport } from "./imports.store.ts";
import type { StayingPet } from "./imports.ts";

/** The most pets that one step takes back: few enough that no other write waits long. */
const stepMax = 200;

/** What a step finds: the pets and their entries, locked, and what else decides whether they go back. */
type FoundPets = {
  pets: Map<number, StoredPet>;
  entries: Map<number, StoredItem>;
  profiles: Map<number, StoredProfile>;
  known: Map<string, KnownRow>;
  ordered: ReadonlySet<number>;
  categories: ReadonlySet<number>;
};

/** What becomes of a pet. */
type Return = {
  deleted?: StoredPet;
  updated?: { current: StoredPet; next: Pet };
  counted?: { current: StoredItem; quantity: number };
  untracked?: StoredItem;
  /** Null values stand for no profile. */
  profile?: { current: StoredProfile; values: ProfileValues | null };
  stays?: string;
};

const changedSince = "It was changed after the import.";

/**
 * Takes back what an import did to some of its pets, as far as nobody changed them since, or ends the undo if there are no more. Returns whether
 * another step is needed.
 */
export async function undoSome(tx: Transaction, of: Omit<ImportContext, "sourceId">): Promise<boolean> {
  const { accountId, importId } = of;
  const current = await lockImport(tx, accountId, importId);
  if (current.shown.status !== "undoing") return false;
  const importing = { ...of, sourceId: current.sourceId };
  const changes = await firstChanges(tx, importing, stepMax);
  if (changes.length === 0) {
    await finishUndo(tx, accountId, importId, of.now);
    return false;
  }
  const found = await find(tx, importing, changes);
  const returns = changes.map((change) => returnOf(change, found));
  await dropPhotos(
    tx,
    accountId,
    changes.map(({ petId }) => petId),
  );
  await apply(tx, importing, returns, found);
  await takeBackRows(tx, importing, changes, returns, found.known);
  await moveVersions(
    tx,
    importing,
    changes.flatMap((change, i) => moveOf(change, returns[i]!)),
  );
  const staying = returns.flatMap(({ stays }, i): StayingPet[] =>
    stays === undefined ? [] : [{ petId: changes[i]!.petId, reason: stays }],
  );
  await addUndone(tx, accountId, current, { undone: changes.length, staying });
  await deleteChanges(tx, importing, changes.at(-1)!.petId);
  return true;
}

async function find(tx: Transaction, importing: ImportContext, changes: readonly Change[]): Promise<FoundPets> {
  const { accountId } = importing;
  const ids = changes.map(({ petId }) => petId);
  const made = changes.filter(({ isNew }) => isNew).map(({ petId }) => petId);
  const locked = await lockPetsWithEntries(tx, accountId, ids);
  const orders =
    made.length === 0
      ? []
      : await tx.query<{ pet_id: number }>(
          sql`SELECT DISTINCT pet_id FROM orders WHERE account_id = ${accountId} AND pet_id IN (${join(made)})`,
        );
  const wanted = changes.flatMap(({ prior }) => prior.pet?.categoryId ?? []);
  const categories =
    wanted.length === 0
      ? []
      : await tx.query<{ id: number }>(sql`SELECT id FROM categories WHERE account_id = ${accountId} AND id IN (${join(wanted)})`);
  return {
    ...locked,
    profiles: await findProfiles(
      tx,
      accountId,
      changes.filter(({ isNew, versions }) => isNew || versions.profile !== null).map(({ petId }) => petId),
    ),
    known: await findKnown(
      tx,
      importing,
      changes.map(({ rowId }) => rowId),
    ),
    ordered: new Set(orders.map((row) => row.pet_id)),
    categories: new Set(categories.map(({ id }) => id)),
  };
}

function returnOf(change: Change, found: FoundPets): Return {
  const current = found.pets.get(change.petId);
  if (!current) return {}; // somebody has deleted it
  return change.isNew ? returnOfNew(change, current, found) : returnOfChanged(change, current, found);
}

function returnOfNew({ petId, versions }: Change, current: StoredPet, { entries, profiles, ordered }: FoundPets): Return {
  if (ordered.has(petId)) return { stays: "It has orders." };
  const stock = entries.get(petId)?.version ?? null;
  const profile = profiles.get(petId)?.version ?? null;
  // Somebody else changed a part if its version is not the one the import left.
  const isAsLeft = current.version === versions.pet && stock === versions.stock && profile === versions.profile;
  return isAsLeft ? { deleted: current } : { stays: changedSince };
}

function returnOfChanged({ petId, prior, versions }: Change, current: StoredPet, { entries, profiles, categories }: FoundPets): Return {
  const { pet: petVersion, stock: stockVersion } = versions;
  const entry = entries.get(petId);
  const back: Return = {};
  const profile = profiles.get(petId);
  if (versions.profile !== null && profile?.version === versions.profile)
    back.profile = { current: profile, values: prior.profile ?? null };
  else if (versions.profile !== null) back.stays = "Its profile was changed after the import.";
  let tracked = entry;
  if (stockVersion !== null && entry?.version !== stockVersion) back.stays = "Its stock was changed after the import.";
  else if (stockVersion !== null && prior.quantity === null) {
    back.untracked = entry!;
    tracked = undefined;
  } else if (stockVersion !== null) {
    back.counted = { current: entry!, quantity: prior.quantity! };
    tracked = { ...entry!, item: { ...entry!.item, quantity: prior.quantity! } };
  }
  const wanted = petVersion === null ? {} : (prior.pet ?? {});
  const mayReturn = petVersion === current.version && (wanted.categoryId === undefined || categories.has(wanted.categoryId));
  if (petVersion !== null && petVersion !== current.version) back.stays = changedSince;
  else if (petVersion !== null && !mayReturn) back.stays = "Its category from before the import is gone.";
  const { status, ...fields } = mayReturn ? wanted : {};
  const following = tracked ? statusOfStock({ quantity: tracked.item.quantity, held: tracked.held }) : (status ?? current.pet.status);
  const next = { ...current.pet, ...fields, status: following };
  if (JSON.stringify(next) !== JSON.stringify(current.pet)) back.updated = { current, next };
  return back;
}

async function apply(tx: Transaction, importing: ImportContext, returns: readonly Return[], { entries }: FoundPets): Promise<void> {
  const { accountId } = importing;
  const each = <T>(pick: (one: Return) => T | undefined): T[] => returns.flatMap((one) => pick(one) ?? []);
  await setCounts(
    tx,
    accountId,
    each(({ counted }) => counted),
  );
  await deleteEntries(
    tx,
    accountId,
    each(({ untracked }) => untracked),
  );
  await updatePets(
    tx,
    accountId,
    each(({ updated }) => updated),
  );
  await takeBackProfiles(
    tx,
    importing,
    each(({ profile }) => profile),
  );
  const deleted = each((one) => one.deleted).map((pet) => {
    const entry = entries.get(pet.pet.id);
    return { ...pet, entry: entry && { ...entry.item, version: entry.version } };
  });
  await deletePets(tx, accountId, deleted);
}

async function takeBackProfiles(
  tx: Transaction,
  importing: ImportContext,
  profiles: readonly NonNullable<Return["profile"]>[],
): Promise<void> {
  const { accountId, urlOf } = importing;
  const isDeleted = ({ current, values }: (typeof profiles)[number]): boolean => values === null && current.photos.length === 0;
  for (const { current } of profiles.filter(isDeleted)) await removeProfile(tx, accountId, urlOf, current);
  const kept = profiles.filter((one) => !isDeleted(one));
  await writeProfileValues(
    tx,
    importing,
    kept.map(({ current, values }) => ({ petId: current.petId, values: values ?? { description: null, price: null, facts: null } })),
  );
}

/** Makes the source's rows say what they said before the import. Rows of pets that it made, and that stay, keep their pets. */
async function takeBackRows(
  tx: Transaction,
  importing: ImportContext,
  changes: readonly Change[],
  returns: readonly Return[],
  known: ReadonlyMap<string, KnownRow>,
): Promise<void> {
  const forgotten: string[] = [];
  const back: { rowId: string; known: KnownRow }[] = [];
  for (const [i, { petId, rowId, isNew, prior }] of changes.entries()) {
    const row = known.get(rowId);
    const isOwn = row?.petId === petId && (row.importId === importing.importId || returns[i]!.deleted !== undefined);
    if (!isOwn || (isNew && returns[i]!.stays !== undefined)) continue;
    if (prior.row) back.push({ rowId, known: prior.row });
    else forgotten.push(rowId);
  }
  await deleteKnown(tx, importing, forgotten);
  await saveKnown(tx, importing.accountId, importing.sourceId, back);
}

/**
 * The versions of a pet before an import changed it, and after the undo gave it its earlier values. An earlier import may have left the former:
 * `importId` is the last one from the same source.
 */
type PetMove = { petId: number; importId: number | undefined; before: Versions; after: Partial<Versions> };

function moveOf({ petId, isNew, prior }: Change, { updated, counted, untracked, profile }: Return): PetMove[] {
  if (isNew || !prior.versions) return [];
  const after = {
    ...(updated && { pet: updated.current.version + 1 }),
    ...(counted && { stock: counted.current.version + 1 }),
    ...(untracked && { stock: null }),
    ...(profile && { profile: profile.values === null && profile.current.photos.length === 0 ? null : profile.current.version + 1 }),
  };
  return Object.keys(after).length === 0 ? [] : [{ petId, importId: prior.row?.importId, before: prior.versions, after }];
}

/** The most imports of a pet that are followed back. */
const movesMax = 20;

/**
 * An undo writes new versions, which would make earlier imports look changed. Replaces the old version by the new one in their saved changes, across all
 * sources, where nobody else changed the part. Safe, because the pets are locked.
 */
async function moveVersions(tx: Transaction, importing: ImportContext, moves: readonly PetMove[]): Promise<void> {
  const { accountId, importId: ownId } = importing;
  const byPet = new Map(moves.map((move) => [move.petId, move]));
  const others = await findOtherImports(tx, importing, [...byPet.keys()]);
  let level = [...moves.filter(({ importId }) => importId !== ownId), ...others.map((other) => ({ ...byPet.get(other.petId)!, ...other }))];
  for (let depth = 0; depth < movesMax && level.length > 0; depth++) {
    const earlier: PetMove[] = [];
    for (const [importId, own] of Map.groupBy(level, (move) => move.importId)) {
      if (importId === undefined) continue;
      const ids = own.map(({ petId }) => petId);
      const changes = await findChanges(tx, accountId, importId, ids);
      const moved = own.flatMap((move) => {
        const change = changes.get(move.petId);
        if (!change) return [];
        if (change.prior.row && change.prior.row.importId !== importId) earlier.push({ ...move, importId: change.prior.row.importId });
        const isLeft = ([part]: [string, unknown]): boolean =>
          change.versions[part as keyof Versions] === move.before[part as keyof Versions];
        return [{ ...change, versions: { ...change.versions, ...Object.fromEntries(Object.entries(move.after).filter(isLeft)) } }];
      });
      await saveChanges(tx, accountId, importId, moved);
    }
    level = earlier;
  }
}
