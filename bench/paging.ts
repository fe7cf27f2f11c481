import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { pageOf } from "../src/platform/http/paging.ts";
import { byTurns, median, type Figure } from "./figures.ts";
import { makeFolder, openShop, type Shop } from "./shop.ts";

const animals = 1_000_000;
const categories = 10;
const names = 200_000;
const limit = 20;
const requests = 100;
const rounds = 5;

type Order = { sort: string; columns: string[]; direction: "ASC" | "DESC" };
const byId: Order[] = [
  { sort: "id", columns: ["id"], direction: "ASC" },
  { sort: "-id", columns: ["id"], direction: "DESC" },
];
const byName: Order[] = [
  { sort: "name", columns: ["name_key", "id"], direction: "ASC" },
  { sort: "-name", columns: ["name_key", "id"], direction: "DESC" },
];
type Filter = { query: Record<string, string | number>; where: string; orders: Order[] };
const filters: Filter[] = [
  { query: {}, where: "TRUE", orders: [...byId, ...byName] },
  { query: { status: "pending" }, where: "status = 'pending'", orders: [...byId, ...byName] },
  { query: { categoryId: 3 }, where: "category_id = 3", orders: [...byId, ...byName] },
  { query: { categoryId: 3, status: "sold" }, where: "category_id = 3 AND status = 'sold'", orders: [...byId, ...byName] },
  { query: { q: "Name 1" }, where: "name_key >= 'name 1' AND name_key < 'name 2'", orders: byName },
  { query: { q: "Name 1", status: "sold" }, where: "name_key >= 'name 1' AND name_key < 'name 2' AND status = 'sold'", orders: byName },
];

/** With a million animals in one account, the time of the last page beside that of the first, for each filter and order. */
export async function measurePaging(): Promise<Figure[]> {
  const folder = makeFolder();
  const database = new DatabaseSync(join(folder.dataDir, "petstore.db"));
  fill(database, folder.accountId);
  const pages = filters.flatMap((filter) => filter.orders.map((order) => pagesOf(database, folder.accountId, filter, order)));
  database.close();
  const shop = await openShop(folder);
  try {
    const figures: Figure[] = [];
    for (const { what, first, last } of pages) {
      const ratio = await byTurns(
        rounds,
        () => msOfPage(shop, last),
        () => msOfPage(shop, first),
      );
      figures.push({ what: `last page / first page: ${what}`, ...ratio, unit: "ms", goal: "≤ 1.2" });
    }
    return figures;
  } finally {
    await shop.stop();
    folder.remove();
  }
}

/** Puts a million animals into an empty shop. */
export function fill(database: DatabaseSync, accountId: number): void {
  database.exec(`
    PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF; BEGIN;
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${categories})
    INSERT INTO categories SELECT ${accountId}, i, 'Category ' || i, 'category ' || i, NULL, 1 FROM n;
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${animals}),
      made AS (SELECT i, 'Name ' || (i * 7919 % ${names}) AS name FROM n)
    INSERT INTO pets SELECT ${accountId}, i, name, lower(name), 1 + i % ${categories},
      CASE i * 31 % 7 WHEN 0 THEN 'pending' WHEN 1 THEN 'sold' ELSE 'available' END, 1 FROM made;
    COMMIT;`);
}

/** The first page, and the last one by its cursor. */
function pagesOf(database: DatabaseSync, accountId: number, { query, where }: Filter, { sort, columns, direction }: Order) {
  const asked = { ...query, sort, limit };
  const backwards = direction === "ASC" ? "DESC" : "ASC";
  const order = columns.map((column) => `${column} ${column === "id" && columns.length > 1 ? "DESC" : backwards}`).join(", ");
  const row = database
    .prepare(
      `SELECT ${columns.join(", ")} FROM pets WHERE account_id = ${accountId} AND ${where} ORDER BY ${order} LIMIT 1 OFFSET ${limit}`,
    )
    .get() as Record<string, string | number>;
  const position = columns.map((column) => row[column] ?? 0);
  const link = pageOf(
    "/pets",
    asked,
    Array.from({ length: limit + 1 }, () => ({})),
    () => position,
  ).headers["link"];
  const parameters = new URLSearchParams(Object.entries(asked).map(([name, value]) => [name, String(value)]));
  const last = /<\/v1([^>]+)>/.exec(link ?? "")?.[1] ?? "";
  const what = Object.entries(query).map(([name, value]) => `${name}=${value}`);
  return { what: [...what, `sort=${sort}`].join(" "), first: `/pets?${parameters.toString()}`, last };
}

async function msOfPage(shop: Shop, path: string): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < requests; i++) {
    const start = performance.now();
    const response = await shop.ask("GET", path);
    const rows = (await response.json()) as unknown[];
    times.push(performance.now() - start);
    if (rows.length !== limit) throw new Error(`${path} gave ${rows.length} rows`);
  }
  return median(times);
}
