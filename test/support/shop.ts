import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import sql from "sql-template-tag";
import { insertReservation } from "../../src/store/reservations/reservations.store.ts";
import { enquiryMs } from "../../src/store/reservations/reservations.ts";
import type { Category, InventoryItem, Order, Pet } from "./models.ts";
import type { TestService } from "./service.ts";
import { packSite } from "./sites.ts";

/** Sends a request that must succeed, and gives the body. */
export async function made<T>(service: TestService, method: string, path: string, body?: unknown, key = service.key): Promise<T> {
  const reply = await service.ask<T>(method, path, { key, ...(body !== undefined && { body }) });
  assert.ok(reply.status < 300, `${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
  return reply.body;
}

/** A category whose name no other has. */
export function newCategory(service: TestService, name: string, key?: string): Promise<Category> {
  return made<Category>(service, "POST", "/categories", { name }, key);
}

export function newPet(service: TestService, categoryId: number, fields: Partial<Pet> = {}, key?: string): Promise<Pet> {
  return made<Pet>(service, "POST", "/pets", { name: "Rex", categoryId, ...fields }, key);
}

/** The site that the description's examples upload, packed. */
export function exampleSite(): Promise<Uint8Array> {
  return packSite({ "index.html": "<h1>Rex</h1>\n\n", "petstore.json": "{}" });
}

/** Adds an enquiry about a pet, as a visitor of a storefront sends it. */
export function addEnquiry(service: TestService, accountId: number, petId: number) {
  const contact = { name: "Ann Smith", email: "ann@example.com" };
  const now = Date.UTC(2026, 11, 24, 10);
  const asked = { petId, orderId: null, linkHash: randomUUID(), visitor: "", lapsesAt: now + enquiryMs, contact };
  return service.db.write((tx) => insertReservation(tx, accountId, asked, now));
}

/** Gives a pet a profile with a photo without files, and returns the id of the photo: to encode one for each shop would take longer than all else. */
export function addProfileRows(service: TestService, accountId: number, petId: number): Promise<number> {
  return service.db.write(async (tx) => {
    await tx.query(sql`INSERT INTO profiles (account_id, pet_id, description, price_amount, price_currency, version)
      VALUES (${accountId}, ${petId}, 'A friendly dog.', 49000, 'EUR', 1)`);
    const [row] = await tx.query<{ id: number }>(
      sql`INSERT INTO photos (account_id, id, pet_id, place, alt) VALUES (${accountId}, nextval('photo_ids'), ${petId}, 0, '') RETURNING id`,
    );
    return row!.id;
  });
}

/** The shop that the description's examples speak of: what they name exists, as they show it, in an empty service. */
export async function fillWithExamples(service: TestService): Promise<void> {
  await made(service, "POST", "/categories", { name: "Dogs", description: "Man's best friend." });
  await newCategory(service, "Cats");
  for (const name of ["Rex", "Luna", "Tiger"]) await newPet(service, 1, { name });
  await made<InventoryItem>(service, "PUT", "/store/inventory/1", { quantity: 5 });
  await made<Order>(service, "POST", "/store/orders", { petId: 1, quantity: 1, shipDate: "2026-12-24T10:00:00Z" });
  await made(service, "PUT", "/store/orders/1/contact", {
    name: "Ann Smith",
    email: "ann@example.com",
    phone: "+44 20 7946 0958",
    note: "Calls after 6 pm.",
  });
  await addEnquiry(service, service.accountId, 1);
  await addProfileRows(service, service.accountId, 1);
  const animals = { source: "Shelter register", fileName: "animals.csv" };
  await made(service, "POST", "/imports", animals);
  await made(service, "POST", "/imports/1/rows?last=true&rejected=2", []);
  await made(service, "POST", "/imports", animals);
  await made(service, "POST", "/projects", { name: "Rex & Co.", slug: "rex" });
  const upload = { body: await exampleSite(), headers: { "content-type": "application/gzip" } };
  assert.equal((await service.ask("POST", "/projects/1/deployments", upload)).status, 202);
  await service.publishing.idle();
  await made(service, "POST", "/projects/1/domains", { hostname: "www.example.com" });
  await service.publishing.idle();
  await made(service, "POST", "/webhooks", { url: "https://hooks.example.com/pets", types: ["order.*"] });
  await made(service, "POST", "/webhooks/1/test");
  await service.administration["keys.create"]({ account: service.accountId, name: "Website", scopes: ["catalogue:read"] });
}
