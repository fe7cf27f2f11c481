/** The files of an upload that are not published: how many, and the paths of the first. */
export type LeftOut = { count: number; paths: string[] };

/** The most names of left-out files that a deployment, the command line and the dashboard list. */
export const leftOutShownMax = 20;

/** What systems add to folders and archives, beside hidden files. */
const ofSystems = new Set(["__macosx", "thumbs.db", "desktop.ini"]);

/**
 * Whether a path of a folder or an archive is left out of a deployment: hidden files and folders, such as `.git` and `.env`, and what systems
 * add, such as `__MACOSX` and `._index.html`. `.well-known` at the top is published (RFC 8615).
 */
export function isLeftOut(path: string): boolean {
  return path
    .split("/")
    .some((name, depth) => (name.startsWith(".") && !(depth === 0 && name === ".well-known")) || ofSystems.has(name.toLowerCase()));
}
