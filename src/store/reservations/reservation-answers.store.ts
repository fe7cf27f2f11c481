import { isDeepStrictEqual } from "node:util";
import type { Database, Transaction } from "../../platform/db/database.ts";
import type { Origin } from "../../platform/events.ts";
import { parseDateTime } from "../../platform/http/dates.ts";
import { invalidAt, Problem } from "../../platform/problem.ts";
import { writeContact } from "../contacts/contacts.store.ts";
import type { Contact } from "../contacts/contacts.ts";
import { lockItem } from "../inventory/inventory.store.ts";
import { cancelOrder, lockOrder, placeOrders, type StoredOrder } from "../orders/orders.store.ts";
import { petExists } from "../pets/pets.store.ts";
import {
  changeReservation,
  countReservations,
  deleteEnquiryContact,
  type Due,
  findByLink,
  findEnquiryContact,
  findReservation,
  insertReservation,
  lockReservation,
  readDue,
  type StoredReservation,
} from "./reservations.store.ts";
import { enquiryMs, exceeded, lapseTimeOf, requireAnswer, type ReservationPatch } from "./reservations.ts";

/** What a visitor sends. */
export type Asked = {
  petId: number;
  contact: Contact;
  /** Whether the visitor expects that a unit is held. */
  holds: boolean;
  holdMs: number;
  linkHash: string;
  visitor: string;
};

/**
 * Why nothing was reserved: no unit is free any more, there is no such pet, the visitor has too many open reservations, or the shop takes no more for
 * now.
 */
export type NotPlaced = "taken" | "gone" | "visitor" | "shop";

/**
 * Reserves one unit of a tracked pet by an order with its contact, or keeps an enquiry about any other pet. The same link again changes nothing, so a
 * form that is sent twice reserves once.
 *
 * @throws Problem `storage_limit_reached`
 */
export async function placeReservation(
  tx: Transaction,
  accountId: number,
  asked: Asked,
  origin: Origin,
  now: number,
): Promise<NotPlaced | undefined> {
  const { petId, contact, linkHash, visitor } = asked;
  await tx.lock(`reservations of ${accountId}`);
  if ((await findByLink(tx, accountId, linkHash)) !== undefined) return undefined;
  const free = (await lockItem(tx, accountId, petId))?.item.quantity;
  if (asked.holds && free === 0) return "taken";
  if (free === undefined && !(await petExists(tx, accountId, petId))) return "gone";
  const isHeld = asked.holds && free !== undefined && free > 0;
  const kind = isHeld ? "hold" : "enquiry";
  const excess = exceeded(kind, await countReservations(tx, accountId, { petId, visitor, kind }, now));
  if (excess !== undefined) return excess;
  const orderId = isHeld ? await placeOrder(tx, accountId, { petId, contact, origin }) : null;
  const lapsesAt = now + (isHeld ? asked.holdMs : enquiryMs);
  await insertReservation(tx, accountId, { petId, orderId, linkHash, visitor, lapsesAt, contact }, now);
  return undefined;
}

async function placeOrder(
  tx: Transaction,
  accountId: number,
  { petId, contact, origin }: Pick<Asked, "petId" | "contact"> & { origin: Origin },
): Promise<number> {
  const fields = { petId, quantity: 1, shipDate: null, complete: false };
  const [order] = await placeOrders(tx, [{ accountId, fields, origin }]);
  await writeContact(tx, accountId, order!.id, contact, null);
  return order!.id;
}

/** Locks a reservation and, before it, its order, which may be gone. @throws Problem `not_found` */
async function lockBoth(tx: Transaction, accountId: number, id: number) {
  const { orderId } = await findReservation(tx, accountId, id);
  const order = orderId === null ? undefined : await lockOrderIfAny(tx, accountId, orderId);
  return { order, reservation: await lockReservation(tx, accountId, id) };
}

