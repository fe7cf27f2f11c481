import { hash } from "node:crypto";
import { canonicalJson } from "../../platform/canonical-json.ts";
import {
  DateTime,
  forPrograms,
  Id,
  int32Max,
  Name,
  named,
  openEnumeration,
  paging,
  Text,
  Sort,
  writtenBack,
} from "../../platform/http/schemas.ts";
import { Type, type Static } from "../../platform/json-schema.ts";
import { invalidAt } from "../../platform/problem.ts";
import { NewPet, PetStatus } from "../pets/pets.ts";
import { FactsInput } from "../profiles/facts.ts";
import { description as text, photosMax, PhotoUrl, price } from "../profiles/profiles.ts";

const source = Name(
  "Where the animals come from, such as `Shelter register`. It is the same for each export of one system; case does not count.",
  200,
);
const fileName = Name("The name of the file, for people.", 255);
const count = (description: string) => Type.Integer({ minimum: 0, description });

const importStatuses = ["open", "finished", "undoing", "undone"] as const;
export const ImportStatus = openEnumeration("ImportStatus", importStatuses);
export type ImportStatus = Static<typeof ImportStatus>;

/** The most categories that one request makes. */
const categoriesMax = 500;
export const ImportInput = named(
  "ImportInput",
  Type.Object(
    {
      source,
      fileName,
      categories: Type.Optional(
        Type.Array(Name("A category's name.", 200), {
          maxItems: categoriesMax,
          description: "Categories that the rows need. Those that are missing are created, and an undo deletes them if they are empty.",
        }),
      ),
    },
    { additionalProperties: false },
  ),
);
export type ImportInput = Static<typeof ImportInput>;

/** Why a pet, or a part of it, was left as it is by an undo. */
const StayingPet = named(
  "StayingPet",
  Type.Object({ petId: Id("The pet."), reason: Type.String({ description: "Why it stays as it is." }) }),
);
export type StayingPet = Static<typeof StayingPet>;

const urlMax = 2_000;
const FailedPhoto = named(
  "FailedPhoto",
  Type.Object({
    petId: Id("The pet."),
    url: Text("The address.", 1, urlMax),
    reason: Type.String({ description: "Why it could not be fetched." }),
  }),
);
export type FailedPhoto = Static<typeof FailedPhoto>;

/** The most pets that an import lists after its undo. */
export const staysListedMax = 100;

export const Import = named(
  "Import",
  Type.Object({
    id: Id("Unique identifier assigned on creation."),
    source: Text("Where the animals come from.", 1, 200),
    fileName: Text("The name of the file.", 1, 255),
    status: ImportStatus,
    created: count("Rows that made a pet."),
    updated: count("Rows that changed a pet."),
    unchanged: count("Rows that changed nothing."),
    rejected: count("Rows of the file that the client did not send."),
    startedAt: DateTime("When it began."),
    finishedAt: Type.Optional(DateTime("When it took its last row.")),
    undoneAt: Type.Optional(DateTime("When its undo ended.")),
    by: named(
      "ImportActor",
      Type.Object(
        {
          type: openEnumeration("ImportActorType", ["key", "member", "operator", "system"]),
          id: Type.Unsafe<number | null>({ type: "integer", format: "int64", nullable: true }),
        },
        { description: "Who began it, as in events." },
      ),
    ),
    photosFailed: Type.Optional(
      named(
        "ImportPhotosFailed",
        Type.Object(
          { count: count("How many photos could not be fetched."), photos: Type.Array(FailedPhoto, { description: "The first 20." }) },
          { description: "If photos could not be fetched." },
        ),
      ),
    ),
    undone: Type.Optional(count("How many pets the undo has gone through so far.")),
    stays: Type.Optional(
      named(
        "ImportStays",
        Type.Object(
          {
            count: count("How many pets the undo left as they are, whole or in part."),
            pets: Type.Array(StayingPet, { description: "The first 100." }),
          },
          { description: "After an undo." },
        ),
      ),
    ),
  }),
);
export type Import = Static<typeof Import>;
export const Imports = named("Imports", Type.Array(Import));

