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

/**
 * How many reservations and enquiries a shop takes (specification 2.10). All of its storefronts share these bounds, so that no visitor, and no
 * crowd of them, empties a shop or fills its list.
 */
const bounds = {
  /** From one address: open ones. */
  openOfVisitor: 3,
  /** For one pet: open ones. */
  openOfPet: 10,
  /** Of the shop: open ones, and new ones in an hour and in a day. */
  open: 200,
  inHour: 30,
  inDay: 100,
} as const;

/** The counts that `bounds` limits. */
export type Counts = Record<keyof typeof bounds, number>;

/** Which bound another reservation would exceed: the visitor's, or one of the shop's; undefined if none. */
export function exceeded(counts: Counts): "visitor" | "shop" | undefined {
  if (counts.openOfVisitor >= bounds.openOfVisitor) return "visitor";
  return (Object.keys(bounds) as (keyof Counts)[]).some((name) => counts[name] >= bounds[name]) ? "shop" : undefined;
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
