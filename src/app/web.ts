import { fileURLToPath } from "node:url";
import type { App } from "../platform/http/app.ts";
import { headerLines, type Exchange } from "../platform/http/exchange.ts";
import { addPage } from "../platform/http/router.ts";
import { readStaticFiles, sendStaticFile, type StaticFile } from "../platform/http/static-files.ts";
import { readFirstViews, type FirstViews } from "./first-views.ts";

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

/** Allows inline styles only, because Mantine writes its variables into style elements and attributes. From other origins, allows only photos. */
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
  return { page, files, pageHeaders: pageHeaders(photosHost), firstViews: await readFirstViews(folder, page) };
}

/** Serves the web application. Files under /assets carry a hash in their name, and never change. */
export function addWeb(app: Pick<App, "add">, web: Web): void {
  for (const path of pages)
    addPage(app, path, {}, async (exchange) => sendPage(exchange, { ...web, page: (await web.firstViews.pageOf(exchange)) ?? web.page }));
  for (const [path, file] of web.files) {
    const caching = path.startsWith("assets/") ? "public, max-age=31536000, immutable" : "no-cache";
    const lines = headerLines({ ...everyFile, "cache-control": caching });
    addPage(app, `/${path}`, {}, (exchange) => sendStaticFile(exchange, file, lines));
  }
}

/** Sends the page with which the application begins at every address. */
export function sendPage(exchange: Exchange, { page, pageHeaders: lines, firstViews }: Omit<Web, "files">, status = 200): void {
  sendStaticFile(exchange, page, lines + firstViews.linksOf(exchange), status);
}
