import sql, { join, raw } from "sql-template-tag";
import { hourMs } from "../../platform/clock.ts";
import { limitTo, writeInBatches } from "../../platform/db/batches.ts";
import { andThen, type Awaitable, type Database, type Queryable, type Transaction } from "../../platform/db/database.ts";
import { walkRows } from "../../platform/db/index-walk.ts";
import { statement } from "../../platform/db/statement.ts";
import type { EventType } from "../../platform/event-types.ts";
import { fieldsBefore } from "../../platform/events.ts";
import { formatDateTime } from "../../platform/http/dates.ts";
import { byId, Problem } from "../../platform/problem.ts";
import { forExpired } from "../contacts/contacts.store.ts";
import { type Contact, contactFields } from "../contacts/contacts.ts";
import type { Counts, Kind, Reservation, ReservationQuery, ReservationState } from "./reservations.ts";

/*
 * The rows of reservations (specification 2.10). A reservation with an order has its contact there; that of an enquiry is in its own row. Neither is
 * in an event. To lock both, lock the order first: a change of the order locks it before the reservation.
 */

/** A reservation as it is stored; times in ms since the Unix epoch. */
export type StoredReservation = {
  id: number;
  petId: number;
  orderId: number | null;
  state: ReservationState;
  createdAt: number;
  lapsesAt: number | null;
  endedAt: number | null;
  version: number;
};

type ReservationRow = [
  id: number,
  petId: number,
  orderId: number | null,
  state: string,
  createdAt: number,
  lapsesAt: number | null,
  endedAt: number | null,
  version: number,
];

const columnNames = "id, pet_id, order_id, state, created_at, lapses_at, ended_at, version";
const columns = raw(columnNames);
type NamedRow = {
  id: number;
  pet_id: number;
  order_id: number | null;
  state: string;
  created_at: number;
  lapses_at: number | null;
  ended_at: number | null;
  version: number;
};

/** @throws Problem `not_found` */
export async function findReservation(db: Queryable, accountId: number, id: number): Promise<StoredReservation> {
  const rows = await db.query<NamedRow>(sql`SELECT ${columns} FROM reservations WHERE account_id = ${accountId} AND id = ${id}`);
  return requireRow(rows, id);
}

/** Finds the reservation of a visitor's link; undefined if there is none. */
export async function findByLink(db: Queryable, accountId: number, linkHash: string): Promise<StoredReservation | undefined> {
  const [row] = await db.query<NamedRow>(
    sql`SELECT ${columns} FROM reservations WHERE account_id = ${accountId} AND link_hash = ${linkHash}`,
  );
  return row && fromNamed(row);
}

/** Locks the row until the transaction ends. Lock its order first. @throws Problem `not_found` */
export async function lockReservation(tx: Transaction, accountId: number, id: number): Promise<StoredReservation> {
  const rows = await tx.query<NamedRow>(
    sql`SELECT ${columns} FROM reservations WHERE account_id = ${accountId} AND id = ${id}${tx.forUpdate}`,
  );
  return requireRow(rows, id);
}

/** Returns up to `limit` reservations in a state, or in any, sorted by `sort`; with `afterId`, only those that come after it. */
export async function listReservations(
  db: Database,
  accountId: number,
  { state, sort }: ReservationQuery,
  afterId: number | undefined,
  limit: number,
): Promise<StoredReservation[]> {
  const direction = sort === "-id" ? { isBackwards: true, until: afterId } : { after: afterId === undefined ? undefined : [afterId] };
  const filter = state === undefined ? {} : { index: "reservations_by_state", equal: { state } };
  const walk = { table: "reservations", columns, accountId, order: ["id"], ...direction, ...filter };
  return (await db.query<NamedRow>(walkRows(db.engine, walk, limit))).map(fromNamed);
}

/** A new reservation. `contact` is that of an enquiry: an order has its own. */
export type NewReservation = {
  petId: number;
  orderId: number | null;
  linkHash: string;
  visitor: string;
  lapsesAt: number;
  contact: Contact;
};

/** Inserts a reservation, and records its event. */
export async function insertReservation(
  tx: Transaction,
  accountId: number,
  { petId, orderId, linkHash, visitor, lapsesAt, contact }: NewReservation,
  now: number,
): Promise<StoredReservation> {
  const { name = null, email = null, phone = null, note = null } = orderId === null ? contact : {};
  const [row] = await tx.query<NamedRow>(sql`
    INSERT INTO reservations
      (account_id, id, pet_id, order_id, state, link_hash, lapses_at, created_at, name, email, phone, note, visitor, version)
    VALUES (${accountId}, nextval('reservation_ids'), ${petId}, ${orderId}, 'open', ${linkHash}, ${lapsesAt}, ${now},
      ${name}, ${email}, ${phone}, ${note}, ${visitor}, 1)
    RETURNING ${columns}`);
  const made = fromNamed(row!);
  record(tx, accountId, "reservation.created", made);
  return made;
}