async function lockOrderIfAny(tx: Transaction, accountId: number, orderId: number): Promise<StoredOrder | undefined> {
  try {
    return await lockOrder(tx, accountId, orderId);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/**
 * Accepts or refuses a reservation, sets when it lapses, or deletes the contact of an enquiry. Accepted, it lapses no more, and its order holds the unit until the shop completes or
 * deletes it. Refused, its order is deleted and the unit is free; so it is if the shop accepted it before, as long as the order is open.
 *
 * @throws Problem `not_found`, `reservation_ended`, `invalid_request`
 */
export async function answerReservation(
  tx: Transaction,
  accountId: number,
  id: number,
  patch: ReservationPatch,
  { requireVersion, now }: { requireVersion: (version: number) => void; now: number },
): Promise<StoredReservation> {
  const { order, reservation } = await lockBoth(tx, accountId, id);
  requireVersion(reservation.version);
  const { state = reservation.state } = patch;
  const isForgotten = patch.contact !== undefined && (await changeContact(tx, accountId, id, patch.contact));
  const current = isForgotten ? { ...reservation, version: reservation.version + 1 } : reservation;
  const asked = patch.lapsesAt === undefined ? null : (parseDateTime(patch.lapsesAt) ?? null);
  if (state === reservation.state && (asked === null || asked === reservation.lapsesAt)) return current;
  if (state !== reservation.state) requireAnswer(state);
  const lapsesAt = asked === null || asked === reservation.lapsesAt ? reservation.lapsesAt : lapseTimeOf(asked, now);
  const mayChange = reservation.state === "open" || (reservation.state === "accepted" && state === "refused" && !order?.fields.complete);
  if (!mayChange) throw new Problem("reservation_ended", `Reservation ${id} is ${reservation.state}: it can no longer be changed.`);
  if (state === "refused") return end(tx, accountId, { order, reservation }, "refused", now);
  const isEnded = state === "accepted" && (order === undefined || order.fields.complete);
  return changeReservation(tx, accountId, reservation, { state, lapsesAt: state === "open" ? lapsesAt : null, isEnded }, now);
}

/** Deletes the contact of an enquiry, and returns whether it had one. @throws Problem `invalid_request` for another contact than it has */
async function changeContact(tx: Transaction, accountId: number, id: number, contact: Contact | null): Promise<boolean> {
  if (contact === null) return deleteEnquiryContact(tx, accountId, id);
  if (!isDeepStrictEqual({ ...contact }, await findEnquiryContact(tx, accountId, id)))
    throw invalidAt("body.contact", "must be null, which deletes it, or what it is");
  return false;
}

/** Cancels the reservation of a visitor's link, if it is open or its order is. Returns it; undefined if there is none. */
export async function cancelByLink(
  tx: Transaction,
  accountId: number,
  linkHash: string,
  now: number,
): Promise<StoredReservation | undefined> {
  const found = await findByLink(tx, accountId, linkHash);
  if (found === undefined) return undefined;
  const both = await lockBoth(tx, accountId, found.id);
  const { order, reservation } = both;
  const isRunning = reservation.endedAt === null && !order?.fields.complete;
  return isRunning ? end(tx, accountId, both, "cancelled", now) : reservation;
}

/** Ends a reservation, and deletes its open order, which frees the unit. */
async function end(
  tx: Transaction,
  accountId: number,
  { order, reservation }: { order: StoredOrder | undefined; reservation: StoredReservation },
  state: "refused" | "cancelled" | "lapsed",
  now: number,
): Promise<StoredReservation> {
  const ended = await changeReservation(tx, accountId, reservation, { state, lapsesAt: null, isEnded: true }, now);
  if (order !== undefined) await cancelOrder(tx, accountId, order, now);
  return ended;
}

const isNotFound = (error: unknown): boolean => error instanceof Problem && error.code === "not_found";

const dueAtOnce = 100;

/**
 * Ends the reservations whose time has come, each in its own transaction. One that fails is reported, stays due, and does not delay the others.
 *
 * @param now in ms since the Unix epoch
 */
export async function lapseReservations(db: Database, now: number, onError: (error: unknown) => void): Promise<void> {
  for (let after: Due | undefined = { lapsesAt: 0, accountId: 0, id: 0 }; after !== undefined;) {
    const from: Due = after;
    const due = await db.scan(() => readDue(db, now, from, dueAtOnce));
    for (const { accountId, id } of due) {
      try {
        await db.as({ caller: accountId }).write((tx) => lapse(tx, accountId, id, now));
      } catch (error) {
        if (!isNotFound(error)) onError(error); // a row that was deleted meanwhile lapses no more
      }
    }
    after = due.length === dueAtOnce ? due.at(-1) : undefined;
  }
}

/**
 * Ends one reservation, unless it was answered meanwhile. A node of an earlier release deletes and completes orders and leaves their
 * reservations as they are, so they follow here.
 */
async function lapse(tx: Transaction, accountId: number, id: number, now: number): Promise<void> {
  const both = await lockBoth(tx, accountId, id);
  const { order, reservation } = both;
  if (reservation.lapsesAt === null || reservation.lapsesAt > now) return;
  const isHeld = reservation.orderId !== null;
  if (order?.fields.complete)
    await changeReservation(tx, accountId, reservation, { state: "accepted", lapsesAt: null, isEnded: true }, now);
  else await end(tx, accountId, both, isHeld && order === undefined ? "refused" : "lapsed", now);
}
