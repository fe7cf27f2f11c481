import type { ListPath } from "../../client/pages.ts";

/** A list that can be exported: its path, and its columns, which are the fields of its model in the model's order. */
type Exported = { path: ListPath; columns: readonly string[] };
export type ExportFormat = "csv" | "ndjson";

export const exportedLists: Record<"pets" | "categories" | "orders" | "inventory", Exported> = {
  pets: { path: "/pets", columns: ["id", "name", "categoryId", "status"] },
  categories: { path: "/categories", columns: ["id", "name", "description"] },
  orders: { path: "/store/orders", columns: ["id", "petId", "quantity", "shipDate", "complete"] },
  inventory: { path: "/store/inventory", columns: ["petId", "quantity", "status"] },
};

/** Yields the text of an export page by page: for CSV a header line with the first page, then one line for each row. */
export async function* exportText(
  pages: AsyncIterable<object[]>,
  format: ExportFormat,
  columns: readonly string[],
): AsyncGenerator<string> {
  const { stringify } = await import("csv-stringify/sync"); // Not imported at the top, because each start of the service loads this file.
  const csvLines = (rows: object[]): string => stringify(rows, { columns: [...columns], cast: { boolean: String } });
  let heading = format === "csv" ? stringify([columns]) : "";
  for await (const rows of pages) {
    yield heading + (format === "csv" ? csvLines(rows) : rows.map(jsonLine).join(""));
    heading = "";
  }
}

function jsonLine(row: object): string {
  return `${JSON.stringify(row)}\n`;
}
