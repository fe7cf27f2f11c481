import { Id } from "../../platform/http/schemas.ts";
import { Type, type Static } from "../../platform/json-schema.ts";
import { PetStatus, searchText } from "../pets/pets.ts";

/** The most rows that one count reads, which bounds its cost. */
export const countedMax = 100_000;
const lowEntriesMax = 1_000;
/** The number of low-stock entries in an answer if the request names no `limit`. */
export const lowEntriesDefault = 10;
export const CountQuery = Type.Object({
  q: Type.Optional(Type.String(searchText)),
  status: Type.Optional(Type.Array(PetStatus, { minItems: 1, maxItems: 3 })),
  categoryId: Type.Optional(Id("")),
});

export const CatalogueCounts = Type.Object({
  count: Type.Integer(),
  isMore: Type.Boolean({ description: "There are more pets than the count says." }),
  categories: Type.Array(Type.Object({ categoryId: Id(""), count: Type.Integer() })),
});
export type CatalogueCounts = Static<typeof CatalogueCounts>;

export const LowStockQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: lowEntriesMax })),
  petId: Type.Optional(Type.Array(Id(""), { minItems: 1, maxItems: 100 })),
});

export const LowStock = Type.Object({
  count: Type.Integer(),
  entries: Type.Array(Type.Object({ petId: Id(""), quantity: Type.Integer(), status: PetStatus, name: Type.String() })),
});
export type LowStock = Static<typeof LowStock>;

/**
 * Whether the free units have fallen from above `lowStock` to it or below, as `inventory.low` reports. `highest` is the most that the entry has had; null
 * if unknown, and then any entry that has changed since its first count may have had more (decision 0130).
 */
export function isLow(
  { quantity, highest, version }: { quantity: number; highest: number | null; version: number },
  lowStock: number,
): boolean {
  return quantity <= lowStock && (highest === null ? version > 1 : highest > lowStock);
}
