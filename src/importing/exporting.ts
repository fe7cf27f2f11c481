import type { Schemas } from "../../client/api.gen.ts";
import type { PetStore } from "../../client/client.ts";
import type { ListPath, Query } from "../../client/pages.ts";

/** A list that can be exported: its path, and its columns, which are the fields of its model in the model's order. */
type ExportedColumns = { path: ListPath; columns: readonly string[] };
export type ExportFormat = "csv" | "ndjson";
export type ExportedList = "pets" | "categories" | "orders" | "inventory";

export const exportedLists: Record<ExportedList, ExportedColumns> = {
  pets: { path: "/pets", columns: ["id", "name", "categoryId", "status"] },
  categories: { path: "/categories", columns: ["id", "name", "description"] },
  orders: { path: "/store/orders", columns: ["id", "petId", "quantity", "shipDate", "complete"] },
  inventory: { path: "/store/inventory", columns: ["petId", "quantity", "status"] },
};
/** What a CSV file of animals has besides, so that a spreadsheet can show and change it. */
const petColumnsMore = ["category", "stock", "exported"];

export type ExportCalls = { query?: Query<ListPath>; onRows?: (rows: number) => void };

/** Yields the text of an export of a list, page by page. `onRows` gets the number of rows of each page. @throws PetStoreError */
export async function* exportList(
  client: PetStore,
  name: ExportedList,
  format: ExportFormat,
  { query, onRows = () => undefined }: ExportCalls = {},
): AsyncGenerator<string> {
  const { path, columns } = exportedLists[name];
  const { pages } = await import("../../client/pages.ts"); // Not imported at the top, because each start of the service loads this file.
  const read = counted(pages(client, path, query), onRows);
  if (name === "pets" && format === "csv") {
    const { withCategoryAndStock } = await import("./exported-pets.ts");
    const pets = withCategoryAndStock(client, read as AsyncIterable<Schemas["Pet"][]>);
    yield* exportText(pets, format, [...columns, ...petColumnsMore]);
  } else yield* exportText(read, format, columns);
}

async function* counted<T>(read: AsyncIterable<T[]>, onRows: (rows: number) => void): AsyncGenerator<T[]> {
  for await (const page of read) {
    onRows(page.length);
    yield page;
  }
}

/** Yields the text of an export page by page: for CSV a header line with the first page, then one line for each row. */
async function* exportText(read: AsyncIterable<object[]>, format: ExportFormat, columns: readonly string[]): AsyncGenerator<string> {
  const { stringify } = await import("csv-stringify/sync");
  const csvLines = (rows: object[]): string => stringify(rows, { columns: [...columns], cast: { boolean: String } });
  let heading = format === "csv" ? stringify([columns]) : "";
  for await (const rows of read) {
    yield heading + (format === "csv" ? csvLines(rows) : rows.map(jsonLine).join(""));
    heading = "";
  }
}

function jsonLine(row: object): string {
  return `${JSON.stringify(row)}\n`;
}
