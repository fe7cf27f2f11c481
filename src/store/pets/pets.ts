import { Type, type Static } from "typebox";
import { normalize } from "../../platform/normalize.ts";
import { enumeration, Id, named, Nullable, OwnId, paging, Text, variant, writtenBack } from "../../platform/http/schemas.ts";

export const petStatuses = ["available", "pending", "sold"] as const;
export type PetStatus = (typeof petStatuses)[number];
export const PetStatus = enumeration("PetStatus", petStatuses);
/** The status of an animal that is given none and has no stock. */
export const statusDefault: PetStatus = "available";

/** A filter by status, which may be repeated. */
export const StatusFilter = (description: string) => Type.Array(PetStatus, { minItems: 1, maxItems: petStatuses.length, description });

const name = Text("The animal's name.", 1, 200);
const categoryId = Id("ID of the category the animal belongs to.");
const status = variant(PetStatus, { default: statusDefault });

export const NewPet = named("NewPet", Type.Object({ name, categoryId, status: Type.Optional(status) }, { additionalProperties: false }));
export type NewPet = Static<typeof NewPet>;
/** The body of a PUT: a status that is left out depends on the stock, so it gets no default here. */
export const WrittenPet = writtenBack(NewPet, { id: OwnId("petId"), status: PetStatus });

export const Pet = named("Pet", Type.Object({ id: Id("Unique identifier assigned on creation."), name, categoryId, status: PetStatus }));
export type Pet = Static<typeof Pet>;

export const Pets = named("Pets", Type.Array(Pet));

/** Animals that one batch may hold. */
const batchMax = 1_000;
/** The most bytes of a batch's body: enough for the longest names in any script. */
export const batchBytesMax = 1_048_576;
export const NewPets = named("NewPets", Type.Array(NewPet, { minItems: 1, maxItems: batchMax }));

export const PetPatch = named(
  "PetPatch",
  Type.Object(
    { name: Type.Optional(name), categoryId: Type.Optional(categoryId), status: Type.Optional(Nullable(PetStatus)) },
    { additionalProperties: false },
  ),
);
export type PetPatch = Static<typeof PetPatch>;

export const WrittenPetPatch = writtenBack(PetPatch, { id: OwnId("petId") });

export const PetPath = Type.Object({ petId: Id("The animal's identifier.") });

const PetSort = enumeration("PetSort", ["id", "-id", "name", "-name"], "The order of animals; `-` is descending.");
export type PetSort = Static<typeof PetSort>;
export const PetQuery = Type.Object({
  status: Type.Optional(StatusFilter("Only animals with this status; may be repeated, for animals with one of several.")),
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
  sort: Type.Optional(variant(PetSort, { description: "The order; ties are ordered by `id`." })),
  ...paging,
});
export type PetQuery = Static<typeof PetQuery>;

/** Code points of a name's key, at most: a name of plain letters has no more. An index of PostgreSQL takes three times as much. */
const nameKeyMax = 200;

/**
 * The key by which an animal's name, or the beginning of one, sorts and is found. Four indexes
 * contain it, and some characters fold to eighteen, so the key is cut at the bound.
 */
export function nameKeyOf(text: string): string {
  const folded = normalize(text);
  if (folded.length <= nameKeyMax) return folded;
  let end = 0;
  for (let points = 0; points < nameKeyMax && end < folded.length; points++) end += (folded.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  return folded.slice(0, end);
}

/** What a client writes to an animal. A status of null means the default: the one that follows from the stock, or `available` if it is untracked. */
export type PetChange = { name: string; categoryId: number; status: PetStatus | null };

/** The animal as a merge patch leaves it (RFC 7396). */
export function patchPet(pet: Pet, patch: PetPatch): PetChange {
  const { id: _id, ...patched } = { ...pet, ...patch };
  return patched;
}
