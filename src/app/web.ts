import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sessionCookieName } from "../callers/members/sessions.ts";
import { sendBytes } from "../platform/http/answers.ts";
import { dashboardPrefix } from "../platform/http/api-surfaces.ts";
import type { App } from "../platform/http/app.ts";
import { type Exchange, headerLines } from "../platform/http/exchange.ts";
import { addPage } from "../platform/http/router.ts";
import { openStaticText, readStaticFiles, sendStaticFile, type StaticFile } from "../platform/http/static-files.ts";
import { notFound } from "../platform/http/validation.ts";
import { apiOperations } from "./operations.ts";
import {
  apiCatalogue,
  earlyHead,
  guidePath,
  guides,
  llmsText,
  operationPath,
  type ReferenceText,
  referenceTexts,
} from "./reference-texts.ts";
import type { Settings } from "./settings.ts";

/** The built web application: its page, and the other files by path. Absent until bin/build-web.mjs has run. */
export type Web = { page: StaticFile; files: Map<string, StaticFile>; pageHeaders: string; firstViews: FirstViews };

const folder = fileURLToPath(new URL("../../dist/web", import.meta.url));

/** The addresses of the application, which web/router.tsx turns into pages. */
const pages = [
  "/",
  "/reference/:operationId",
  "/reference/:operationId/",
  "/reference/guides/:name",
  "/sign-in",
  "/sign-in/",
  "/dashboard",
  "/dashboard/",
  ...belowDashboard(),
];

/** Every path below /dashboard except those of its calls, which answer an unknown path with their own 404. */
function belowDashboard(): string[] {
  const area = "/dashboard/:area(^(?!v1$).+$)";
  return [area, `${area}/*`];
}

/**
 * Allows inline styles only, because Mantine writes its variables into style elements and attributes. From other origins, allows only photos. The frame that
 * previews a storefront has this policy too, and its pictures are `data:` URLs (decision 0127).
 */
