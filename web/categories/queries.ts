import { queryOptions } from "@tanstack/react-query";
import { dashboardKey } from "../calls/lists.ts";
import { answerOf, ifUnchanged, readPage, store, taggedAnswerOf, type Schemas, type Tagged } from "../calls/store.ts";

export type Category = Schemas["Category"];

/** The most categories offered in a select. */
export const categoriesMax = 2_000;

/** The categories to choose from, by name. */
export const allCategoriesQuery = queryOptions({
  queryKey: [dashboardKey, "/categories", "all"],
  staleTime: 60_000,
  queryFn: async ({ signal }): Promise<Category[]> => {
    const rows: Category[] = [];
    let cursor: string | undefined;
    do {
      const page = await readPage("/categories", { limit: 100 }, { cursor, signal });
      rows.push(...page.rows);
      cursor = page.next;
    } while (cursor !== undefined && rows.length < categoriesMax);
    return rows.toSorted((a, b) => a.name.localeCompare(b.name));
  },
});

/** A category with its version, for editing. */
export function categoryQuery(categoryId: number) {
  return queryOptions({
    queryKey: [dashboardKey, "/categories", "one", categoryId],
    staleTime: 0,
    queryFn: ({ signal }) => taggedAnswerOf<Category>(store.GET("/categories/{categoryId}", { params: { path: { categoryId } }, signal })),
  });
}

/** The fields of the category form. */
export type CategoryValues = { name: string; description: string };

export function createCategory({ name, description }: CategoryValues): Promise<Category> {
  return answerOf<Category>(store.POST("/categories", { body: { name, ...(description.trim() !== "" && { description }) } }));
}

export function replaceCategory(category: Tagged<Category>, { name, description }: CategoryValues): Promise<Category> {
  const params = { path: { categoryId: category.value.id }, header: ifUnchanged(category) };
  return answerOf<Category>(
    store.PUT("/categories/{categoryId}", { params, body: { name, ...(description.trim() !== "" && { description }) } }),
  );
}

export function deleteCategory(categoryId: number): Promise<unknown> {
  return answerOf(store.DELETE("/categories/{categoryId}", { params: { path: { categoryId } } }));
}
