import { fileURLToPath } from "node:url";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { readStaticFiles, sendStaticFile, type StaticFile } from "../platform/http/static-files.ts";

/** The built web application: its page, and the other files by path. Absent until bin/build-web.mjs has run. */
export type Web = { page: StaticFile; files: Map<string, StaticFile> };

const folder = fileURLToPath(new URL("../../dist/web", import.meta.url));

/** The addresses of the application, which web/router.tsx turns into pages. */
const pages = [
  "/",
  "/reference",
  "/reference/:operationId",
  "/reference/:operationId/",
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
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const everyFile = { "x-content-type-options": "nosniff", "cross-origin-resource-policy": "same-origin" };
const everyPage = {
  ...everyFile,
  "content-security-policy": contentSecurityPolicy,
  "cross-origin-opener-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
  "referrer-policy": "same-origin",
  "x-frame-options": "DENY",
  "cache-control": "no-cache",
};

/** Reads the web application into memory; undefined where it has not been built. */
export async function readWeb(): Promise<Web | undefined> {
  const files = await readStaticFiles(folder);
  const page = files.get("index.html");
  files.delete("index.html");
  return page && { page, files };
}

/** Serves the web application. Files under /assets carry a hash in their name, and never change. */
export function addWeb(app: FastifyInstance, { page, files }: Web): void {
  for (const path of pages) app.get(path, (request, reply) => sendPage(request, reply, { page }));
  for (const [path, file] of files) {
    const caching = path.startsWith("assets/") ? "public, max-age=31536000, immutable" : "no-cache";
    app.get(`/${path}`, (request, reply) => sendStaticFile(request, reply.headers({ ...everyFile, "cache-control": caching }), file));
  }
}

/** Sends the page that the application begins with, whatever the address. */
export function sendPage(request: FastifyRequest, reply: FastifyReply, { page }: Pick<Web, "page">): FastifyReply {
  reply.headers(everyPage);
  if (request.url.startsWith("/reference")) reply.header("link", "</openapi.json>; rel=preload; as=fetch; crossorigin");
  return sendStaticFile(request, reply, page);
}
