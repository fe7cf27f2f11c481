import { Problem } from "../../platform/problem.ts";

export const pathBytesMax = 1024;
const segmentBytesMax = 255;
export const depthMax = 32;

/** Quotes a name from an archive for a message, on one line. */
export function quoted(name: string): string {
  return JSON.stringify(name.length > 120 ? `${name.slice(0, 120)}…` : name);
}

function refuse(name: string, why: string): never {
  throw new Problem("invalid_request", `${quoted(name)} ${why}`);
}

/**
 * Returns the path under which an archive's entry is published; the root is empty. Removes the `./` that `tar -C dir .` writes before
 * each name, and the slash after a folder's name. Composes Unicode (NFC), because macOS decomposes names and browsers do not.
 *
 * @throws Problem `invalid_request`
 */
export function publishedPath(name: string): string {
  // Composing takes quadratic time. Decomposed, a path has at most 1.5 characters for each byte of its composed form.
  if (name.length > 1.5 * pathBytesMax) refuse(name, `is longer than ${pathBytesMax} bytes. Shorten it.`);
  if (/\p{Cc}/u.test(name)) refuse(name, "has a control character in its name. Rename it.");
  if (name.includes("\uFFFD")) refuse(name, "has a name that is not UTF-8. Rename it.");
  if (name.includes("\\")) refuse(name, "has a backslash in its name. Folders are separated by /.");
  if (name.startsWith("/") || /^[a-z]:\//i.test(name)) refuse(name, "is an absolute path. Pack the folder with relative paths.");
  const path = name
    .replace(/^(?:\.\/)+/, "")
    .replace(/\/$/, "")
    .normalize("NFC");
  if (path === "" || path === ".") return "";
  const segments = path.split("/");
  for (const segment of segments) {
    if (segment === "..") refuse(name, "leads out of the folder with `..`. Pack only what lies inside.");
    if (segment === "." || segment === "") refuse(name, "has an empty step or `.` inside its path. Pack the folder with plain paths.");
    if (Buffer.byteLength(segment) > segmentBytesMax) refuse(name, `has a part longer than ${segmentBytesMax} bytes. Shorten it.`);
  }
  if (Buffer.byteLength(path) > pathBytesMax) refuse(name, `is longer than ${pathBytesMax} bytes. Shorten it.`);
  if (segments.length > depthMax) refuse(name, `lies deeper than ${depthMax} folders. Move it up.`);
  return path;
}

export type PathSet = { addFile(path: string): void; addFolder(path: string): void };

/**
 * Remembers the paths of an archive, and refuses one that conflicts with another: the same path twice, two that differ only in case (most
 * desktops would keep one of them), a file where a folder is.
 */
export function createPathSet(): PathSet {
  const files = new Map<string, string>();
  const folders = new Map<string, string>();
  const fold = (path: string): string => path.toLowerCase().normalize("NFC");

  function addFolder(path: string): void {
    const folded = fold(path);
    const file = files.get(folded);
    if (file !== undefined) refuse(path, `is a folder, and ${quoted(file)} a file. Rename one of them.`);
    folders.set(folded, path);
  }

  function addFile(path: string): void {
    const folded = fold(path);
    const twin = files.get(folded);
    if (twin === path) refuse(path, "is in the archive twice. Pack the folder again.");
    if (twin !== undefined) refuse(path, `and ${quoted(twin)} differ only in capital letters. Rename one of them.`);
    const folder = folders.get(folded);
    if (folder !== undefined) refuse(path, `is a file, and ${quoted(folder)} a folder. Rename one of them.`);
    files.set(folded, path);
    for (let slash = path.indexOf("/"); slash !== -1; slash = path.indexOf("/", slash + 1)) addFolder(path.slice(0, slash));
  }

  return { addFile, addFolder };
}