/** A change of a reservation. `isEnded`: whether nothing is left to do, so that its row is deleted later. */
export type Change = { state: ReservationState; lapsesAt: number | null; isEnded: boolean; petId?: number };

/** Changes a locked reservation. Records the event that is named after its new state, or `reservation.updated` if that stays. */
export async function changeReservation(
  tx: Transaction,
  accountId: number,
  before: StoredReservation,
  { state, lapsesAt, isEnded, petId = before.petId }: Change,
  now: number,
): Promise<StoredReservation> {
  const endedAt = before.endedAt ?? (isEnded ? now : null);
  const [row] = await tx.query<NamedRow>(sql`
    UPDATE reservations SET pet_id = ${petId}, state = ${state}, lapses_at = ${lapsesAt}, ended_at = ${endedAt}, version = version + 1,
      visitor = CASE WHEN ${state} = 'open' THEN visitor END
    WHERE account_id = ${accountId} AND id = ${before.id} RETURNING ${columns}`);
  const after = fromNamed(row!);
  record(tx, accountId, state === before.state ? "reservation.updated" : (`reservation.${state}` as EventType), after, before);
  return after;
}

const lockOfOrder = statement<ReservationRow>(
  `SELECT ${columnNames} FROM reservations WHERE account_id = ? AND order_id = ? AND ended_at IS NULL`,
  `SELECT ${columnNames} FROM reservations WHERE account_id = ? AND order_id = ? AND ended_at IS NULL FOR UPDATE`,
);

/**
 * Lets the reservation of a locked order follow a change of it: the shop that completes or changes the order accepts the reservation, and the one
 * that deletes the order refuses it. The reservation is of the order's pet; that of a draft stays with its last one.
 */
export function followOrder(
  tx: Transaction,
  accountId: number,
  { id, petId }: { id: number; petId: number | null },
  what: "completed" | "changed" | "deleted",
  now: number,
): Awaitable<void> {
  return andThen(tx.rows(lockOfOrder, [accountId, id]), async ([row]) => {
    if (row === undefined) return;
    const own = fromRow(row);
    const pet = petId ?? own.petId;
    if (what === "changed" && own.state === "accepted" && pet === own.petId) return;
    const state = what === "deleted" ? "refused" : "accepted";
    await changeReservation(tx, accountId, own, { state, lapsesAt: null, isEnded: what !== "changed", petId: pet }, now);
  });
}

/** Counts those of a kind that bound another one of this visitor for this pet. Lock the shop's reservations first. */
export async function countReservations(
  tx: Transaction,
  accountId: number,
  { petId, visitor, kind }: { petId: number; visitor: string; kind: Kind },
  now: number,
): Promise<Counts> {
  const isKind = raw(kind === "hold" ? "order_id IS NOT NULL" : "order_id IS NULL");
  const [open] = await tx.query<{ open: number; of_visitor: number; for_pet: number }>(sql`
    SELECT COUNT(CASE WHEN ${isKind} THEN 1 END) AS open, COUNT(CASE WHEN ${isKind} AND visitor = ${visitor} THEN 1 END) AS of_visitor,
      COUNT(CASE WHEN ${isKind} AND visitor = ${visitor} AND pet_id = ${petId} THEN 1 END) AS for_pet
    FROM reservations WHERE account_id = ${accountId} AND state = 'open'`);
  const [recent] = await tx.query<{ count: number }>(sql`
    SELECT COUNT(CASE WHEN ${isKind} THEN 1 END) AS count FROM reservations WHERE account_id = ${accountId} AND created_at > ${now - hourMs}`);
  return { open: open!.open, ofVisitor: open!.of_visitor, ofVisitorForPet: open!.for_pet, inHour: recent!.count };
}

/** Counts the open reservations and enquiries of a shop, and finds when the first of those that hold a unit lapses. Their bound bounds the cost. */
export async function readWaiting(db: Queryable, accountId: number): Promise<{ count: number; firstLapsesAt: number | null }> {
  const [row] = await db.query<{ count: number; first: number | null }>(sql`
    SELECT COUNT(*) AS count, MIN(CASE WHEN order_id IS NOT NULL THEN lapses_at END) AS first
    FROM reservations WHERE account_id = ${accountId} AND state = 'open'`);
  return { count: row!.count, firstLapsesAt: row!.first };
}

/** The place of a reservation among those that lapse. */
export type Due = { accountId: number; id: number; lapsesAt: number };

/** Reads up to `limit` reservations whose time has come, those of all accounts, after this place. */
export async function readDue(db: Queryable, now: number, after: Due, limit: number): Promise<Due[]> {
  const rows = await db.query<{ account_id: number; id: number; lapses_at: number }>(sql`
    SELECT account_id, id, lapses_at FROM reservations
    WHERE lapses_at <= ${now} AND (lapses_at, account_id, id) > (${after.lapsesAt}, ${after.accountId}, ${after.id})
    ORDER BY lapses_at, account_id, id ${limitTo(limit)}`);
  return rows.map((row) => ({ accountId: row.account_id, id: row.id, lapsesAt: row.lapses_at }));
}

