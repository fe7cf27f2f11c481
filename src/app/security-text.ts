import type { Clock } from "../platform/clock.ts";
import { sendText } from "../platform/http/answers.ts";
import type { App } from "../platform/http/app.ts";
import { headerLines } from "../platform/http/exchange.ts";
import { addPage } from "../platform/http/router.ts";
import { notFound } from "../platform/http/validation.ts";

const path = "/.well-known/security.txt";
/** How far in the future the `Expires` field is. RFC 9116, 2.5.5 recommends less than a year. */
const validMs = 180 * 86_400_000;
const dayMs = 86_400_000;

export type SecurityTextOptions = {
  clock: Clock;
  /** URIs, the preferred one first. If empty, the path is a 404. */
  securityContact: string[];
  /** The public origin of the service. */
  publicUrl: string;
};

/** Adds `GET /.well-known/security.txt` (RFC 9116): where to report a weakness of this service. */
export function addSecurityText(app: Pick<App, "add">, options: SecurityTextOptions): void {
  const caching = headerLines({ "Cache-Control": "max-age=86400" });
  addPage(app, path, { hosts: "any" }, (exchange) => {
    if (options.securityContact.length === 0) throw notFound();
    exchange.lines += caching;
    sendText(exchange, 200, securityText(options), "text/plain; charset=utf-8");
  });
}

function securityText({ clock, securityContact, publicUrl }: SecurityTextOptions): string {
  const now = clock();
  const expires = new Date(now - (now % dayMs) + validMs).toISOString().replace(".000Z", "Z");
  const lines = [...securityContact.map((uri) => `Contact: ${uri}`), `Expires: ${expires}`, "Preferred-Languages: en"];
  // RFC 9116, 2.5.2 allows only https here
  if (publicUrl.startsWith("https://")) lines.push(`Canonical: ${publicUrl}${path}`);
  return lines.map((line) => `${line}\n`).join("");
}
