import { Id, int32Max, Nullable, Text } from "../../platform/http/schemas.ts";
import { Type, type Static } from "../../platform/json-schema.ts";
import { PetStatus } from "../pets/pets.ts";

const closed = { additionalProperties: false };

/** The most pets in one bulk change. */
const changesMax = 1_000;
/** The most bytes in its body: enough for the longest names in any script. */
export const changesBytesMax = 1_048_576;

const count = Type.Integer({ minimum: 0, maximum: int32Max });

/** A change of one pet. Fields that are left out keep their values. A null `stock` ends tracking; a number begins it or replaces the count. */
const PetChangeSchema = Type.Object(
  {
    id: Id("The pet."),
    name: Type.Optional(Text("The pet's name.", 1, 200)),
    categoryId: Type.Optional(Id("ID of the category the pet belongs to.")),
    status: Type.Optional(PetStatus),
    stock: Type.Optional(Nullable(count)),
    delete: Type.Optional(Type.Boolean()),
  },
  closed,
);
export type BulkChange = Static<typeof PetChangeSchema>;

export const BulkChanges = Type.Object(
  {
    changes: Type.Array(PetChangeSchema, { minItems: 1, maxItems: changesMax }),
  },
  closed,
);

const State = Type.Object({ name: Type.String(), categoryId: Id(""), status: PetStatus, stock: Nullable(count) });
export type PetState = Static<typeof State>;

/** The result of one change. `before` is absent if there is no such pet, and `after` if the pet was deleted or the change refused. */
const BulkResult = Type.Object({
  id: Id("The pet."),
  outcome: Type.Unsafe<"changed" | "unchanged" | "deleted" | "refused">({
    type: "string",
    enum: ["changed", "unchanged", "deleted", "refused"],
  }),
  before: Type.Optional(State),
  after: Type.Optional(State),
  code: Type.Optional(Type.String({ description: "The error code of a refused change." })),
  message: Type.Optional(Type.String()),
});
export type BulkResult = Static<typeof BulkResult>;

export const BulkResults = Type.Object({ results: Type.Array(BulkResult) });