/** Deletes reservations, with the contacts of enquiries, that ended longer ago than their account keeps contacts. */
export async function expireReservations(db: Database, now: number): Promise<void> {
  const oldest = sql`SELECT MIN(ended_at) FROM reservations WHERE account_id = accounts.id AND ended_at IS NOT NULL`;
  await forExpired(db, now, oldest, async (accountId, before) =>
    writeInBatches(
      db,
      (limit) => sql`
      DELETE FROM reservations WHERE account_id = ${accountId} AND id IN
        (SELECT id FROM reservations WHERE account_id = ${accountId} AND ended_at <= ${before} ${limit}) RETURNING 1`,
    ),
  );
}

type ContactRow = { id: number } & { [F in (typeof contactFields)[number]]?: string | null };

/** Returns the contact of an enquiry; undefined if it has none. */
export async function findEnquiryContact(db: Queryable, accountId: number, id: number): Promise<Contact | undefined> {
  const [row] = await db.query<ContactRow>(
    sql`SELECT id, name, email, phone, note FROM reservations WHERE account_id = ${accountId} AND id = ${id}`,
  );
  return row && contactOf(row);
}

/** Returns the contacts of these reservations: an enquiry has its own, the others that of their order. */
export async function findContacts(db: Queryable, accountId: number, ids: readonly number[]): Promise<{ id: number; contact: Contact }[]> {
  const fields = contactFields.map((field) =>
    field === "address" ? field : `COALESCE(contacts.${field}, reservations.${field}) AS ${field}`,
  );
  const rows = await db.query<ContactRow>(sql`
    SELECT reservations.id, ${raw(fields.join(", "))} FROM reservations
    LEFT JOIN contacts ON contacts.account_id = reservations.account_id AND contacts.order_id = reservations.order_id
    WHERE reservations.account_id = ${accountId} AND reservations.id IN (${join([...ids])}) ORDER BY reservations.id`);
  return rows.flatMap((row) => {
    const contact = contactOf(row);
    return contact === undefined ? [] : [{ id: row.id, contact }];
  });
}

/** Reads up to `limit` contacts of enquiries of an account, after this one. */
export async function readEnquiryContacts(db: Queryable, accountId: number, after: number, limit: number) {
  const rows = await db.query<ContactRow>(sql`
    SELECT id, name, email, phone, note FROM reservations WHERE account_id = ${accountId} AND id > ${after} ORDER BY id ${limitTo(limit)}`);
  return rows.map((row) => ({ reservationId: row.id, contact: contactOf(row) }));
}

/** Deletes the contact of an enquiry. Returns false if it has none. */
export async function deleteEnquiryContact(tx: Transaction, accountId: number, id: number): Promise<boolean> {
  const rows = await tx.query(sql`
    UPDATE reservations SET name = NULL, email = NULL, phone = NULL, note = NULL, version = version + 1
    WHERE account_id = ${accountId} AND id = ${id} AND COALESCE(name, email, phone, note) IS NOT NULL RETURNING id`);
  return rows.length > 0;
}

/** The reservation as the API shows it. */
export function shownReservation({ id, petId, orderId, state, createdAt, lapsesAt, endedAt }: StoredReservation): Reservation {
  return {
    id,
    petId,
    ...(orderId !== null && { orderId }),
    state,
    createdAt: formatDateTime(createdAt),
    ...(lapsesAt !== null && { lapsesAt: formatDateTime(lapsesAt) }),
    ...(endedAt !== null && { endedAt: formatDateTime(endedAt) }),
  };
}

function record(tx: Transaction, accountId: number, type: EventType, after: StoredReservation, before?: StoredReservation): void {
  const data = shownReservation(after);
  const previous = before && fieldsBefore(shownReservation(before), data);
  const { id, version } = after;
  tx.record({ accountId, type, resource: { type: "reservation", id }, data, ...(previous && { previous }), version });
}

function contactOf({ id: _id, ...row }: ContactRow): Contact | undefined {
  const contact: Contact = {};
  for (const field of contactFields) if (typeof row[field] === "string") contact[field] = row[field];
  return Object.keys(contact).length === 0 ? undefined : contact;
}

function requireRow(rows: NamedRow[], id: number): StoredReservation {
  const [row] = rows;
  if (!row) throw new Problem("not_found", `There is no ${byId("reservation", id)}.`);
  return fromNamed(row);
}

function fromNamed(row: NamedRow): StoredReservation {
  return fromRow([row.id, row.pet_id, row.order_id, row.state, row.created_at, row.lapses_at, row.ended_at, row.version]);
}

function fromRow([id, petId, orderId, state, createdAt, lapsesAt, endedAt, version]: ReservationRow): StoredReservation {
  return { id, petId, orderId, state: state as ReservationState, createdAt, lapsesAt, endedAt, version };
}
