import type { IncomingHttpHeaders } from "node:http";
import { isPlainLoopback } from "./sessions.ts";

const readMethods = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Whether a request comes from the dashboard itself. Browsers send cookies with requests of other sites too, so a write must
 * name the dashboard's origin (RFC 6454, 7). If the browser sends `Sec-Fetch-Site` (Fetch Metadata), the request must be from
 * the same origin; a read may also come from the address bar. On loopback, all loopback names of this machine are one origin.
 */
export function comesFromDashboard(method: string, headers: IncomingHttpHeaders, publicUrl: string): boolean {
  const isRead = readMethods.has(method);
  const site = headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin" && !(isRead && site === "none")) return false;
  return isRead || isOwnOrigin(headers.origin, headers.host, publicUrl);
}

function isOwnOrigin(origin: string | undefined, host: string | undefined, publicUrl: string): boolean {
  if (origin === undefined || origin === publicUrl) return origin !== undefined;
  return isPlainLoopback(publicUrl) && origin === `http://${host}` && URL.canParse(origin) && isPlainLoopback(origin);
}
