import type { Database } from "../platform/db/database.ts";
import { systemOrigin } from "../platform/events.ts";
import { Problem } from "../platform/problem.ts";
import type { ShownReservation } from "../publishing/storefront/reservation-pages.ts";
import type { ReservationDesk } from "../publishing/storefront/reservations.ts";
import type { Catalogue } from "../publishing/storefront/storefront.ts";
import { findItem } from "../store/inventory/inventory.store.ts";
import { findOrder } from "../store/orders/orders.store.ts";
import { findPet } from "../store/pets/pets.store.ts";
import { cancelByLink, placeReservation } from "../store/reservations/reservation-answers.store.ts";
import { findByLink, type StoredReservation } from "../store/reservations/reservations.store.ts";

/** Connects storefronts to the store's reservations. Visitors have no account, so the log names the system as actor. */
export function openReservationDesk(db: Database, catalogue: Catalogue, clock: () => number): ReservationDesk {
  const own = (accountId: number, requestId?: string): Database =>
    db.as({ caller: accountId, ...(requestId !== undefined && { origin: { ...systemOrigin, requestId } }) });
  return {
    async animal(accountId, id) {
      const animal = await catalogue.animal(accountId, id);
      return animal && { animal, holds: (await freeUnits(own(accountId), accountId, id)) > 0 };
    },
    async place(accountId, { requestId, ...asked }) {
      const now = clock();
      const origin = { ...systemOrigin, requestId, at: now };
      try {
        return await own(accountId, requestId).write((tx) => placeReservation(tx, accountId, asked, origin, now));
      } catch (error) {
        if (error instanceof Problem && error.code === "storage_limit_reached") return "shop";
        if (error instanceof Problem && error.code === "insufficient_stock") return "taken";
        if (error instanceof Problem && (error.code === "pet_not_available" || error.code === "unknown_reference")) return "gone";
        throw error;
      }
    },
    async find(accountId, linkHash) {
      const found = await findByLink(own(accountId), accountId, linkHash);
      return found && shownTo(own(accountId), accountId, found);
    },
    async cancel(accountId, linkHash, requestId) {
      await own(accountId, requestId).write((tx) => cancelByLink(tx, accountId, linkHash, clock()));
    },
  };
}

/** The free units of a pet; 0 if its stock is not counted. */
async function freeUnits(db: Database, accountId: number, petId: number): Promise<number> {
  return (await ifFound(async () => (await findItem(db, accountId, petId)).item.quantity)) ?? 0;
}

async function shownTo(
  db: Database,
  accountId: number,
  { state, petId, orderId, lapsesAt, endedAt }: StoredReservation,
): Promise<ShownReservation> {
  const pet = await findPet(db, accountId, petId);
  const order = orderId === null ? undefined : await ifFound(async () => findOrder(db, accountId, orderId));
  const isCollected = order?.fields.complete === true;
  const mayCancel = endedAt === null && !isCollected;
  return { state, holds: orderId !== null, animal: pet && { id: petId, name: pet.pet.name }, lapsesAt, mayCancel, isCollected };
}

async function ifFound<T>(find: () => Promise<T>): Promise<T | undefined> {
  try {
    return await find();
  } catch (error) {
    if (error instanceof Problem && error.code === "not_found") return undefined;
    throw error;
  }
}
