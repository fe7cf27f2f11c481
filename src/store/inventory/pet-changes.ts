import { Id, int32Max, Nullable, Text } from "../../platform/http/schemas.ts";
import { Type, type Static } from "../../platform/json-schema.ts";
import { Problem } from "../../platform/problem.ts";
import { PetStatus } from "../pets/pets.ts";
import { amountMax, price, type Price } from "../profiles/profiles.ts";

const closed = { additionalProperties: false };

/** The most pets in one bulk change. */
const changesMax = 1_000;
/** The most bytes in its body: enough for the longest names in any script. */
export const changesBytesMax = 1_048_576;

const count = Type.Integer({ minimum: 0, maximum: int32Max });

const version = Type.Integer({ format: "int64", minimum: 0 });

/** The versions that parts of a pet must have; null for a part that must not be there. Parts that are left out may have any. */
const Since = Type.Object(
  { pet: Type.Optional(version), stock: Type.Optional(Nullable(version)), profile: Type.Optional(Nullable(version)) },
  closed,
);

/**
 * A change of one pet. Fields that are left out keep their values. A null `stock` ends tracking; a number begins it or replaces the count. A null
 * `price` removes it; `pricePermille` raises it by so many thousandths, or lowers it if negative.
 * `removeProfile` deletes the profile, which undoes a price that made it. `delete` moves the pet into the bin. With `since` the change is refused if somebody has
 * changed a named part.
 */
const PetChangeSchema = Type.Object(
  {
    id: Id("The pet."),
    name: Type.Optional(Text("The pet's name.", 1, 200)),
    categoryId: Type.Optional(Id("ID of the category the pet belongs to.")),
    status: Type.Optional(PetStatus),
    stock: Type.Optional(Nullable(count)),
    price: Type.Optional(Nullable(price)),
    pricePermille: Type.Optional(Type.Integer({ minimum: -1_000, maximum: 10_000 })),
    removeProfile: Type.Optional(Type.Boolean()),
    delete: Type.Optional(Type.Boolean()),
    since: Type.Optional(Since),
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

/** `price` is there if the change is one of the price. */
const State = Type.Object({
  name: Type.String(),
  categoryId: Id(""),
  status: PetStatus,
  stock: Nullable(count),
  price: Type.Optional(Nullable(price)),
});
export type PetState = Static<typeof State>;

/** What undoes a change needs: the versions that it left, as the `since` of another change. `profile` is there if the change is one of the price. */
const Versions = Type.Object({ pet: version, stock: Nullable(version), profile: Type.Optional(Nullable(version)) });
export type Versions = Static<typeof Versions>;

/**
 * The result of one change. `before` is absent if there is no such pet, and `after` and `versions` if the pet was moved into the bin or the change refused.
 * `madeProfile` says that the pet had no profile before.
 */
const BulkResult = Type.Object({
  id: Id("The pet."),
  outcome: Type.Unsafe<"changed" | "unchanged" | "binned" | "refused">({
    type: "string",
    enum: ["changed", "unchanged", "binned", "refused"],
  }),
  before: Type.Optional(State),
  after: Type.Optional(State),
  versions: Type.Optional(Versions),
  madeProfile: Type.Optional(Type.Boolean()),
  code: Type.Optional(Type.String({ description: "The error code of a refused change." })),
  message: Type.Optional(Type.String()),
});
export type BulkResult = Static<typeof BulkResult>;

export const BulkResults = Type.Object({ results: Type.Array(BulkResult) });

/** Whether a change is one of the profile, or depends on its version. */
export function concernsProfile(change: BulkChange): boolean {
  return changesPrice(change) || change.removeProfile === true || change.since?.profile !== undefined;
}

type PriceChange = Pick<BulkChange, "price" | "pricePermille">;

export function changesPrice({ price: wanted, pricePermille }: PriceChange): boolean {
  return wanted !== undefined || pricePermille !== undefined;
}

/**
 * Returns the price after a change of it. A raised or lowered amount is rounded to a whole minor unit, halves up, and is at most the highest price.
 *
 * @throws Problem `invalid_request` for a pet without a price that is to be raised or lowered
 */
export function priceAfter(before: Price | null, { price: wanted, pricePermille }: PriceChange): Price | null {
  if (wanted !== undefined) return wanted && { amount: wanted.amount, currency: wanted.currency };
  if (pricePermille === undefined) return before;
  if (before === null) throw new Problem("invalid_request", "It has no price that could be raised or lowered.");
  const amount = (BigInt(before.amount) * BigInt(1_000 + pricePermille) + 500n) / 1_000n; // exact beyond 2^53
  return { amount: amount > amountMax ? amountMax : Number(amount), currency: before.currency };
}
