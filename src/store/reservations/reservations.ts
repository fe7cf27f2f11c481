import { dayMs, hourMs } from "../../platform/clock.ts";
import { DateTime, Id, named, Nullable, openEnumeration, paging, Sort, variant } from "../../platform/http/schemas.ts";
import { Type, type Static } from "../../platform/json-schema.ts";
import { invalidAt } from "../../platform/problem.ts";
import { Contact, ContactInput } from "../contacts/contacts.ts";

/** The states of a reservation. `open` waits for the shop's answer; it and `accepted` hold the unit. */
const states = ["open", "accepted", "refused", "lapsed", "cancelled"] as const;
export type ReservationState = (typeof states)[number];

const id = Id("");
const petId = Id("");
export const State = openEnumeration("ReservationState", states);

export const Reservation = named(
  "Reservation",
  Type.Object(
    {
      id,
      petId,
      orderId: Type.Optional(Id("The order that holds the unit; none for an enquiry.")),
      state: State,
      createdAt: DateTime(""),
      lapsesAt: Type.Optional(DateTime("")),
      endedAt: Type.Optional(DateTime("")),
      contact: Type.Optional(Contact),
    },
    { additionalProperties: false },
  ),
);
export type Reservation = Static<typeof Reservation>;

export const Reservations = named("Reservations", Type.Array(Reservation));

export const ReservationPatch = named(
  "ReservationPatch",
  Type.Object(
    {
      state: Type.Optional(State),
      lapsesAt: Type.Optional(DateTime("")),
      contact: Type.Optional(Nullable(ContactInput)),
    },
    { additionalProperties: false },
  ),
);
export type ReservationPatch = Static<typeof ReservationPatch>;

export const ReservationPath = Type.Object({ reservationId: Id("The reservation's identifier.") });

export const ReservationQuery = Type.Object({
  state: Type.Optional(variant(State, { description: "Only reservations in this state." })),
  sort: Type.Optional(Sort(["id", "-id"], "The order.")),
  ...paging,
});
export type ReservationQuery = Static<typeof ReservationQuery>;

export const ContactsQuery = Type.Object({ id: Type.Array(Id(""), { minItems: 1, maxItems: 100 }) });
export const ReservationContacts = Type.Array(Type.Object({ id: Id(""), contact: Contact }));
export const WaitingReservations = Type.Object({
  count: Type.Integer({ format: "int64" }),
  firstLapsesAt: Nullable(DateTime("When the first of them that holds a unit lapses.")),
});

/** How long (ms) an enquiry waits for an answer before it lapses. */
export const enquiryMs = 30 * dayMs;
/** How far ahead (ms) a reservation may lapse: the longest period of a shop. */
const holdMsMax = 720 * hourMs;

/** Whether a visitor has a unit held or only asks. */
export type Kind = "hold" | "enquiry";

/** Counts of one kind. Open ones: of the shop, of a visitor, and of a visitor for one pet. `inHour`: new ones of the shop. */
export type Counts = { open: number; ofVisitor: number; ofVisitorForPet: number; inHour: number };

/**
 * How many reservations and enquiries a shop takes (specification 2.10). All of its storefronts share these bounds, so that no visitor empties a shop or
 * fills its list. Enquiries, which wait for an answer for 30 days, leave the bounds of holds alone.
 */
const bounds: Record<Kind, Counts> = {
  hold: { open: 200, ofVisitor: 3, ofVisitorForPet: 2, inHour: 100 },
  enquiry: { open: 1_000, ofVisitor: 10, ofVisitorForPet: 2, inHour: 100 },
};

/** Whose bound another one would exceed; undefined if it exceeds none. */
export function exceeded(kind: Kind, counts: Counts): "visitor" | "shop" | undefined {
  const most = bounds[kind];
  if (counts.ofVisitor >= most.ofVisitor || counts.ofVisitorForPet >= most.ofVisitorForPet) return "visitor";
  return counts.open >= most.open || counts.inHour >= most.inHour ? "shop" : undefined;
}

/** @throws Problem `invalid_request` for a state that only time or the visitor brings about */
export function requireAnswer(state: ReservationState): void {
  if (state !== "accepted" && state !== "refused") throw invalidAt("body.state", "must be accepted or refused");
}

/** Returns the new time at which a reservation lapses. @throws Problem `invalid_request` for one that has passed or is too far ahead */
export function lapseTimeOf(time: number, now: number): number {
  if (time <= now) throw invalidAt("body.lapsesAt", "must be in the future");
  if (time > now + holdMsMax) throw invalidAt("body.lapsesAt", "must be at most 30 days from now");
  return time;
}
