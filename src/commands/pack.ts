import { readdir, readFile, stat } from "node:fs/promises";
import { join, sep } from "node:path";
import { createGzip } from "node:zlib";
import { pack } from "tar-stream";
import { Problem } from "../platform/problem.ts";

/** What a deployment may hold (specification 6.3): more is refused here before it is read into memory. */
const filesMax = 2_001; // petstore.json is not one of the 2,000
const fileBytesMax = 25 * 1_048_576;
const folderBytesMax = 200 * 1_048_576;

/**
 * A folder as a gzipped tar; hidden files and `node_modules` stay out. Raises `invalid_request` for what the service would refuse anyway.
 *
 * @param warn hears of what is packed and hardly meant so
 */
export async function packFolder(folder: string, warn: (line: string) => void): Promise<Buffer> {
  const names = await filesIn(folder);
  if (!names.includes("petstore.json")) throw new Problem("invalid_request", `${folder} has no petstore.json: \`petstore init\` makes one`);
  if (!names.includes("index.html")) warn(`${folder} has no index.html: the address itself will answer 404.`);
  const tar = pack();
  const packed = Array.fromAsync(tar.pipe(createGzip()) as AsyncIterable<Buffer>);
  for (const name of names) tar.entry({ name }, await readFile(join(folder, name)));
  tar.finalize();
  return Buffer.concat(await packed);
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    throw new Problem("invalid_request", `${folder} cannot be read (${error.code ?? error.message})`);
  });
  const names: string[] = [];
  let folderBytes = 0;
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    const name = path.slice(join(folder, sep).length).split(sep).join("/");
    if (entry.isDirectory() || name.split("/").some((part) => part.startsWith(".") || part === "node_modules")) continue;
    if (!entry.isFile()) throw new Problem("invalid_request", `${path} is not a plain file: put the file itself in its place`);
    const { size } = await stat(path);
    if (size > fileBytesMax) throw new Problem("invalid_request", `${path} is over 25 MiB`);
    folderBytes += size;
    if (folderBytes > folderBytesMax) throw new Problem("invalid_request", `${folder} is over 200 MiB`);
    names.push(name);
    if (names.length > filesMax) throw new Problem("invalid_request", `${folder} has more than 2,000 files`);
  }
  return names;
}
