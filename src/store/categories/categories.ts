import { Id, Name, named, Nullable, OwnId, paging, Text, writtenBack } from "../../platform/http/schemas.ts";
import { Type, type Static } from "../../platform/json-schema.ts";

const about = "Category name, for example a species. Unique, whatever its case.";
const name = Name(about, 200);
const description = Text("Short description of the category.", 0, 2_000);

export const NewCategory = named(
  "NewCategory",
  Type.Object({ name, description: Type.Optional(description) }, { additionalProperties: false }),
);
export type NewCategory = Static<typeof NewCategory>;
export const WrittenCategory = writtenBack(NewCategory, { id: OwnId("categoryId") });

export const Category = named(
  "Category",
  Type.Object({ id: Id("Unique identifier assigned on creation."), name: Text(about, 1, 200), description: Type.Optional(description) }),
);
export type Category = Static<typeof Category>;

export const CategoryPatch = named(
  "CategoryPatch",
  Type.Object({ name: Type.Optional(name), description: Type.Optional(Nullable(description)) }, { additionalProperties: false }),
);
export type CategoryPatch = Static<typeof CategoryPatch>;
export const WrittenCategoryPatch = writtenBack(CategoryPatch, { id: OwnId("categoryId") });

export const Categories = named("Categories", Type.Array(Category));

export const CategoryPath = Type.Object({ categoryId: Id("The category's identifier.") });
export const CategoryQuery = Type.Object({
  name: Type.Optional(Text("Only the category with this name, whatever its case.", 1, 200)),
  ...paging,
});
export type CategoryQuery = Static<typeof CategoryQuery>;

/** Applies a merge patch to a category (RFC 7396). */
export function patchCategory(category: NewCategory, patch: CategoryPatch): NewCategory {
  const patched = { ...category, ...patch };
  return { name: patched.name, ...(typeof patched.description === "string" && { description: patched.description }) };
}
