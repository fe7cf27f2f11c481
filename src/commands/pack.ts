import { readdir, readFile, stat } from "node:fs/promises";
import { join, sep } from "node:path";
import { buffer } from "node:stream/consumers";
import { createGzip } from "node:zlib";
import { pack } from "tar-stream";
import { Problem } from "../platform/problem.ts";
import { isLeftOut, leftOutShownMax } from "../platform/left-out.ts";

/** The limits of a deployment (specification 6.3): more is refused here before it is read into memory. */
const filesMax = 2_001; // petstore.json is not one of the 2,000
const fileBytesMax = 25 * 1_048_576;
const folderBytesMax = 200 * 1_048_576;

/**
 * Packs a folder as a gzipped tar, without hidden files, what systems add, and `node_modules`.
 *
 * @param warn called with a line for each probable mistake, and one that lists what is left out
 * @throws Problem `invalid_request` for what the service would refuse
 */
export async function packFolder(folder: string, warn: (line: string) => void): Promise<Buffer> {
  const { names, leftOut } = await filesIn(folder);
  if (leftOut.length > 0) warn(leftOutLine(leftOut));
  if (!names.includes("petstore.json"))
    throw new Problem("invalid_request", `${folder} has no petstore.json: \`petstore init\` creates one`);
  if (!names.includes("index.html") && !(await hasStorefront(folder))) warn(`${folder} has no index.html: its address will answer 404.`);
  const tar = pack();
  const packed = buffer(tar.pipe(createGzip()));
  for (const name of names) tar.entry({ name }, await readFile(join(folder, name)));
  tar.finalize();
  return packed;
}

/** @param count of all files that are left out, of which `names` may be the first */
export function leftOutLine(names: readonly string[], count = names.length): string {
  const shown = names.slice(0, leftOutShownMax);
  return `Left out: ${shown.join(", ")}${count > shown.length ? ` and ${count - shown.length} more` : ""}.`;
}

/** The files to publish, and those that are not; of whole folders that are not, the folder. */
async function filesIn(folder: string): Promise<{ names: string[]; leftOut: string[] }> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    throw new Problem("invalid_request", `${folder} cannot be read (${error.code ?? error.message})`);
  });
  const names: string[] = [];
  const leftOut = new Set<string>();
  let folderBytes = 0;
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    const name = path.slice(join(folder, sep).length).split(sep).join("/");
    if (entry.isDirectory()) continue;
    const [packages] = /^(?:.*\/)?node_modules(?=\/)/.exec(name) ?? [];
    if (packages !== undefined || isLeftOut(name)) {
      leftOut.add(packages ?? (name.startsWith(".git/") ? ".git" : name));
      continue;
    }
    if (!entry.isFile()) throw new Problem("invalid_request", `${path} is not a regular file: replace it with the file itself`);
    const { size } = await stat(path);
    if (size > fileBytesMax) throw new Problem("invalid_request", `${path} is over 25 MiB`);
    folderBytes += size;
    if (folderBytes > folderBytesMax) throw new Problem("invalid_request", `${folder} is over 200 MiB`);
    names.push(name);
    if (names.length > filesMax) throw new Problem("invalid_request", `${folder} has more than 2,000 files`);
  }
  return { names, leftOut: [...leftOut].toSorted((a, b) => (a < b ? -1 : 1)) };
}

/** Whether the service renders the pages. A file that is not JSON is for the service to refuse. */
async function hasStorefront(folder: string): Promise<boolean> {
  try {
    return (JSON.parse(await readFile(join(folder, "petstore.json"), "utf8")) as { storefront?: unknown }).storefront !== undefined;
  } catch {
    return false;
  }
}
