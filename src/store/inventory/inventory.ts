import { Id, int32Max, named, OwnId, paging, writtenBack } from "../../platform/http/schemas.ts";
import { Type, type Static } from "../../platform/json-schema.ts";
import { invalidAt } from "../../platform/problem.ts";
import { PetStatus, StatusFilter } from "../pets/pets.ts";

const quantity = (description: string) => Type.Integer({ minimum: 0, maximum: int32Max, description });

export const InventoryItem = named(
  "InventoryItem",
  Type.Object({
    petId: Id("ID of the pet the entry tracks."),
    quantity: quantity("Current stock count: the units that are free."),
    status: PetStatus,
  }),
);
export type InventoryItem = Static<typeof InventoryItem>;

export const InventoryItems = named("InventoryItems", Type.Array(InventoryItem));

const InventoryUpdate = named(
  "InventoryUpdate",
  Type.Object({ quantity: quantity("The new stock count.") }, { additionalProperties: false }),
);

export const WrittenItem = writtenBack(InventoryUpdate, { petId: OwnId("petId"), status: PetStatus });

export const InventoryAdjustment = named(
  "InventoryAdjustment",
  Type.Object(
    { delta: Type.Integer({ minimum: -int32Max, maximum: int32Max, description: "Units to add; a negative number subtracts." }) },
    { additionalProperties: false },
  ),
);

export const InventoryPath = Type.Object({ petId: Id("The identifier of the pet that the entry tracks.") });
export const InventoryQuery = Type.Object({
  status: Type.Optional(StatusFilter("Only entries with this status.")),
  petId: Type.Optional(
    Type.Array(Id(""), {
      minItems: 1,
      maxItems: 100,
      description: "Only the entries of these pets.",
    }),
  ),
  ...paging,
});
export type InventoryQuery = Static<typeof InventoryQuery>;

/**
 * Refuses a PUT whose status is neither the entry's current status nor the one that follows from the new count.
 *
 * @param before undefined if there was no entry
 * @throws Problem `invalid_request`
 */
export function requireFollowingStatus(sent: PetStatus | undefined, before: PetStatus | undefined, after: PetStatus): void {
  if (sent === undefined || sent === before || sent === after) return;
  throw invalidAt("body.status", `must be ${after}, which follows from the count: leave it out, and set the quantity alone`);
}

/** Returns the status that follows from a stock (specification 2.6). */
export function statusOfStock(stock: { quantity: number; held: number }): PetStatus {
  if (stock.quantity > 0) return "available";
  return stock.held > 0 ? "pending" : "sold";
}
