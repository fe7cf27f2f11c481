import { addressOf } from "../../platform/http/api-surfaces.ts";
import { requireConditions } from "../../platform/http/conditions.ts";
import { created, deleted, listed, mergePatch, operation, type Operation, resource } from "../../platform/http/operation.ts";
import { limitDefault, pageOf, positionOf } from "../../platform/http/paging.ts";
import { deleteCategory, findCategory, insertCategory, listCategories, lockCategory, updateCategory } from "./categories.store.ts";
import {
  Categories,
  Category,
  CategoryPath,
  CategoryQuery,
  NewCategory,
  patchCategory,
  WrittenCategory,
  WrittenCategoryPatch,
} from "./categories.ts";

const path = "/categories";
const onePath = "/categories/{categoryId}";
const dogs: Category = { id: 1, name: "Dogs", description: "Man's best friend." };
const { id: _id, ...newDogs } = dogs;
const tag = "Categories";

export const categoryRoutes: Operation[] = [
  operation({
    operationId: "listCategories",
    method: "GET",
    path,
    tag,
    summary: "List categories",
    description: "The categories, ordered by `id`. With `name`, only the category with this name.",
    scope: "catalogue:read",
    query: CategoryQuery,
    answers: { 200: listed("The categories.", Categories, [dogs, { id: 2, name: "Cats" }]) },
    read: async (db, { accountId, query }) => {
      const [after = 0] = positionOf(query, 1) ?? [];
      const rows = await listCategories(db, accountId, query, Number(after), (query.limit ?? limitDefault) + 1);
      const page = pageOf(path, query, rows, (category) => [category.id]);
      return { status: 200, body: page.rows, headers: page.headers };
    },
  }),
  operation({
    operationId: "createCategory",
    method: "POST",
    path,
    tag,
    summary: "Create a category",
    description: "Adds a category. Its name must be unique; case does not count.",
    scope: "catalogue:write",
    dryRun: true,
    body: NewCategory,
    example: { body: { name: "Rabbits", description: "Long ears, quick feet." } },
    answers: {
      201: created("The category as it was created.", Category, { id: 3, name: "Rabbits", description: "Long ears, quick feet." }),
    },
    problems: ["category_exists", "storage_limit_reached"],
    write: async (tx, { accountId, body }) => {
      const { category, version } = await insertCategory(tx, accountId, body);
      return { status: 201, body: category, version, headers: { location: addressOf(`${path}/${category.id}`) } };
    },
  }),
  operation({
    operationId: "getCategory",
    method: "GET",
    path: onePath,
    tag,
    summary: "Get a category",
    description: "One category by its identifier.",
    scope: "catalogue:read",
    params: CategoryPath,
    example: { params: { categoryId: 1 } },
    answers: { 200: resource("The category.", Category, dogs) },
    problems: ["not_found"],
    read: async (db, { accountId, params }) => {
      const { category, version } = await findCategory(db, accountId, params.categoryId);
      return { status: 200, body: category, version };
    },
  }),
  operation({
    operationId: "replaceCategory",
    method: "PUT",
    path: onePath,
    tag,
    summary: "Replace a category",
    description: "Replaces name and description; a description that is left out is removed.",
    scope: "catalogue:write",
    dryRun: true,
    params: CategoryPath,
    body: WrittenCategory,
    example: { params: { categoryId: 1 }, body: newDogs },
    answers: { 200: resource("The category as it now stands.", Category, dogs) },
    problems: ["not_found", "precondition_failed", "category_exists"],
    write: async (tx, { accountId, params, body, conditions }) => {
      const current = await lockCategory(tx, accountId, params.categoryId);
      requireConditions(conditions, current.version);
      const { category, version } = await updateCategory(tx, accountId, current, body);
      return { status: 200, body: category, version };
    },
  }),
  operation({
    operationId: "updateCategory",
    method: "PATCH",
    path: onePath,
    tag,
    summary: "Update a category",
    description: "Changes the given fields of a category; `null` removes the description.",
    scope: "catalogue:write",
    dryRun: true,
    params: CategoryPath,
    body: WrittenCategoryPatch,
    mediaTypes: mergePatch,
    example: { params: { categoryId: 1 }, body: { description: null } },
    answers: { 200: resource("The category as it now stands.", Category, { id: 1, name: "Dogs" }) },
    problems: ["not_found", "precondition_failed", "category_exists"],
    write: async (tx, { accountId, params, body, conditions }) => {
      const current = await lockCategory(tx, accountId, params.categoryId);
      requireConditions(conditions, current.version);
      const { category, version } = await updateCategory(tx, accountId, current, patchCategory(current.category, body));
      return { status: 200, body: category, version };
    },
  }),
  operation({
    operationId: "deleteCategory",
    method: "DELETE",
    path: onePath,
    tag,
    summary: "Delete a category",
    description: "Deletes a category that has no pets.",
    scope: "catalogue:write",
    dryRun: true,
    params: CategoryPath,
    example: { params: { categoryId: 2 } },
    answers: { 204: deleted("The category is gone.") },
    problems: ["not_found", "precondition_failed", "category_not_empty"],
    write: async (tx, { accountId, params, conditions }) => {
      const current = await lockCategory(tx, accountId, params.categoryId);
      requireConditions(conditions, current.version);
      await deleteCategory(tx, accountId, current);
      return { status: 204 };
    },
  }),
];
