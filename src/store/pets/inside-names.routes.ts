import { operation, type Operation } from "../../platform/http/operation.ts";
import { Id, Nullable } from "../../platform/http/schemas.ts";
import { Type } from "../../platform/json-schema.ts";
import { findInside } from "./inside-names.store.ts";
import { Pet, PetStatus, searchText } from "./pets.ts";

const InsideNamesQuery = Type.Object({
  q: Type.String({ ...searchText, minLength: 1 }),
  status: Type.Optional(PetStatus),
  categoryId: Type.Optional(Id("Only pets of this category.")),
  after: Type.Optional(Id("The `next` of the call before.")),
});
const InsideNames = Type.Object({
  pets: Type.Array(Pet),
  read: Type.Integer({ description: "How many pets the call read." }),
  next: Nullable(Id("The `after` of the next call; null after the last pet.")),
});

export const insideNameRoutes: Operation[] = [
  operation({
    operationId: "findInsideNames",
    method: "GET",
    path: "/pets/inside",
    tag: "Animals",
    summary: "Find pets by a part of a word",
    description: "Pets that have the text within a word of their name, by id, without those that `GET /pets?q=` finds.",
    scope: "catalogue:read",
    query: InsideNamesQuery,
    answers: { 200: { description: "The pets, and where the search stopped.", schema: InsideNames } },
    read: async (db, { accountId, query }) => ({ status: 200, body: await findInside(db, accountId, query) }),
  }),
];
