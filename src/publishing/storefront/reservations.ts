import { type Allowance, openAllowance } from "../../platform/allowance.ts";
import { dayMs, hourMs, minuteMs } from "../../platform/clock.ts";
import { emptyValues, pagePath, linkHashOf, linkOf, newToken, readForm, type SentForm, visitorOf } from "./reservation-forms.ts";
import { formPage, refusedPage, type ShownReservation, statusPage } from "./reservation-pages.ts";
import type { RenderedPage, Shop, ShownAnimal } from "./storefront.ts";

/** What a visitor asks the shop for. */
type WantedReservation = {
  petId: number;
  contact: { name: string; email?: string; phone?: string; note?: string };
  /** Whether the form said that a unit is held. */
  holds: boolean;
  holdMs: number;
  linkHash: string;
  visitor: string;
  requestId: string;
};

/** Where the storefront sends reservations. The storefront itself does not know orders. */
export type ReservationDesk = {
  /** The animal, and whether a unit of it could be held now; undefined if the shop does not have it. */
  animal: (accountId: number, id: number) => Promise<{ animal: ShownAnimal; holds: boolean } | undefined>;
  /** Reserves, or keeps the enquiry. Returns why not: no unit is free, there is no such animal, or this visitor or the shop has too many. */
  place: (accountId: number, wanted: WantedReservation) => Promise<"taken" | "gone" | "visitor" | "shop" | undefined>;
  find: (accountId: number, linkHash: string) => Promise<ShownReservation | undefined>;
  cancel: (accountId: number, linkHash: string, requestId: string) => Promise<void>;
};

/** A request for a page of a reservation. `form`: the body of a POST. `address`: the visitor's. */
type ReservationRequest = { path: string; form: string | undefined; address: string; requestId: string };
export type AnswerReservation = (shop: Shop, request: ReservationRequest) => Promise<RenderedPage>;

/** The most visitors that are counted at once. */
const visitorsMax = 20_000;

type State = {
  desk: ReservationDesk;
  key: () => Uint8Array;
  clock: () => number;
  /** Sent forms, and reservations made, by shop and visitor. */
  sent: Allowance;
  placed: Allowance;
};

/**
 * Opens the pages by which visitors reserve animals and ask about them (specification 2.10).
 *
 * @param key signs forms and links; all nodes share it
 * @param clock in ms
 */
export function openReservations(desk: ReservationDesk, key: () => Uint8Array, clock: () => number): AnswerReservation {
  const state: State = {
    desk,
    key,
    clock,
    sent: openAllowance(30, 10 * minuteMs, visitorsMax),
    placed: openAllowance(10, dayMs, visitorsMax),
  };
  return async (shop, request) => {
    const [, animalId, secret = ""] = pagePath.exec(request.path) ?? [];
    const page = await (animalId === undefined
      ? answerLink(state, shop, secret, request)
      : answerForm(state, shop, Number(animalId), request));
    return { ...page, headers: { "Referrer-Policy": "same-origin", ...page.headers } };
  };
}

async function answerLink(state: State, shop: Shop, secret: string, request: ReservationRequest): Promise<RenderedPage> {
  const { desk, key, clock, sent } = state;
  const { form, requestId, address } = request;
  const hash = linkHashOf(secret);
  if (form !== undefined && !sent.take(visitorOf(key(), shop.accountId, address), clock()))
    return refusedPage(shop, 429, "Too many tries", "Please wait some minutes and try again.");
  const found = await desk.find(shop.accountId, hash);
  if (form !== undefined && found !== undefined) {
    await desk.cancel(shop.accountId, hash, requestId);
    return seeOther(`/reservations/${secret}`);
  }
  return found === undefined
    ? refusedPage(shop, 404, "This page is not here", "The reservation is over, or the link is incomplete.")
    : statusPage(shop, request.path, found);
}

