import { Type, type Static } from "../platform/json-schema.ts";

const columns = Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: 20 });
const transforms = Type.Optional(Type.Array(Type.Enum(["strip-stars"]), { maxItems: 10 }));
/** The statuses of a pet (specification 2.1). */
export const petStatuses = ["available", "pending", "sold"] as const;
const statusSchema = Type.Enum([...petStatuses]);
/** `reject`: rows with this value become no pet. */
const valueStatus = Type.Enum([...petStatuses, "reject"]);
const values = Type.Unsafe<Record<string, Static<typeof valueStatus>>>({ type: "object", additionalProperties: valueStatus });
const fallback = Type.Optional(Type.String({ minLength: 1 }));
const textField = Type.Object({ columns, transforms, default: fallback }, { additionalProperties: false });
/** Without a column, all animals have the category of `default`. */
const categoryField = Type.Object(
  { columns: Type.Array(Type.String({ minLength: 1 }), { maxItems: 20 }), transforms, default: fallback },
  { additionalProperties: false },
);

/** The mapping of a file's columns to a pet's fields. `docs/importing.md` explains each part. */
export const mappingSchema = Type.Object(
  {
    /** Without it, each row is an animal, known by its name and category. */
    id: Type.Optional(Type.String({ minLength: 1 })),
    name: textField,
    category: categoryField,
    status: Type.Optional(
      Type.Object(
        { columns, transforms, values: Type.Optional(values), default: Type.Optional(statusSchema) },
        { additionalProperties: false },
      ),
    ),
    /** The column with the stock. Default: an animal that is available counts as one unit. `not counted`: the import leaves the stock alone. */
    stock: Type.Optional(
      Type.Unsafe<{ column: string } | "not counted">({
        anyOf: [Type.Object({ column: Type.String({ minLength: 1 }) }, { additionalProperties: false }), { const: "not counted" }],
      }),
    ),
    /** A text for buyers. */
    description: Type.Optional(textField),
    /**
     * The price. `currency` applies to cells that name none, in rows that have none in `currencyColumn` either; `decimal` is the decimal mark of cells
     * such as `1.234`, which can be read in two ways.
     */
    price: Type.Optional(
      Type.Object(
        {
          column: Type.String({ minLength: 1 }),
          currency: Type.Optional(Type.String({ pattern: "^[A-Z]{3}$", "x-text": "must be the code of a currency, such as EUR" })),
          currencyColumn: Type.Optional(Type.String({ minLength: 1 })),
          decimal: Type.Optional(Type.Enum(["comma", "point"])),
        },
        { additionalProperties: false },
      ),
    ),
    /** What buyers choose by. `own` has columns whose headers name further facts. */
    facts: Type.Optional(
      Type.Object(
        {
          species: Type.Optional(textField),
          breed: Type.Optional(textField),
          sex: Type.Optional(textField),
          born: Type.Optional(textField),
          colour: Type.Optional(textField),
          size: Type.Optional(textField),
          own: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 50 }), { minItems: 1, maxItems: 10 })),
        },
        { additionalProperties: false },
      ),
    ),
    /** Columns with addresses of photos, one or more in each cell. The service fetches them afterwards. */
    photos: Type.Optional(Type.Object({ columns }, { additionalProperties: false })),
    /** Columns that do not count against the status `available`, such as an “Adopted” that is kept of an earlier stay. */
    ignore: Type.Optional(columns),
    /** The name of the source, the same for each file of one system. Default: proposed from the name of the file. */
    source: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  },
  { additionalProperties: false },
);
export type Mapping = Static<typeof mappingSchema>;
export type PetStatus = Static<typeof statusSchema>;
export type ValueStatus = Static<typeof valueStatus>;
export type TextField = Static<typeof textField>;
