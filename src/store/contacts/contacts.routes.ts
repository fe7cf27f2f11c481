import { isDeepStrictEqual } from "node:util";
import { addressOf } from "../../platform/http/api-surfaces.ts";
import { requireAbsentAllowed, requireConditions, versionOfShown } from "../../platform/http/conditions.ts";
import { created, deleted, operation, type Operation, resource } from "../../platform/http/operation.ts";
import { byId, Problem } from "../../platform/problem.ts";
import { deleteContacts, findContact, lockOrder, type StoredContact, writeContact } from "./contacts.store.ts";
import { Contact, ContactInput, ContactPath, requireSome } from "./contacts.ts";

const path = "/store/orders/{orderId}/contact";
const tag = "Orders";
const stability = "experimental";
const params = { orderId: 1 };
const contact: Contact = { name: "Ann Smith", email: "ann@example.com", phone: "+44 20 7946 0958", note: "Calls after 6 pm." };

/** Who ordered, beside the order's exact model (specification 2.9). */
export const contactRoutes: Operation[] = [
  operation({
    operationId: "getContact",
    method: "GET",
    path,
    tag,
    stability,
    summary: "Get an order's contact",
    description: "Who placed an order, and how to reach them.",
    details: "Personal data: it is in no list, event or webhook.",
    scope: "contacts:read",
    params: ContactPath,
    example: { params },
    answers: { 200: resource("The contact.", Contact, contact) },
    problems: ["not_found"],
    read: async (db, { accountId, params: { orderId } }) => answer((await findContact(db, accountId, orderId)) ?? absent(orderId)),
  }),
  operation({
    operationId: "replaceContact",
    method: "PUT",
    path,
    tag,
    stability,
    summary: "Set an order's contact",
    description: "Sets who placed an order. Needs at least one field, and removes those that are left out.",
    details:
      "A key has this scope only if it was named. The contact is deleted with its order, and once the order has been complete for the shop's period (180 days unless the shop sets another).",
    scope: "contacts:write",
    dryRun: true,
    params: ContactPath,
    body: ContactInput,
    example: { params, body: contact },
    answers: { 200: resource("The contact as it now stands.", Contact, contact), 201: created("The new contact.", Contact, contact) },
    problems: ["not_found", "precondition_failed"],
    write: async (tx, { accountId, params: { orderId }, body, conditions, now }) => {
      requireSome(body);
      const { isComplete, completedAt } = await lockOrder(tx, accountId, orderId);
      const current = await findContact(tx, accountId, orderId);
      if (current) requireConditions(conditions, versionOf(current));
      else requireAbsentAllowed(conditions);
      if (current && isDeepStrictEqual(current.contact, { ...body })) return answer(current);
      const after = await writeContact(tx, accountId, orderId, body, isComplete ? (completedAt ?? now) : null);
      if (current) return answer(after);
      return { ...answer(after), status: 201, headers: { location: addressOf(path.replace("{orderId}", String(orderId))) } };
    },
  }),
  operation({
    operationId: "deleteContact",
    method: "DELETE",
    path,
    tag,
    stability,
    summary: "Delete an order's contact",
    description: "Deletes the contact of an order. The order stays.",
    scope: "contacts:write",
    dryRun: true,
    params: ContactPath,
    example: { params },
    answers: { 204: deleted("The contact is gone.") },
    problems: ["not_found", "precondition_failed"],
    write: async (tx, { accountId, params: { orderId }, conditions }) => {
      await lockOrder(tx, accountId, orderId);
      const current = (await findContact(tx, accountId, orderId)) ?? absent(orderId);
      requireConditions(conditions, versionOf(current));
      await deleteContacts(tx, accountId, [orderId]);
      return { status: 204 };
    },
  }),
];

function answer(stored: StoredContact) {
  return { status: 200, body: stored.contact, version: versionOf(stored) };
}

/** With a digest, because the counted version begins again where a contact is deleted and another one set. */
function versionOf({ version, contact: shown }: StoredContact): string {
  return versionOfShown(version, shown);
}

function absent(orderId: number): never {
  const place = addressOf(path.replace("{orderId}", Number.isSafeInteger(orderId) ? String(orderId) : "{orderId}"));
  throw new Problem("not_found", `${byId("Order", orderId)} has no contact: PUT ${place} sets one.`);
}
