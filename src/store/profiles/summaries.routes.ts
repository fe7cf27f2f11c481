import { operation, type Operation } from "../../platform/http/operation.ts";
import { Id, IdsQuery, Nullable } from "../../platform/http/schemas.ts";
import { Type } from "../../platform/json-schema.ts";
import type { ProfileServices } from "./profile-answers.ts";
import { readSummaries } from "./summaries.store.ts";

const PetSummaries = Type.Object({
  pets: Type.Array(
    Type.Object({
      id: Id("The pet."),
      price: Nullable(Type.Object({ amount: Type.Integer(), currency: Type.String() })),
      photo: Nullable(Type.Object({ url: Type.String() })),
    }),
  ),
});

/** What the rows of the dashboard's lists show of pets, for all rows of a page at once. */
export const summaryRoutes: Operation<ProfileServices>[] = [
  operation({
    operationId: "getPetSummaries",
    method: "GET",
    path: "/pets/summaries",
    tag: "Animals",
    summary: "Get the summaries of pets",
    description: "The price and a small picture of the first photo of each pet, without pets that have no profile.",
    scope: "catalogue:read",
    query: IdsQuery,
    answers: { 200: { description: "The summaries, by id.", schema: PetSummaries } },
    read: async (db, { accountId, services, query: { id } }) => ({
      status: 200,
      body: { pets: await readSummaries(db, accountId, id, services.photos.urlOf) },
    }),
  }),
];