const contentSecurityPolicy = (photosHost: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    `img-src 'self' blob: data: ${photosHost}:*`,
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");

const everyFile = { "x-content-type-options": "nosniff", "cross-origin-resource-policy": "same-origin" };
const pageHeaders = (photosHost: string): string =>
  headerLines({
    ...everyFile,
    "content-security-policy": contentSecurityPolicy(photosHost),
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "referrer-policy": "same-origin",
    "x-frame-options": "DENY",
    "cache-control": "no-cache",
  });

/**
 * Reads the web application into memory. Returns undefined if it has not been built.
 *
 * @param photosHost the host from which its pages may load photos of animals
 */
export async function readWeb(photosHost: string): Promise<Web | undefined> {
  const files = await readStaticFiles(folder);
  const page = files.get("index.html");
  files.delete("index.html");
  if (!page) return undefined;
  return { page, files, pageHeaders: pageHeaders(photosHost), firstViews: await readFirstViews(page) };
}

/** Serves the web application. Files under /assets carry a hash in their name, and never change. */
export function addWeb(app: Pick<App, "add">, web: Web): void {
  addFonts(app);
  for (const path of pages)
    addPage(app, path, {}, async (exchange) => sendPage(exchange, { ...web, page: (await web.firstViews.pageOf(exchange)) ?? web.page }));
  for (const [path, file] of web.files) {
    const caching = path.startsWith("assets/") ? "public, max-age=31536000, immutable" : "no-cache";
    const lines = headerLines({ ...everyFile, "cache-control": caching });
    addPage(app, `/${path}`, {}, (exchange) => sendStaticFile(exchange, file, lines));
  }
}

/** Serves the fonts of storefronts to the frame that previews one: its paths are those of the dashboard. They are read for the first preview. */
function addFonts(app: Pick<App, "add">): void {
  const lines = headerLines({ ...everyFile, "cache-control": "public, max-age=31536000, immutable" });
  addPage(app, "/fonts/:name", {}, async (exchange) => {
    const { fontAt } = await import("../publishing/storefront/themes.ts");
    const bytes = fontAt(`fonts/${exchange.params["name"]}`);
    if (bytes === undefined) throw notFound();
    exchange.lines += lines;
    sendBytes(exchange, 200, bytes, "font/woff2");
  });
}

/** Sends the page with which the application begins at every address. */
export function sendPage(exchange: Exchange, { page, pageHeaders: lines, firstViews }: Omit<Web, "files">, status = 200): void {
  sendStaticFile(exchange, page, lines + firstViews.linksOf(exchange), status);
}

/** The header and the early content with which a page shows faster on the first view (decision 90). */
type FirstViews = {
  /** Returns the `Link` header that names a page's scripts and data, so that the browser requests all of them at once; empty without any. */
  linksOf(exchange: Exchange): string;
  /** Returns the application's page with the title and lead of the page that a member requests; undefined for other visitors and pages. */
  pageOf(exchange: Exchange): Promise<StaticFile> | undefined;
};

type Head = { title: string; lead: string };

/** Keyed by the address of a page, in which `:name` matches any part. */
type ByAddress<T> = Record<string, T>;

/** The address by which `web/first-loads.ts` lists the scripts of the panel that most operations have. */
const panelAddress = `${operationPath(":operationId")}#try-it`;

/** The calls that every page below an address makes first. */
const readsOfAll: ByAddress<string[]> = {
  "/reference": ["/openapi.json"],
  "/dashboard": ["/session", "/webhooks?limit=100"].map((path) => dashboardPrefix + path),
};

const ofProject = ["/projects/:projectId/deployments?limit=100", "/projects/:projectId"];
const ofShop = [...ofProject, "/projects/:projectId/storefront"];
const ofCategories = ["/categories?limit=100", "/pets/counts?"];
const openOrders = "/store/orders?complete=false&sort=-id&limit=8";

/** The calls that one page of the dashboard also makes, if its address has no query. */
const readsOfPages: ByAddress<string[]> = {
  "/dashboard": [
    "/pets/counts?",
    "/projects?limit=5",
    openOrders,
    "/store/inventory/low?limit=10",
    "/account",
    "/figures",
    "/reservations/waiting",
  ],
  "/dashboard/animals": [...ofCategories, "/pets?limit=100"],
  "/dashboard/animals/new": ["/categories?limit=100"],
  "/dashboard/animals/bin": ["/pets/bin?limit=50", "/categories?limit=100"],
  "/dashboard/animals/:animalId": [
    "/pets?id=:animalId",
    "/pets/:animalId/profile",
    "/categories?limit=100",
    "/store/inventory?limit=1&petId=:animalId",
  ],
  "/dashboard/categories": ofCategories,
  "/dashboard/orders": ["/store/orders?limit=100&sort=-id&complete=false", "/store/orders?limit=100&sort=-id&complete=true"],
  "/dashboard/reservations": ["/reservations?limit=100&sort=-id"],
  "/dashboard/inventory": ["/store/inventory?limit=100"],
  "/dashboard/projects": ["/projects?limit=100"],
  "/dashboard/projects/:projectId": ofShop,
  "/dashboard/projects/:projectId/shop": ofShop,
  "/dashboard/projects/:projectId/versions": ofProject,
  "/dashboard/projects/:projectId/settings": ofProject,
  "/dashboard/projects/:projectId/domains": [...ofProject, "/projects/:projectId/domains?limit=100"],
  "/dashboard/usage": [
    "/account",
    "/usage?interval=minute&groupBy=key",
    "/usage?interval=minute&groupBy=operation",
    "/keys?limit=100",
    "/requests?limit=20",
  ],
  "/dashboard/keys": ["/keys?limit=100"],
  "/dashboard/activity": ["/members", "/keys?limit=100", "/audit?limit=50"],
  "/dashboard/account": ["/account", "/members", "/factors", "/sessions"],
};

/**
 * Reads the files that `web/first-loads.ts` wrote when the pages were built.
 *
 * @param shell the application's page
 */
async function readFirstViews(shell: StaticFile): Promise<FirstViews> {
  const read = async <T>(name: string) => JSON.parse(await readFile(join(folder, name), "utf8")) as ByAddress<T>;
  const [firstLoads, heads] = [await read<string[]>("first-loads.json"), await read<Head>("early-heads.json")];
  const scripts = matcherOf(withPanels(firstLoads));
  const reads = matcherOf(readsOfPages);
  const headOf = matcherOf(heads);
  const headed = new Map<Head, Promise<StaticFile>>();
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
      const page = headed.get(head) ?? openStaticText(shell.type, earlyHead(shell.body.toString(), head));
      headed.set(head, page);
      return page;
    },
  };
}

