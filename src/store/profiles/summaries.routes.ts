import { operation, type Operation } from "../../platform/http/operation.ts";
import { Id, IdsQuery, Nullable } from "../../platform/http/schemas.ts";
import { Type } from "../../platform/json-schema.ts";
import type { ProfileServices } from "./profile-answers.ts";
import { price } from "./profiles.ts";
import { readSummaries } from "./summaries.store.ts";

const PetSummaries = Type.Object({
  pets: Type.Array(
    Type.Object({
      id: Id("The pet."),
      price: Nullable(price),
      photo: Nullable(Type.Object({ url: Type.String() })),
      outline: Nullable(Type.String({ description: "Of a pet without a photo: the `d` of an SVG path in a square of 64." })),
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
    description:
      "The price of each pet, and a small picture of its first photo or an outline of such an animal, without pets that do not exist.",
    scope: "catalogue:read",
    query: IdsQuery,
    answers: { 200: { description: "The summaries, by id.", schema: PetSummaries } },
    read: async (db, { accountId, services: { photos }, query: { id } }) => {
      const summaries = await readSummaries(db, accountId, id, photos.urlOf);
      const outlines = await photos.outlinesOf(summaries.map(({ words }) => words));
      const pets = summaries.map(({ words: _words, ...shown }, i) => ({ ...shown, outline: shown.photo === null ? outlines[i]! : null }));
      return { status: 200, body: { pets } };
    },
  }),
];
