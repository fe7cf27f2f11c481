import sql from "sql-template-tag";
import type { Failure, InventoryItem } from "./models.ts";
import { ann, openForm, postForm, type FormReply } from "./reservations.ts";
import type { TestService } from "./service.ts";
import { made, newCategory, newPet } from "./shop.ts";
import { openStorefront } from "./storefront.ts";

export type Reservation = {
  id: number;
  petId: number;
  orderId?: number;
  state: string;
  lapsesAt?: string;
  endedAt?: string;
  contact?: object;
};
export type Shop = { account: number; key: string; url: string; petId: number };

/** Shops that take reservations, in a service that has this `clock`, and what their visitors and owners do. */
export function reservationShops(service: () => TestService) {
  const clock = { now: Date.now() };
  let shops = 0;

  /** A shop with one animal and a storefront that takes reservations. `units`: null for an animal whose stock is not counted. */
  async function openShop(units: number | null, reservations: object = { enabled: true }): Promise<Shop> {
    const { id: account, key } = await service().newAccount();
    const category = await newCategory(service(), "Dogs", key);
    const { id: petId } = await newPet(service(), category.id, { name: "Rex <b>" }, key);
    if (units !== null) await made(service(), "PUT", `/store/inventory/${petId}`, { quantity: units }, key);
    const { url } = await openStorefront(service(), `shop-${++shops}`, { contact: { phone: "123456" }, reservations }, { key });
    return { account, key, url, petId };
  }

  /** Sends the form as a person does, some seconds after it was opened. Each address is another visitor. */
  async function reserve({ url, petId }: Shop, more: Record<string, string> = {}): Promise<FormReply> {
    const hidden = await openForm(url, petId);
    clock.now += 5_000;
    return postForm(url, `/animals/${petId}/reserve`, { ...hidden, ...ann, ...more });
  }

  const listed = ({ key }: Shop, query = "") => made<Reservation[]>(service(), "GET", `/reservations${query}`, undefined, key);
  const units = async ({ key, petId }: Shop) =>
    (await made<InventoryItem>(service(), "GET", `/store/inventory/${petId}`, undefined, key)).quantity;
  const answer = (shop: Shop, id: number, body: object) =>
    service().ask<Reservation & Failure>("PATCH", `/reservations/${id}`, { key: shop.key, body });
  /** Frees what the visitor's bound counts, as if another visitor had sent the next form. */
  const asAnother = ({ account }: Shop) =>
    service().db.write((tx) => tx.query(sql`UPDATE reservations SET visitor = 'another' WHERE account_id = ${account}`));
  return { clock, openShop, reserve, listed, units, answer, asAnother };
}
