import type { Manifest, PublishedFile } from "./site.ts";

export type Found =
  | { kind: "file"; status: 200 | 404; path: string; file: PublishedFile }
  /** A folder requested without its final slash: relative links in its page would start from its parent. */
  | { kind: "folder"; location: string }
  | { kind: "nothing" };

/**
 * Returns the file at a path of a site: the `index.html` of a folder, and the site's own `404.html` for an unknown path. It finds only files
 * in the manifest, so no path leads out of the site.
 */
export function findFile(manifest: Manifest, path: string): Found {
  const exact = path === "" || path.endsWith("/") ? `${path}index.html` : path;
  const file = manifest.get(exact);
  if (file !== undefined) return { kind: "file", status: 200, path: exact, file };
  if (exact === path && manifest.has(`${path}/index.html`)) {
    return { kind: "folder", location: `/${path.split("/").map(encodeURIComponent).join("/")}/` };
  }
  const missing = manifest.get("404.html");
  return missing === undefined ? { kind: "nothing" } : { kind: "file", status: 404, path: "404.html", file: missing };
}

/** Each file's Cache-Control at the path where it was last served: to match the file's name costs more than all other headers. */
const cacheControls = new WeakMap<PublishedFile, { path: string; value: string }>();

export function cacheControlOf(file: PublishedFile, path: string): string {
  const known = cacheControls.get(file);
  if (known?.path === path) return known.value;
  const value = cacheControl(path);
  cacheControls.set(file, { path, value });
  return value;
}

/**
 * Returns the Cache-Control of a file. A file whose name has a digest of its content (`app.3f2a91bc.css`, `index-BkH3x9aZ.js`) is cached for
 * good; a date (`menu-20260401.pdf`) is not a digest. Browsers revalidate every other file, usually with a 304, so that a deployment shows at
 * once.
 */
export function cacheControl(path: string): string {
  const isHashed = hasHexDigest(path) || hasBundlerDigest(path);
  return isHashed ? "public, max-age=31536000, immutable" : "public, max-age=0, must-revalidate";
}

/** Whether the file's name has 8 to 64 hexadecimal digits before its extension, with a letter and a number among them. */
function hasHexDigest(path: string): boolean {
  const parts = path.slice(path.lastIndexOf("/") + 1).split(".");
  for (let i = parts.length - 1; i >= 0; i--) {
    const part = parts[i] ?? "";
    const start = part.lastIndexOf("-") + 1;
    const isApart = i < parts.length - 1 && (i > 0 || start > 0);
    if (isApart && isHexDigest(part.slice(start))) return true;
    if (!/^\w*$/.test(part)) return false;
  }
  return false;
}

function isHexDigest(text: string): boolean {
  return text.length >= 8 && text.length <= 64 && /^[0-9a-f]+$/.test(text) && /[a-f]/.test(text) && /\d/.test(text);
}

/** Whether the file's name ends like `-BkH3x9aZ.js`, with lower-case letters, upper-case letters and numbers. */
function hasBundlerDigest(path: string): boolean {
  const digest = /[.-]([\w-]{8})\.(?:js|mjs|css|woff2?|wasm)$/.exec(path)?.[1] ?? "";
  return /[a-z]/.test(digest) && /[A-Z]/.test(digest) && /\d/.test(digest);
}