async function answerForm(state: State, shop: Shop, id: number, request: ReservationRequest): Promise<RenderedPage> {
  const { desk, key, clock } = state;
  if (!shop.settings.reservations?.enabled) return refusedPage(shop, 404, "This page is not here", "This shop takes no reservations here.");
  const found = await desk.animal(shop.accountId, id);
  if (found === undefined) return refusedPage(shop, 404, "This page is not here", "The animal may have found a home.");
  if (found.animal.status === "sold")
    return refusedPage(shop, 410, `${found.animal.name} is not for sale any more`, "Somebody else was faster.");
  const subject = { accountId: shop.accountId, petId: id };
  const fresh = (): string => newToken(key(), subject, clock());
  const view = { animal: found.animal, holds: found.holds };
  if (request.form === undefined) return formPage(shop, 200, { ...view, token: fresh(), values: emptyValues, errors: {} });

  const sent = readForm(request.form);
  const visitor = visitorOf(key(), shop.accountId, request.address);
  const link = linkOf(key(), subject, sent.token, clock());
  const again = (problem: string | undefined, status = 422): RenderedPage => {
    const token = typeof link === "object" || link === "early" ? sent.token : fresh();
    return formPage(shop, status, { ...view, token, values: sent.values, errors: sent.errors, ...(problem !== undefined && { problem }) });
  };
  if (!state.sent.take(visitor, clock())) return again("Too many tries. Please wait some minutes and send it again.", 429);
  if (link === "early" || sent.isTrapped) return again("That was very quick. Please check it and send it again.");
  if (typeof link === "string") return again("This page was open for a long time. Please send it again.");
  if (Object.keys(sent.errors).length > 0) return again(undefined);
  return place(state, shop, { sent, id, secret: link.secret, visitor, requestId: request.requestId, again });
}

type Placing = {
  sent: SentForm;
  id: number;
  secret: string;
  visitor: string;
  requestId: string;
  /** The form again, with what is wrong. */
  again: (problem: string, status: number) => RenderedPage;
};

async function place(
  { desk, placed, clock }: State,
  shop: Shop,
  { sent, id, secret, visitor, requestId, again }: Placing,
): Promise<RenderedPage> {
  const linkHash = linkHashOf(secret);
  const to = seeOther(`/reservations/${secret}`);
  if ((await desk.find(shop.accountId, linkHash)) !== undefined) return to; // the form was sent twice
  const tooMany = sent.holds
    ? refusedPage(
        shop,
        429,
        "You have reserved enough for now",
        "Please wait for our answer, or cancel a reservation that you do not need.",
      )
    : refusedPage(shop, 429, "You have written enough for now", "Please wait for our answer.");
  if (placed.waitMs(visitor, clock()) > 0) return tooMany;
  const { name, email, phone, note } = sent.values;
  const contact = { name, ...(email !== "" && { email }), ...(phone !== "" && { phone }), ...(note !== "" && { note }) };
  const holdMs = (shop.settings.reservations?.holdHours ?? 1) * hourMs;
  const refusal = await desk.place(shop.accountId, { petId: id, contact, holds: sent.holds, holdMs, linkHash, visitor, requestId });
  switch (refusal) {
    case undefined:
      placed.take(visitor, clock());
      return to;
    case "taken":
      return again("Somebody else was faster, and none is free at the moment. You can still send us your question.", 409);
    case "gone":
      return refusedPage(shop, 410, "This animal is not here any more", "It may have found a home.");
    case "visitor":
      return tooMany;
    case "shop":
      return refusedPage(shop, 503, "We cannot take this at the moment", "We have too many requests. Please try again later.");
  }
}

function seeOther(location: string): RenderedPage {
  const headers = { Location: location, "Referrer-Policy": "same-origin", "X-Robots-Tag": "noindex" };
  return { status: 303, type: "text/plain; charset=utf-8", etag: "", coding: undefined, body: Buffer.alloc(0), headers };
}
