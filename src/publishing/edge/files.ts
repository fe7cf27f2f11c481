import type { Manifest, PublishedFile } from "./site.ts";

export type Found =
  | { kind: "file"; status: 200 | 404; path: string; file: PublishedFile }
  /** A folder that was asked for without its final slash: relative links in its page would point beside it. */
  | { kind: "folder"; location: string }
  | { kind: "nothing" };

/**
 * The file that a path of a site names. Folders answer with their `index.html`; what is not there with the site's own `404.html`. Only
 * what the manifest lists can be found, so no path leads anywhere else.
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

const hexDigest = /[.-](?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{8,64}\.[\w.]+$/;
const bundlerDigest = /[.-](?=[\w-]*[a-z])(?=[\w-]*[A-Z])(?=[\w-]*\d)[\w-]{8}\.(?:js|mjs|css|woff2?|wasm)$/;

/**
 * How long a browser may keep a file. Where the name carries a digest of the content (`app.3f2a91bc.css`, `index-BkH3x9aZ.js`), for good;
 * a date (`menu-20260401.pdf`) is none. Everything else is asked for again, which costs a 304: a deployment shows at once.
 */
export function cacheControl(path: string): string {
  const hashed = hexDigest.test(path) || bundlerDigest.test(path);
  return hashed ? "public, max-age=31536000, immutable" : "public, max-age=0, must-revalidate";
}