/** Whether a browser sends a session cookie; its session may have ended. Other browsers get the sign-in page. */
const mayBeMember = ({ cookie }: Exchange["headers"]): boolean => cookie?.includes(sessionCookieName) === true;

/** Adds the scripts of the panel to the pages of operations, except to those without a panel. */
function withPanels({ [panelAddress]: ofPanel = [], ...firstLoads }: ByAddress<string[]>): ByAddress<string[]> {
  const ofOperation = firstLoads[operationPath(":operationId")] ?? [];
  const without = apiOperations.filter(({ hideTryItPanel }) => hideTryItPanel).map(({ operationId }) => operationPath(operationId));
  const loads: ByAddress<string[]> = Object.fromEntries(without.map((path) => [path, ofOperation]));
  return { ...loads, ...firstLoads, [operationPath(":operationId")]: [...ofOperation, ...ofPanel] };
}

type Match<T> = { value: T; parts: Record<string, string> };

/** Returns a function that finds the value for a path, and the parts of the path by name. */
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

/** The first calls of the pages in the path's area. */
const readsBelow = (path: string): string[] => readsOfAll[`/${path.split("/")[1]}`] ?? [];

/** The calls of a page, with the numbers of its path filled in; none if a part that should be a number is not one. */
function dataOf(page: Match<string[]> | undefined): string[] {
  if (!page || Object.values(page.parts).some((part) => !/^\d{1,15}$/.test(part))) return [];
  return page.value.map((read) => dashboardPrefix + read.replaceAll(/:\w+/g, (name) => page.parts[name] ?? ""));
}

const withoutSlash = (path: string): string => path.replace(/(?<=.)\/$/, "");

/** The headers of documents that every origin may read. */
export const openToAll = headerLines({ "Access-Control-Allow-Origin": "*", "Cache-Control": "no-cache" });
const markdownType = "text/markdown; charset=utf-8";
const catalogueType = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"';

/**
 * Adds the reference for readers without JavaScript: each page in Markdown and within the web application's shell, `/llms.txt`, and the
 * catalogue of the API. Each text is made at its first request, and then kept: there is one for each operation and guide.
 */
export function addDocuments(app: Pick<App, "add">, settings: Pick<Settings, "getPetSunset" | "publicUrl">, web: Web | undefined): void {
  const { publicUrl } = settings;
  const files = new Map<string, StaticFile>();
  let references: Map<string, ReferenceText> | undefined;
  const texts = async (): Promise<Map<string, ReferenceText>> => {
    const { descriptionOf } = await import("./description.ts");
    return (references ??= referenceTexts(descriptionOf(settings)));
  };

  function addDocument(path: string, type: string, make: () => Promise<string>): void {
    addPage(app, path, { hosts: "any" }, async (exchange) => {
      const file = files.get(path) ?? (await openStaticText(type, await make()));
      files.set(path, file);
      sendStaticFile(exchange, file, openToAll);
    });
  }

  addDocument("/llms.txt", "text/plain; charset=utf-8", async () => llmsText(publicUrl, (await texts()).values()));
  addDocument("/.well-known/api-catalog", catalogueType, async () => apiCatalogue(publicUrl));
  const paths = ["/reference", ...apiOperations.map(({ operationId }) => operationPath(operationId)), ...guides.map(guidePath)];
  for (const path of paths) {
    addDocument(`${path}.md`, markdownType, async () => (await texts()).get(path)?.markdown ?? "");
    if (web) addPage(app, path, {}, (exchange) => sendPrerendered(exchange, web, path));
  }

  if (web) addPage(app, "/reference/all", {}, (exchange) => sendPrerendered(exchange, web, "/reference")); // it begins like the overview

  async function sendPrerendered(exchange: Exchange, shell: Web, path: string): Promise<void> {
    const made = files.get(path) ?? (await prerender(shell, path));
    files.set(path, made);
    sendPage(exchange, { ...shell, page: made });
  }

  async function prerender({ page }: Web, path: string): Promise<StaticFile> {
    const [{ prerendered }, all] = await Promise.all([import("./reference-texts.ts"), texts()]);
    const text = all.get(path);
    return text ? openStaticText(page.type, prerendered(page.body.toString(), text, publicUrl)) : page;
  }
}
