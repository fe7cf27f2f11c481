import { Type, type Static } from "typebox";
import { Id, named, Nullable, paging, Text } from "../../platform/http/schemas.ts";

export const petStatuses = ["available", "pending", "sold"] as const;
export type PetStatus = (typeof petStatuses)[number];
export const PetStatus = named("PetStatus", Type.Unsafe<PetStatus>({ type: "string", enum: [...petStatuses] }));

const name = Text("The animal's name.", 1, 200);
const categoryId = Id("ID of the category the animal belongs to.");
const status = Type.Unsafe<PetStatus>({ ...PetStatus, default: "available" });

export const NewPet = named("NewPet", Type.Object({ name, categoryId, status: Type.Optional(status) }, { additionalProperties: false }));
export type NewPet = Static<typeof NewPet>;

export const Pet = named("Pet", Type.Object({ id: Id("Unique identifier assigned on creation."), name, categoryId, status: PetStatus }));
export type Pet = Static<typeof Pet>;

export const Pets = named("Pets", Type.Array(Pet));

/** Animals that one batch may hold. */
const batchMax = 1_000;
export const NewPets = Type.Array(NewPet, { minItems: 1, maxItems: batchMax });

export const PetPatch = named(
  "PetPatch",
  Type.Object(
    { name: Type.Optional(name), categoryId: Type.Optional(categoryId), status: Type.Optional(Nullable(PetStatus)) },
    { additionalProperties: false },
  ),
);
export type PetPatch = Static<typeof PetPatch>;

export const PetPath = Type.Object({ petId: Id("The animal's identifier.") });

const sorts = ["id", "-id", "name", "-name"] as const;
export type PetSort = (typeof sorts)[number];
export const PetQuery = Type.Object({
  status: Type.Optional(Type.Unsafe<PetStatus>({ ...PetStatus, description: "Only animals with this status." })),
  categoryId: Type.Optional(Id("Only animals of this category.")),
  id: Type.Optional(
    Type.Array(Id(""), { minItems: 1, maxItems: 100, description: "Only animals with these identifiers; may be repeated." }),
  ),
  q: Type.Optional(
    Type.String({
      maxLength: 200,
      pattern: "^[^\\u0000]*$",
      description: "Only animals whose name begins with this text, in any case. The order is then by name: `name` or `-name`.",
      "x-text": true,
    }),
  ),
  sort: Type.Optional(Type.Unsafe<PetSort>({ type: "string", enum: [...sorts], description: "The order; ties are ordered by `id`." })),
  ...paging,
});
export type PetQuery = Static<typeof PetQuery>;

/** The animal as a merge patch leaves it (RFC 7396); without a status it has the default one. */
export function patchPet(pet: NewPet, patch: PetPatch): NewPet {
  const patched = { ...pet, ...patch };
  return { name: patched.name, categoryId: patched.categoryId, status: patched.status ?? "available" };
}
