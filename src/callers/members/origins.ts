import type { IncomingHttpHeaders } from "node:http";
import { isPlainLoopback } from "./sessions.ts";

const reading = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Whether a request comes from the dashboard itself. Cookies travel with requests that other sites make: a write must
 * name the dashboard's origin (RFC 6454, 7), and where the browser tells whether a request is from the same origin
 * (Fetch Metadata, `Sec-Fetch-Site`), it must be, or be typed in where it only reads. On loopback the dashboard is at
 * any name of this machine.
 */
export function comesFromDashboard(method: string, headers: IncomingHttpHeaders, publicUrl: string): boolean {
  const isRead = reading.has(method);
  const site = headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin" && !(isRead && site === "none")) return false;
  return isRead || isOwnOrigin(headers.origin, headers.host, publicUrl);
}

function isOwnOrigin(origin: string | undefined, host: string | undefined, publicUrl: string): boolean {
  if (origin === undefined || origin === publicUrl) return origin !== undefined;
  return isPlainLoopback(publicUrl) && origin === `http://${host}` && URL.canParse(origin) && isPlainLoopback(origin);
}
