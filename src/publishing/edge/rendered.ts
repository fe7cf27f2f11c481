import type { IncomingHttpHeaders } from "node:http";
import { evaluateRead } from "../../platform/http/conditions.ts";
import type { RenderedPage } from "../storefront/storefront.ts";

type Rendered = { status: number; headers: Record<string, string | number>; body?: RenderedPage["body"] };

/** Returns the answer with a storefront's page, which browsers revalidate on each visit; undefined if a precondition failed. */
export function renderedAnswer(page: RenderedPage, asked: IncomingHttpHeaders): Rendered | undefined {
  const { coding, body } = page;
  const etag = `"${page.etag}${coding === undefined ? "" : `-${coding}`}"`;
  const headers: Rendered["headers"] = {
    ...page.headers,
    ETag: etag,
    "Cache-Control": "public, max-age=0, must-revalidate",
    "X-Content-Type-Options": "nosniff",
    Vary: "Accept-Encoding",
  };
  if (page.status === 200) {
    const outcome = evaluateRead(asked, etag);
    if (outcome === "failed") return undefined;
    if (outcome === "not_modified") return { status: 304, headers };
  }
  headers["Content-Type"] = page.type;
  if (coding !== undefined) headers["Content-Encoding"] = coding;
  headers["Content-Length"] = Buffer.isBuffer(body) ? body.length : body.bytes;
  return { status: page.status, headers, body };
}
