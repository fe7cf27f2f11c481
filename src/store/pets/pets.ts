import { normalize, withPlainMarks } from "../../platform/folding.ts";
import {
  enumeration,
  forPrograms,
  Id,
  Name,
  named,
  Nullable,
  OwnId,
  paging,
  Sort,
  Text,
  variant,
  writtenBack,
} from "../../platform/http/schemas.ts";
import { Type, type Static } from "../../platform/json-schema.ts";
import { FactQuery } from "./facts.ts";

export const petStatuses = ["available", "pending", "sold"] as const;
export type PetStatus = (typeof petStatuses)[number];
export const PetStatus = enumeration("PetStatus", petStatuses);
/** The status of an untracked pet if the request names none. */
export const statusDefault: PetStatus = "available";

/** A query parameter that filters by status and may be repeated. */
export const StatusFilter = (description: string) => Type.Array(PetStatus, { minItems: 1, maxItems: petStatuses.length, description });

const name = Name("The pet's name.", 200);
const categoryId = Id("ID of the category the pet belongs to.");
const status = variant(PetStatus, { default: statusDefault });

export const NewPet = named("NewPet", Type.Object({ name, categoryId, status: Type.Optional(status) }, { additionalProperties: false }));
export type NewPet = Static<typeof NewPet>;
/** The body of a PUT. Its schema gives `status` no default, because the default depends on the stock. */
export const WrittenPet = writtenBack(NewPet, { id: OwnId("petId"), status: PetStatus });

export const Pet = named(
  "Pet",
  Type.Object({ id: Id("Unique identifier assigned on creation."), name: Text("The pet's name.", 1, 200), categoryId, status: PetStatus }),
);
export type Pet = Static<typeof Pet>;

export const Pets = named("Pets", Type.Array(Pet));

/** The most pets in one batch. */
const batchMax = 1_000;
/** The most bytes in a batch's body: enough for the longest names in any script. */
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

export const PetPath = Type.Object({ petId: Id("The pet's identifier.") });

/** The bounds of a text that names are searched for. */
export const searchText = { maxLength: 200, pattern: "^[^\\x00]*$", "x-text": "must not hold a NUL character" };

const PetSort = Sort(["id", "-id", "name", "-name"], "The order; ties are ordered by `id`.");
export type PetSort = Static<typeof PetSort>;
export const PetQuery = Type.Object({
  status: Type.Optional(StatusFilter("Only pets with this status.")),
  categoryId: Type.Optional(Id("Only pets of this category.")),
  id: Type.Optional(
    Type.Array(Id(""), {
      minItems: 1,
      maxItems: 100,
      description: "Only pets with these identifiers.",
    }),
  ),
  import: Type.Optional(Id("Only pets that this import made or changed, for 90 days.")),
  source: Type.Optional(Text("Only pets that imports from this source made.", 1, 200)),
  sourceId: Type.Optional(
    Type.Array(Text("", 1, 200), {
      minItems: 1,
      maxItems: 100,
      description: "Only the pets with these identifiers of `source`.",
    }),
  ),
  fact: forPrograms(Type.Optional(FactQuery)),
  q: Type.Optional(
    Type.String({
      ...searchText,
      description:
        "Only pets whose name, or a later word of it, begins with this text, regardless of case. Pets whose name begins with it come first, sorted by name; then the others, sorted by the matching word.",
    }),
  ),
  sort: Type.Optional(PetSort),
  ...paging,
});
export type PetQuery = Static<typeof PetQuery>;

/** Whether a search has only invisible characters, which no name begins with. An empty text is no search. */
export function findsNothing(q: string | undefined): boolean {
  return q !== undefined && q !== "" && nameKeyOf(q) === "";
}

/** The most code points in a name's key: enough for the longest name of plain letters, and a third of what fits into an index row of PostgreSQL. */
const nameKeyMax = 200;

/**
 * Returns the key by which a pet's name, or the beginning of one, is sorted and found (specification 1.6): folded, with typographic marks as those of ASCII,
 * which separate its words, and which people type in a search. One character can fold to 18, and four
 * indexes contain the key, so the key is cut at `nameKeyMax`.
 */
export function nameKeyOf(text: string): string {
  const folded = normalize(text, nameKeyMax);
  if (folded.length <= nameKeyMax) return withPlainMarks(folded);
  let end = 0;
  for (let points = 0; points < nameKeyMax && end < folded.length; points++) end += (folded.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  return withPlainMarks(folded.slice(0, end));
}

/** The fields that a client writes. A null status means the default: what follows from the stock, or `available` if the pet is untracked. */
export type PetChange = { name: string; categoryId: number; status: PetStatus | null };

/** Applies a merge patch to a pet (RFC 7396). */
export function patchPet(pet: Pet, patch: PetPatch): PetChange {
  const { id: _id, ...patched } = { ...pet, ...patch };
  return patched;
}
