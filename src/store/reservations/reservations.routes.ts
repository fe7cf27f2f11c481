import type { Queryable } from "../../platform/db/database.ts";
import { type Caller, requireScope } from "../../platform/http/caller.ts";
import { requireConditions } from "../../platform/http/conditions.ts";
import { formatDateTime } from "../../platform/http/dates.ts";
import { listed, mergePatch, operation, type Operation, resource } from "../../platform/http/operation.ts";
import { limitDefault, pageOf, positionOf } from "../../platform/http/paging.ts";
import { answerReservation } from "./reservation-answers.store.ts";
import {
  findContacts,
  findEnquiryContact,
  findReservation,
  listReservations,
  readWaiting,
  shownReservation,
  type StoredReservation,
} from "./reservations.store.ts";
import {
  ContactsQuery,
  Reservation,
  ReservationContacts,
  ReservationPatch,
  ReservationPath,
  ReservationQuery,
  Reservations,
  WaitingReservations,
} from "./reservations.ts";

const path = "/reservations";
const onePath = "/reservations/{reservationId}";
const tag = "Orders";
const stability = "experimental";
const forAgents = false;
const params = { reservationId: 1 };
const ann = { name: "Ann Smith", email: "ann@example.com" };
const enquiry: Reservation = {
  id: 1,
  petId: 1,
  state: "open",
  createdAt: "2026-12-24T10:00:00Z",
  lapsesAt: "2027-01-23T10:00:00Z",
};

/** What visitors of a storefront reserved or asked about (specification 2.10). */
export const reservationRoutes: Operation[] = [
  operation({
    operationId: "listReservations",
    method: "GET",
    path,
    tag,
    stability,
    forAgents,
    summary: "List reservations",
    description: "What visitors of storefronts reserved or asked about, ordered by `id`.",
    scope: "orders:read",
    query: ReservationQuery,
    example: { query: { state: "open" } },
    answers: { 200: listed("The reservations.", Reservations, [enquiry]) },
    read: async (db, { accountId, query }) => {
      const sortedQuery = { ...query, sort: query.sort ?? "id" };
      const after = positionOf(sortedQuery, 1);
      const rows = await listReservations(db, accountId, sortedQuery, after && Number(after[0]), (query.limit ?? limitDefault) + 1);
      const page = pageOf(path, sortedQuery, rows, (row) => [row.id]);
      return { status: 200, body: page.rows.map(shownReservation), headers: page.headers };
    },
  }),
  operation({
    operationId: "getReservation",
    method: "GET",
    path: onePath,
    tag,
    stability,
    forAgents,
    summary: "Get a reservation",
    description: "One reservation by its identifier.",
    scope: "orders:read",
    params: ReservationPath,
    example: { params },
    answers: { 200: resource("The reservation.", Reservation, { ...enquiry, contact: ann }) },
    problems: ["not_found"],
    read: async (db, { accountId, caller, params: { reservationId } }) =>
      answer(db, caller, await findReservation(db, accountId, reservationId)),
  }),
  operation({
    operationId: "updateReservation",
    method: "PATCH",
    path: onePath,
    tag,
    stability,
    forAgents,
    summary: "Accept, refuse or change a reservation",
    description: "Accepts or refuses a reservation, or sets when it lapses.",
    details:
      "Accepted, it lapses no more, and its order holds the unit. Refused, its order is deleted, which frees the unit, even after it was accepted.",
    scope: "orders:write",
    dryRun: true,
    params: ReservationPath,
    body: ReservationPatch,
    mediaTypes: mergePatch,
    example: { params, body: { state: "accepted" } },
    answers: {
      200: resource("The reservation as it now stands.", Reservation, {
        id: 1,
        petId: 1,
        state: "accepted",
        createdAt: "2026-12-24T10:00:00Z",
        endedAt: "2026-12-24T10:00:00Z",
        contact: ann,
      }),
    },
    problems: ["not_found", "precondition_failed", "reservation_ended"],
    write: async (tx, { accountId, caller, headers, params: { reservationId }, body, conditions, now }) => {
      if (body.contact !== undefined) requireScope({ caller, headers }, "contacts:write");
      const requireVersion = (version: number): void => requireConditions(conditions, version);
      return answer(tx, caller, await answerReservation(tx, accountId, reservationId, body, { requireVersion, now }));
    },
  }),
];

/** What the dashboard shows beside the reservations: their contacts, and how many wait. */
export const reservationPageRoutes: Operation[] = [
  operation({
    operationId: "listReservationContacts",
    method: "GET",
    path: "/reservations/contacts",
    tag,
    summary: "List the contacts of reservations",
    description: "Who sent these reservations. One without a contact is left out.",
    scope: "contacts:read",
    query: ContactsQuery,
    answers: { 200: { description: "The contacts.", schema: ReservationContacts } },
    read: async (db, { accountId, query: { id } }) => ({ status: 200, body: await findContacts(db, accountId, id) }),
  }),
  operation({
    operationId: "getWaitingReservations",
    method: "GET",
    path: "/reservations/waiting",
    tag,
    summary: "Count the reservations that wait for an answer",
    description: "How many reservations and enquiries are open, and when the first that holds a unit lapses.",
    scope: "orders:read",
    answers: { 200: { description: "How many wait.", schema: WaitingReservations } },
    read: async (db, { accountId }) => {
      const { count, firstLapsesAt } = await readWaiting(db, accountId);
      return { status: 200, body: { count, firstLapsesAt: firstLapsesAt === null ? null : formatDateTime(firstLapsesAt) } };
    },
  }),
];

/** The reservation; with `contacts:read`, also an enquiry's contact. */
async function answer(db: Queryable, { accountId, scopes }: Caller, reservation: StoredReservation) {
  const contact = scopes.has("contacts:read") ? await findEnquiryContact(db, accountId, reservation.id) : undefined;
  const body = { ...shownReservation(reservation), ...(contact && { contact }) };
  return { status: 200, body, version: reservation.version };
}