/** The most rows in one call. */
const rowsMax = 1_000;
const sourceId = Name("The source's own identifier of the animal.", 200);
const ImportedProfile = named(
  "ImportedProfile",
  Type.Object(
    {
      description: Type.Optional(text),
      price: Type.Optional(price),
      facts: forPrograms(Type.Optional(FactsInput)),
      photos: Type.Optional(
        Type.Array(PhotoUrl(""), {
          maxItems: photosMax,
          description: "Addresses of photos, which the service fetches afterwards and adds to those of the pet.",
        }),
      ),
    },
    { additionalProperties: false },
  ),
);
/** Without the default of `status`: a row that leaves it out does not know it. */
const pet = writtenBack(NewPet, { status: PetStatus });
const ImportRow = named(
  "ImportRow",
  Type.Object(
    {
      sourceId,
      pet,
      quantity: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: int32Max,
          description:
            "The stock count. Default: the stock stays as it is, but it becomes 0 if this row is not `available` and the stock is still what an earlier row said.",
        }),
      ),
      petId: forPrograms(
        Type.Optional(
          Id(
            "The row's pet, if the client knows it. A `sourceId` that is new to the source then counts as imported before, so nothing is written, unless the row has `previous`.",
          ),
        ),
      ),
      previous: forPrograms(
        Type.Optional({
          ...pet,
          description:
            "The pet `petId` as it was before somebody edited the row. Only values that differ from it are written, and the row makes no pet.",
        }),
      ),
      profile: Type.Optional(ImportedProfile),
    },
    { additionalProperties: false },
  ),
);
export type ImportRow = Static<typeof ImportRow>;
export const ImportRows = named("ImportRows", Type.Array(ImportRow, { maxItems: rowsMax }));

const RowOutcome = openEnumeration("ImportOutcome", ["created", "updated", "unchanged"], "What the row did to the pet.");
const ImportedRow = named(
  "ImportedRow",
  Type.Object({ sourceId: Text("As in the request.", 1, 200), petId: Id("The pet."), outcome: RowOutcome }),
);
export type ImportedRow = Static<typeof ImportedRow>;
export const ImportedRows = named("ImportedRows", Type.Array(ImportedRow));

export const ImportPath = Type.Object({ importId: Id("The import's identifier.") });
export const RowsQuery = Type.Object({
  last: Type.Optional(Type.Boolean({ description: "`true` ends the import." })),
  rejected: forPrograms(
    Type.Optional(Type.Integer({ minimum: 0, maximum: int32Max, description: "How many more rows of the file the client did not send." })),
  ),
});
export type RowsQuery = Static<typeof RowsQuery>;

export const ImportQuery = Type.Object({
  source: Type.Optional(Text("Only imports from this source.", 1, 200)),
  sort: Type.Optional(Sort(["id", "-id"], "The order.")),
  ...paging,
});
export type ImportQuery = Static<typeof ImportQuery>;

/** What a row says about a pet, in a form to compare. What it leaves out is not known. */
export type RowValues = {
  name: string;
  categoryId: number;
  status?: ImportRow["pet"]["status"];
  quantity?: number;
  /** A long one as its hash. */
  description?: string;
  price?: string;
  /** The hash of their JSON. */
  facts?: string;
  /** The hash of each address. */
  photos?: string;
};

/** An animal that its source counted, and that is not for sale any more, has no units: its status follows its stock. */
export function valuesAfter(before: RowValues | undefined, row: RowValues): RowValues {
  const isCounted = row.quantity === undefined && before?.quantity !== undefined;
  return isCounted && row.status !== undefined && row.status !== "available" ? { ...row, quantity: 0 } : row;
}

/** The longest description that is kept as it is. */
const keptMax = 100;

export function valuesOf({
  pet: { name, categoryId, status },
  quantity,
  profile: { description: said, price: cost, facts, photos } = {},
}: ImportRow): RowValues {
  return {
    name,
    categoryId,
    ...(status !== undefined && { status }),
    ...(quantity !== undefined && { quantity }),
    ...(said !== undefined && { description: said.length > keptMax ? `sha256:${hash("sha256", said)}` : said }),
    ...(cost !== undefined && { price: `${cost.amount} ${cost.currency}` }),
    ...(facts !== undefined && { facts: hash("sha256", canonicalJson(facts)).slice(0, 24) }),
    ...(photos !== undefined && { photos: photos.map(hashOfUrl).join(" ") }),
  };
}

const hashOfUrl = (url: string): string => hash("sha256", url).slice(0, 24);

/** Returns the addresses of photos that a row names and the row before did not. */
export function newPhotos(before: RowValues | undefined, urls: readonly string[]): string[] {
  const known = new Set(before?.photos?.split(" "));
  return [...new Set(urls)].filter((url) => !known.has(hashOfUrl(url)));
}

/** Returns the values that a row says differently from the row before, or that only it says. */
export function newValues(before: RowValues, row: RowValues): Partial<RowValues> {
  const differs = ([name, value]: [string, unknown]): boolean => before[name as keyof RowValues] !== value;
  return Object.fromEntries(Object.entries(row).filter(differs));
}

/** @throws Problem `invalid_request` that names a row whose `sourceId` or `petId` an earlier one has */
export function requireDistinctIds(rows: readonly ImportRow[]): void {
  for (const field of ["sourceId", "petId"] as const) {
    const seen = new Set<string | number>();
    for (const [i, { [field]: id }] of rows.entries()) {
      if (id === undefined) continue;
      if (seen.has(id)) throw invalidAt(`body[${i}].${field}`, "is that of an earlier row");
      seen.add(id);
    }
  }
}
