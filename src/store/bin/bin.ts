import { dayMs } from "../../platform/clock.ts";
import { formatDateTime } from "../../platform/http/dates.ts";
import { Id, Nullable } from "../../platform/http/schemas.ts";
import { Type, type Static } from "../../platform/json-schema.ts";
import { PetStatus } from "../pets/pets.ts";
import { price } from "../profiles/profiles.ts";

const closed = { additionalProperties: false };

/** How long (ms) an animal stays in the bin (specification 2.11). */
export const keptMs = 30 * dayMs;
/** The most animals in one change of the bin. */
const changesMax = 1_000;

/** An animal in the bin. */
const Binned = Type.Object({
  id: Id("The pet's identifier until it was deleted, and again when it returns."),
  name: Type.String(),
  categoryId: Id("The category that it was in."),
  status: PetStatus,
  stock: Nullable(Type.Integer({ description: "Its units; null if its stock was not counted." })),
  price: Nullable(price),
  photo: Nullable(Type.Object({ url: Type.String({ description: "The smallest WebP picture of its first photo." }) })),
  deletedAt: Type.String({ format: "date-time" }),
  goneAt: Type.String({ format: "date-time", description: "When it is deleted for good." }),
});
export type Binned = Static<typeof Binned>;

export const BinPage = Type.Object({
  animals: Type.Array(Binned),
  next: Nullable(Type.String({ description: "The `cursor` of the next page." })),
});

export const BinQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: "The most animals to return. Default: 20." })),
  cursor: Type.Optional(Type.String({ maxLength: 200, description: "`next` of the page before." })),
});
export type BinQuery = Static<typeof BinQuery>;

/** The return of an animal, into another category if `categoryId` is given, or its deletion for good. */
const BinChange = Type.Object(
  {
    id: Id("The animal."),
    action: Type.Unsafe<"return" | "delete">({ type: "string", enum: ["return", "delete"] }),
    categoryId: Type.Optional(Id("The category into which it returns. Default: the one that it was in.")),
  },
  closed,
);
export type BinChange = Static<typeof BinChange>;
export const BinChanges = Type.Object({ changes: Type.Array(BinChange, { minItems: 1, maxItems: changesMax }) }, closed);

/** The result of one change. `name` is absent if the animal is not in the bin. */
const BinResult = Type.Object({
  id: Id("The animal."),
  outcome: Type.Unsafe<"returned" | "deleted" | "unchanged" | "refused">({
    type: "string",
    enum: ["returned", "deleted", "unchanged", "refused"],
  }),
  name: Type.Optional(Type.String()),
  code: Type.Optional(Type.String({ description: "The error code of a refused change." })),
  message: Type.Optional(Type.String()),
});
export type BinResult = Static<typeof BinResult>;
export const BinResults = Type.Object({ results: Type.Array(BinResult) });

/** The times of an animal that was deleted at a time (ms), as answers show them. */
export function timesOf(deletedAt: number): Pick<Binned, "deletedAt" | "goneAt"> {
  return { deletedAt: formatDateTime(deletedAt), goneAt: formatDateTime(deletedAt + keptMs) };
}
