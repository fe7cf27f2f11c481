import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { apiOperations } from "../src/app/operations.ts";
import { pageOf } from "../src/platform/http/paging.ts";
import { combinationsOf, listsOf, shareOf, textOf, type ListOperation, type ListQuery } from "../test/support/lists.ts";
import { cpuMs } from "./cpu.ts";
import { measureAlternately, type Figure } from "./figures.ts";
import { fillSkewed, rows, samples } from "./paging-rows.ts";
import { makeFolder, openShop, type Shop } from "./shop.ts";

const limit = 20;
/** Requests in one measurement of a suspect page, and in the shorter measurements that find the suspects. */
const requests = 150;
const requestsToFind = 12;
const suspects = 8;
const rounds = 7;

/** A page of a list. `times`: its cost may be so many times the plain first page's, by its repeated values and the pages its ids would fill. */
type Page = { path: string; times: number };

/**
 * With a million rows in one account, measures the CPU time of every combination of filters and sorts, for the first page and one from the
 * middle. Measures the costliest pages of each list again, alternately with the plain first page, and compares the worst of them with it.
 */
export async function* measurePaging(): AsyncGenerator<Figure> {
  const folder = makeFolder();
  const database = new DatabaseSync(join(folder.dataDir, "petstore.db"));
  fillSkewed(database, folder.accountId);
  database.close();
  const shop = await openShop(folder);
  try {
    for (const list of listsOf(apiOperations).filter(isOfAccount)) yield await measureList(shop, list);
  } finally {
    await shop.stop();
    folder.remove();
  }
}

/** Lists below a project or a webhook are short: the service keeps few deployments, domains and deliveries of each. */
function isOfAccount({ path }: ListOperation): boolean {
  return !path.includes("{");
}

async function measureList(shop: Shop, list: ListOperation): Promise<Figure> {
  const plain = { path: `${list.path}?limit=${limit}`, times: 1 };
  const pages = combinationsOf(list, samples).flatMap((query) => pagesOf(list, query));
  await cpuOfPage(shop, plain, requests); // warms up
  const costs = new Map<Page, number>();
  for (const page of pages) costs.set(page, await cpuOfPage(shop, page, requestsToFind));
  const answered = [...costs].filter(([, cost]) => Number.isFinite(cost)).toSorted(([, a], [, b]) => b - a);

  const measured: Figure[] = [];
  for (const [page] of answered.slice(0, suspects)) {
    const compared = await measureAlternately(
      rounds,
      () => cpuOfPage(shop, page, requests),
      () => cpuOfPage(shop, plain, requests),
    );
    const what = `\`${list.operationId}\`, the costliest of ${answered.length} pages of ${rows.toLocaleString("en")} rows (${short(page.path)}) / the plain first page`;
    measured.push({ id: `paging-${list.operationId}`, what, ...compared, unit: "ms of CPU", goal: "≤ 1.5" });
  }
  return measured.toSorted((a, b) => b.ratio - a.ratio)[0]!;
}

/** The first page of a query, and one from the middle of the rows. */
function pagesOf(list: ListOperation, query: ListQuery): Page[] {
  const share = shareOf(query, limit);
  const values = (share.values * share.rows) / limit;
  const first = { path: `${list.path}?${textOf({ ...query, limit })}`, times: values };
  if ("sort" in list.query.properties && query["sort"] === undefined) return [first];
  const isByName = String(query["sort"]).endsWith("name");
  const position = isByName ? [String(query["q"] ?? "rex"), rows / 2] : [rows / 2];
  const cut = Array.from({ length: limit + 1 }, () => ({}));
  const { headers } = pageOf(list.path, { ...query, limit }, cut, () => position);
  const middle = /<\/v1([^>]+)>/.exec(headers["link"] ?? "")?.[1];
  return middle === undefined ? [first] : [first, { path: middle, times: values }];
}

/** CPU ms of one request divided by `times`; NaN if the filters exclude each other. */
async function cpuOfPage(shop: Shop, { path, times }: Page, count: number): Promise<number> {
  const { origin } = new URL(shop.url);
  const first = await shop.ask("GET", path);
  await first.arrayBuffer();
  if (first.status === 400) return Number.NaN;
  if (first.status !== 200) throw new Error(`${path} answered ${first.status}`);
  const before = await cpuMs(origin);
  for (let i = 0; i < count; i++) await (await shop.ask("GET", path)).arrayBuffer();
  return ((await cpuMs(origin)) - before) / count / times;
}

function short(path: string): string {
  const query = new URLSearchParams(path.slice(path.indexOf("?")));
  const names = [...new Set(query.keys())].filter((name) => name !== "limit");
  return names
    .map((name) =>
      name === "cursor"
        ? "from the middle"
        : /^(id|petId)$/.test(name) && query.getAll(name).length > 1
          ? `100 ${name}`
          : `${name}=${query.getAll(name).join(",")}`,
    )
    .join(" ");
}
