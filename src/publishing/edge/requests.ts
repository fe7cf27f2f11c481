import { labelLengthMax } from "../../platform/http/hosts.ts";

export type Target = {
  /** Decoded once, NFC, without the leading slash. */
  path: string;
  /** As the client sent it, with everything outside printable ASCII escaped; begins with a slash. For redirects. */
  rawPath: string;
  /** With its question mark, or empty. */
  query: string;
};

/** Without leading zeros, so a deployment has only one address. A number holds up to 15 digits exactly. */
const deploymentPattern = /^([1-9]\d{0,14})--([^.]+)\.(.+)$/;
/** A published path has at most 1,024 bytes in NFC. Decomposed, it has at most 1.5 characters for each of them. */
const composedCharactersMax = 1_536;

/** The host at which one deployment of a project is served (specification 6.8); undefined if the slug is too long for it. */
export function deploymentHost(id: number, slug: string, platformDomain: string): string | undefined {
  const label = `${id}--${slug}`;
  return label.length > labelLengthMax ? undefined : `${label}.${platformDomain}`;
}

/** The deployment that a host names and the host of its project, whether or not they exist; undefined for any other host. */
export function deploymentAt(host: string, platformDomain: string): { id: number; projectHost: string } | undefined {
  const [, id, slug, domain] = deploymentPattern.exec(host) ?? [];
  return domain === platformDomain ? { id: Number(id), projectHost: `${slug}.${domain}` } : undefined;
}

/**
 * Splits and decodes a request target. Returns undefined if its path cannot name a published file: broken escapes, escaped slashes,
 * backslashes, control characters, `.` and `..` in any spelling. Escapes are decoded once: `%252e` is the file called `%2e`.
 */
export function parseTarget(url: string): Target | undefined {
  if (isPlain(url)) return { path: url.slice(1), rawPath: url, query: "" };
  const end = /[?#]/.exec(url)?.index ?? url.length;
  const query = url[end] === "?" ? escapeOutsideAscii(url.slice(end).split("#", 1)[0]!) : "";
  const rawPath = escapeOutsideAscii(url.slice(0, end));
  if (!rawPath.startsWith("/") || /%2f/i.test(rawPath)) return undefined;
  const path = toNfc(decodeOnce(rawPath))?.slice(1);
  if (path === undefined || /[\p{Cc}\\]/u.test(path) || /(?:^|\/)\.\.?(?:\/|$)/.test(path)) return undefined;
  return { path, rawPath, query };
}

/** Whether a target is a plain path, as most are: without escapes or a query, and with no segment that begins with a dot. */
const isPlain = (url: string): boolean => /^\/[\w./-]*$/.test(url) && !url.includes("/.");

/** Converts a path to NFC, unless it is longer than any published one: the conversion takes quadratic time. */
function toNfc(path: string | undefined): string | undefined {
  return path !== undefined && path.length <= composedCharactersMax ? path.normalize("NFC") : path;
}

function decodeOnce(path: string): string | undefined {
  try {
    return path.includes("%") ? decodeURIComponent(path) : path;
  } catch {
    return undefined;
  }
}

/** Escapes everything outside printable ASCII, for headers. Node decodes a target as Latin-1 in HTTP/1 and as UTF-8 in HTTP/2. */
function escapeOutsideAscii(text: string): string {
  if (!/[^\u0021-\u007e]/.test(text)) return text;
  const latin1 = !/[\u0100-\uffff]/.test(text);
  const bytes = Buffer.from(text, latin1 ? "latin1" : "utf8");
  return Array.from(bytes, (byte) =>
    byte > 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`,
  ).join("");
}
