import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { sessionCookieName } from "../callers/members/sessions.ts";
import { dashboardPrefix } from "../platform/http/api-surfaces.ts";
import { headerLines, type Exchange } from "../platform/http/exchange.ts";
import { openStaticText, type StaticFile } from "../platform/http/static-files.ts";
import { apiOperations } from "./operations.ts";
import { earlyHead } from "./reference-html.ts";
import { operationPath } from "./reference-texts.ts";

/** What the first view of each page takes (decision 90). */
export type FirstViews = {
  /** The line of a `Link` header that names what the page needs, so that the browser asks for all of it at once. Default: none. */
  linksOf(exchange: Exchange): string;
  /** The application's page with the title and lead of the page that a member asks for. Default: none. */
  pageOf(exchange: Exchange): Promise<StaticFile> | undefined;
};

type Head = { title: string; lead: string };

/** By the address of a page, in which `:name` stands for any part. */
type ByAddress<T> = Record<string, T>;

/** The address by which `web/first-loads.ts` lists the scripts of the panel that most operations have. */
const panelAddress = `${operationPath(":operationId")}#try-it`;

/** What every page below an address reads first. */
const readsOfAll: ByAddress<string[]> = {
  "/reference": ["/openapi.json"],
  "/dashboard": ["/session", "/webhooks?limit=100"].map((path) => dashboardPrefix + path),
};

const ofProject = ["/projects/:projectId/deployments?limit=100", "/projects/:projectId"];
const ofCategories = ["/categories?limit=100", "/pets/counts?"];
const openOrders = "/store/orders?complete=false&sort=-id&limit=8";

/** What a page of the dashboard reads beside that, if its address has no query. */
const readsOfPages: ByAddress<string[]> = {
  "/dashboard": ["/pets/counts?", "/projects?limit=5", openOrders, "/store/inventory/low?limit=10", "/account"],
  "/dashboard/animals": [...ofCategories, "/pets?limit=100"],
  "/dashboard/categories": ofCategories,
  "/dashboard/orders": ["/store/orders?limit=100&sort=-id&complete=false", "/store/orders?limit=100&sort=-id&complete=true"],
  "/dashboard/inventory": ["/store/inventory?limit=100"],
  "/dashboard/projects": ["/projects?limit=100"],
  "/dashboard/projects/:projectId": [...ofProject, "/projects/:projectId/storefront"],
  "/dashboard/projects/:projectId/settings": ofProject,
  "/dashboard/projects/:projectId/domains": [...ofProject, "/projects/:projectId/domains?limit=100"],
  "/dashboard/usage": ["/account", "/usage?interval=minute&groupBy=key", "/usage?interval=minute&groupBy=operation", "/keys"],
  "/dashboard/keys": ["/keys"],
  "/dashboard/activity": ["/members", "/keys", "/audit?limit=50"],
  "/dashboard/account": ["/account", "/members", "/factors", "/sessions"],
};

/**
 * Reads what `web/first-loads.ts` wrote when the pages were built.
 *
 * @param folder of the built pages
 * @param shell the application's page
 */
export async function readFirstViews(folder: string, shell: StaticFile): Promise<FirstViews> {
  const read = async <T>(name: string) => JSON.parse(await readFile(join(folder, name), "utf8")) as ByAddress<T>;
  const [firstLoads, heads] = [await read<string[]>("first-loads.json"), await read<Head>("early-heads.json")];
  const scripts = matcherOf(withPanels(firstLoads));
  const reads = matcherOf(readsOfPages);
  const headOf = matcherOf(heads);
  const pages = new Map<Head, Promise<StaticFile>>();
  return {
    linksOf({ url, headers }) {
      const [path = "", query] = url.split("?", 2);
      const ofPage = mayBeMember(headers) && query === undefined ? dataOf(reads(path)) : [];
      const links = [
        ...(scripts(path)?.value ?? []).map((script) => `<${script}>; rel=modulepreload`),
        ...[...readsBelow(path), ...ofPage].map((data) => `<${data}>; rel=preload; as=fetch; crossorigin`),
      ];
      return links.length > 0 ? headerLines({ link: links.join(", ") }) : "";
    },
    pageOf({ url, headers }) {
      const head = mayBeMember(headers) && headOf(url.split("?", 1)[0] ?? "")?.value;
      if (!head) return undefined;
      const page = pages.get(head) ?? openStaticText(shell.type, earlyHead(shell.body.toString(), head));
      pages.set(head, page);
      return page;
    },
  };
}

/** Whether a browser sends a session, which may have ended: others are shown the page for signing in. */
const mayBeMember = ({ cookie }: Exchange["headers"]): boolean => cookie?.includes(sessionCookieName) === true;

/** Gives the pages of operations the scripts of their panel, but for those that have none. */
function withPanels({ [panelAddress]: ofPanel = [], ...firstLoads }: ByAddress<string[]>): ByAddress<string[]> {
  const ofOperation = firstLoads[operationPath(":operationId")] ?? [];
  const without = apiOperations.filter(({ hideTryItPanel }) => hideTryItPanel).map(({ operationId }) => operationPath(operationId));
  const loads: ByAddress<string[]> = Object.fromEntries(without.map((path) => [path, ofOperation]));
  return { ...loads, ...firstLoads, [operationPath(":operationId")]: [...ofOperation, ...ofPanel] };
}

type Match<T> = { value: T; parts: Record<string, string> };

/** Finds what stands for the address of a path, and the path's parts by their names. */
function matcherOf<T>(values: ByAddress<T>): (path: string) => Match<T> | undefined {
  const all = Object.entries(values).map(([address, value]) => ({ names: address.split("/"), value }));
  return (path) => {
    const asked = withoutSlash(path).split("/");
    const found = all.find(
      ({ names }) => names.length === asked.length && names.every((name, i) => name === asked[i] || name.startsWith(":")),
    );
    if (!found) return undefined;
    const parts = found.names.flatMap((name, i) => (name.startsWith(":") ? [[name, asked[i]!] as const] : []));
    return { value: found.value, parts: Object.fromEntries(parts) };
  };
}

/** What the pages of the area read that this path is in. */
const readsBelow = (path: string): string[] => readsOfAll[`/${path.split("/")[1]}`] ?? [];

/** The addresses of a page's reads, with the numbers of its path; none if a part that stands for a number is something else. */
function dataOf(page: Match<string[]> | undefined): string[] {
  if (!page || Object.values(page.parts).some((part) => !/^\d{1,15}$/.test(part))) return [];
  return page.value.map((read) => dashboardPrefix + read.replaceAll(/:\w+/g, (name) => page.parts[name] ?? ""));
}

const withoutSlash = (path: string): string => path.replace(/(?<=.)\/$/, "");
