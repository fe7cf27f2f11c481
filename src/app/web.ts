import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { App } from "../platform/http/app.ts";
import { dashboardPrefix } from "../platform/http/api-surfaces.ts";
import { headerLines, type Exchange } from "../platform/http/exchange.ts";
import { addPage } from "../platform/http/router.ts";
import { readStaticFiles, sendStaticFile, type StaticFile } from "../platform/http/static-files.ts";
import { apiOperations } from "./operations.ts";
import { operationPath } from "./reference-texts.ts";

/** The built web application: its page, and the other files by path. Absent until bin/build-web.mjs has run. */
export type Web = { page: StaticFile; files: Map<string, StaticFile>; pageHeaders: string; linksOf: LinksOf };

/** The lines of a `Link` header that names what the page at a path needs for its first view, so that the browser asks for all of it at once. */
type LinksOf = (path: string) => string;

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

/** Every path below /dashboard but those of its calls, whose unknown ones are the calls' own 404. */
function belowDashboard(): string[] {
  const area = "/dashboard/:area(^(?!v1$).+$)";
  return [area, `${area}/*`];
}

/** Mantine writes its variables into style elements and attributes; nothing else may come from the page itself, and nothing from elsewhere. */
const contentSecurityPolicy = (photosHost: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    `img-src 'self' blob: ${photosHost}:*`,
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
/** The address by which `web/first-loads.ts` lists the scripts of the panel that most operations have. */
const panelAddress = `${operationPath(":operationId")}#try-it`;

/** What the pages below an address read first. */
const firstReads: Record<string, string[]> = {
  "/reference": ["/openapi.json"],
  "/dashboard": [`${dashboardPrefix}/session`, `${dashboardPrefix}/webhooks?limit=100`],
};

/**
 * Reads the web application into memory; undefined where it has not been built.
 *
 * @param photosHost where its pages may load photos of animals from
 */
export async function readWeb(photosHost: string): Promise<Web | undefined> {
  const files = await readStaticFiles(folder);
  const page = files.get("index.html");
  files.delete("index.html");
  if (!page) return undefined;
  const firstLoads = JSON.parse(await readFile(join(folder, "first-loads.json"), "utf8")) as Record<string, string[]>;
  return { page, files, pageHeaders: pageHeaders(photosHost), linksOf: openLinks(firstLoads) };
}

/** @param firstLoads the scripts of each page's first view, as `web/first-loads.ts` has written them */
function openLinks(firstLoads: Record<string, string[]>): LinksOf {
  const pagesOf = Object.entries(withPanels(firstLoads)).map(([address, scripts]) => {
    const [, area = ""] = address.split("/");
    const reads = firstReads[`/${area}`] ?? [];
    const links = [
      ...scripts.map((path) => `<${path}>; rel=modulepreload`),
      ...reads.map((path) => `<${path}>; rel=preload; as=fetch; crossorigin`),
    ];
    return { parts: address.split("/"), lines: links.length > 0 ? headerLines({ link: links.join(", ") }) : "" };
  });
  return (path) => {
    const asked = path.replace(/(?<=.)\/$/, "").split("/");
    const fits = (parts: string[]): boolean => parts.every((part, i) => part === asked[i] || part.startsWith(":"));
    return pagesOf.find(({ parts }) => parts.length === asked.length && fits(parts))?.lines ?? "";
  };
}

/** Gives the pages of operations the scripts of their panel, but for those that have none. */
function withPanels({ [panelAddress]: ofPanel = [], ...firstLoads }: Record<string, string[]>): Record<string, string[]> {
  const ofOperation = firstLoads[operationPath(":operationId")] ?? [];
  const without = apiOperations.filter(({ hideTryItPanel }) => hideTryItPanel).map(({ operationId }) => operationPath(operationId));
  const loads: Record<string, string[]> = Object.fromEntries(without.map((path) => [path, ofOperation]));
  return { ...loads, ...firstLoads, [operationPath(":operationId")]: [...ofOperation, ...ofPanel] };
}

/** Serves the web application. Files under /assets carry a hash in their name, and never change. */
export function addWeb(app: Pick<App, "add">, web: Web): void {
  for (const path of pages) addPage(app, path, {}, (exchange) => sendPage(exchange, web));
  for (const [path, file] of web.files) {
    const caching = path.startsWith("assets/") ? "public, max-age=31536000, immutable" : "no-cache";
    const lines = headerLines({ ...everyFile, "cache-control": caching });
    addPage(app, `/${path}`, {}, (exchange) => sendStaticFile(exchange, file, lines));
  }
}

/** Sends the page that the application begins with, whatever the address. */
export function sendPage(exchange: Exchange, { page, pageHeaders: lines, linksOf }: Omit<Web, "files">, status = 200): void {
  const [path = ""] = exchange.url.split("?", 1);
  sendStaticFile(exchange, page, lines + linksOf(path), status);
}
