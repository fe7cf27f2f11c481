import { operation, type Operation } from "../../platform/http/operation.ts";
import { Id, Name, Text } from "../../platform/http/schemas.ts";
import { Type, type TObject, type TProperties } from "../../platform/json-schema.ts";
import { invalidAt } from "../../platform/problem.ts";
import { OrderQuery } from "../orders/orders.ts";
import { PetQuery, PetStatus } from "../pets/pets.ts";
import { deleteView, insertView, listViews } from "./views.store.ts";

/** What a view of a list may have: parameters of the list, and at least one. */
const parameters = <P extends TProperties>(properties: P): TObject<P> =>
  Type.Object(properties, { additionalProperties: false, minProperties: 1 });

const { categoryId, sort } = PetQuery.properties;
const AnimalQuery = parameters({
  q: Type.Optional(Text("Only animals with these words in their names.", 1, 200)),
  status: Type.Optional(PetStatus),
  categoryId,
  sort,
});
const { petId, complete, sort: orderSort } = OrderQuery.properties;
const OrdersQuery = parameters({ petId, complete, sort: orderSort });

/** @throws Problem `invalid_request` for an order that the list does not have beside a search */
function requireOrder(query: { q?: string; sort?: string }): void {
  if (query.q !== undefined && query.sort?.endsWith("id")) throw invalidAt("body.query.sort", "must be name or -name beside q");
}

/** The saved views of the dashboard's lists. Who may read a list may read, save and delete its views: they change nothing of the shop. */
export const viewRoutes: Operation[] = [
  ...routesOf("animals", "Animal", "catalogue:read", AnimalQuery),
  ...routesOf("orders", "Order", "orders:read", OrdersQuery),
];

function routesOf(list: string, noun: string, scope: string, query: TObject): Operation[] {
  const path = `/views/${list}`;
  const name = Name("What the shop calls it.", 50);
  const View = Type.Object({ id: Id(""), name: Type.String(), query });
  const of = { tag: "Views", scope };
  return [
    operation({
      ...of,
      operationId: `list${noun}Views`,
      method: "GET",
      path,
      summary: `List the saved views of ${list}`,
      description: "The views that members saved, the oldest first.",
      answers: { 200: { description: "The views.", schema: Type.Object({ views: Type.Array(View) }) } },
      read: async (db, { accountId }) => ({ status: 200, body: { views: await listViews(db, accountId, list) } }),
    }),
    operation({
      ...of,
      operationId: `save${noun}View`,
      method: "POST",
      path,
      summary: `Save a view of ${list}`,
      description: "Saves filters and an order of the list under a name, for all members.",
      body: Type.Object({ name, query }, { additionalProperties: false }),
      answers: { 201: { description: "The view.", schema: View } },
      write: async (tx, { accountId, body }) => {
        requireOrder(body.query);
        return { status: 201, body: await insertView(tx, accountId, list, body) };
      },
    }),
    operation({
      ...of,
      operationId: `delete${noun}View`,
      method: "DELETE",
      path: `${path}/{viewId}`,
      summary: `Delete a saved view of ${list}`,
      description: "Deletes a view. The list stays as it is.",
      params: Type.Object({ viewId: Id("The view.") }),
      answers: { 204: { description: "The view is deleted." } },
      problems: ["not_found"],
      write: async (tx, { accountId, params }) => {
        await deleteView(tx, accountId, list, params.viewId);
        return { status: 204 };
      },
    }),
  ];
}
