import { rm } from "node:fs/promises";
import type { Readable } from "node:stream";
import { type ArchiveEntry, type Bytes, UnreadableArchive } from "../../platform/archives/archive-bytes.ts";
import { isGzippedType } from "../../platform/http/negotiation.ts";
import { isLeftOut, type LeftOut, leftOutShownMax } from "../../platform/left-out.ts";
import { Problem } from "../../platform/problem.ts";
import {
  compressFile,
  compressionEffort,
  encodings,
  type Encodings,
  flushContentFolders,
  type Manifest,
  openIncoming,
  publishFile,
  type StagedFile,
  stageFile,
} from "./content.ts";
import type { ClaimedFile, UnpackedSite } from "./deployments.ts";
import { parseProjectFile, type ProjectFile, projectFileBytesMax, projectFileName, quoted } from "./project-file.ts";
import { type Content, formName } from "./shared-content.ts";

const oneMiB = 1024 * 1024;

export type ArchiveLimits = {
  packedBytesMax: number;
  unpackedBytesMax: number;
  filesMax: number;
  /** Files, folders, and entries that are left out. */
  entriesMax: number;
  fileBytesMax: number;
  /** All paths together, which the edge keeps in memory. */
  pathBytesMax: number;
};
/** Specification 6.3. */
export const archiveLimits: ArchiveLimits = {
  packedBytesMax: 50 * oneMiB,
  unpackedBytesMax: 200 * oneMiB,
  filesMax: 2000,
  entriesMax: 10_000,
  fileBytesMax: 25 * oneMiB,
  pathBytesMax: 256 * 1024,
};

/** Tar headers, padding and bytes after the last entry: everything but the contents of files. */
const framingBytesMax = 32 * oneMiB;
/** Files of one archive that are compressed or wait for it. */
const compressedAtOnce = 2;
const publishedAtOnce = 8;
const compressedFromBytes = 512;

export type Unpacking = {
  content: Content;
  /** Claims all files, each content once, before any is published: from then on they are not removed. */
  claim: (files: ClaimedFile[]) => Promise<void>;
  /** Runs the compression of a file when it is the account's turn. */
  compressInTurn: (compress: () => Promise<Encodings>) => Promise<Encodings>;
  /** Ends the unpacking early, with its reason. */
  signal: AbortSignal;
};

/**
 * Unpacks a gzipped tar or a zip file into the content folder and returns its contents. Names in the archive never become names on the disk. Stops
 * at the first entry that breaks a rule, so a decompression bomb is refused as soon as it passes a limit, and has written only to its incoming folder.
 *
 * @throws Problem that names the entry and what to change
 */
export async function unpackArchive(packed: Readable, unpacking: Unpacking, limits: ArchiveLimits = archiveLimits): Promise<UnpackedSite> {
  const { content, claim, signal } = unpacking;
  const incoming = await openIncoming(content.folder);
  const end = (): void => void packed.destroy(signal.reason as Error);
  signal.addEventListener("abort", end);
  try {
    const { projectFile, staged, leftOut } = await readEntries(packed, incoming, signal, limits);
    await claim(
      Array.from(new Map(Array.from(staged.values(), (file) => [file.hash, file])).values(), ({ hash, size }) => ({ hash, size })),
    );
    const manifest = await publishStaged(staged, unpacking, incoming);
    return { projectFile, manifest, files: manifest.size, bytes: sum(Array.from(manifest.values(), (file) => file.size)), leftOut };
  } catch (error) {
    throw error instanceof UnreadableArchive ? asRefusal(error) : error;
  } finally {
    signal.removeEventListener("abort", end);
    packed.destroy();
    await rm(incoming, { recursive: true, force: true });
  }
}

async function readEntries(
  packed: Bytes,
  incoming: string,
  signal: AbortSignal,
  limits: ArchiveLimits,
): Promise<{ projectFile: ProjectFile; staged: Map<string, StagedFile>; leftOut: LeftOut }> {
  const paths = createPathSet();
  const staged = new Map<string, StagedFile>();
  const leftOut: LeftOut = { count: 0, paths: [] };
  let projectFile: ProjectFile | undefined;
  let bytes = 0;
  let pathBytes = 0;
  const { readUpload } = await import("./uploaded-archive.ts");
  const limited = limitPacked(packed, limits.packedBytesMax);
  const limit = (unpacked: Bytes): Bytes => limitUnpacked(unpacked, limits.unpackedBytesMax);
  for await (const entry of readUpload(limited, incoming, limits.entriesMax, limit)) {
    signal.throwIfAborted();
    const path = publishedPath(entry.name);
    if (isLeftOut(path)) {
      // limitUnpacked counts its bytes in a tar; those of a zip file are not read
      if (entry.type !== "directory" && ++leftOut.count <= leftOutShownMax) leftOut.paths.push(path);
      continue;
    }
    refuseOtherTypes(entry, path);
    if (entry.type === "directory") {
      if (path !== "") paths.addFolder(path);
      continue;
    }
    paths.addFile(path);
    pathBytes += Buffer.byteLength(path);
    if (pathBytes > limits.pathBytesMax) refusePaths(limits.pathBytesMax);
    const { size } = entry;
    bytes += size;
    if (size > limits.fileBytesMax) refuse(`${quoted(path)} has ${inMiB(size)}; the limit is ${inMiB(limits.fileBytesMax)} a file.`);
    if (bytes > limits.unpackedBytesMax) refuseUnpacked(limits.unpackedBytesMax);
    if (path === projectFileName) {
      if (size > projectFileBytesMax) refuse(`${projectFileName} has ${inMiB(size)}; the limit is ${projectFileBytesMax / 1024} KiB.`);
      projectFile = parseProjectFile(Buffer.concat(await Array.fromAsync(entry.content)));
    } else {
      if (staged.size === limits.filesMax) refuse(`The archive has more than ${limits.filesMax} files.`);
      staged.set(path, await stageFile(incoming, entry.content));
    }
  }
  return { projectFile: projectFile ?? refuseMissing(staged), staged, leftOut };
}

function refuseOtherTypes({ type }: ArchiveEntry, path: string): void {
  if (type === "directory" || (type === "file" && path !== "")) return;
  if (type === "symlink" || type === "link") refuse(`${quoted(path)} is a link. Put the file itself in its place.`);
  refuse(`${quoted(path)} is neither a file nor a folder (${type === "unknown" ? "an unknown kind" : type}). Leave it out.`);
}

function refuseMissing(staged: Map<string, StagedFile>): never {
  const nested = [...staged.keys()].find((path) => path.toLowerCase().endsWith(projectFileName));
  const found =
    nested === undefined
      ? ""
      : ` There is ${quoted(nested)}: pack what is inside the folder, not the folder itself, and name the file in lower case.`;
  refuse(`The archive has no ${projectFileName} at its top.${found}`);
}

async function publishStaged(
  staged: Map<string, StagedFile>,
  { content, compressInTurn, signal }: Unpacking,
  incoming: string,
): Promise<Manifest> {
  const { contentTypeOf, isCompressible } = await import("./content-types.ts");
  const { folder } = content;
  const manifest: Manifest = new Map();
  for (const [path, { hash, size }] of staged) manifest.set(path, { hash, size, type: contentTypeOf(path), encodings: {} });
  const unique = new Map(Array.from(staged.values(), (file) => [file.hash, file]));
  const known = await content.known([...unique.keys()]);
  await eachAtOnce(publishedAtOnce, unique.values(), (file) => publishFile(folder, file));

  const compressible = Array.from(manifest)
    .filter(([path, { size, type }]) => size >= compressedFromBytes && isCompressible(type) && !isGzippedType(path))
    .map(([, file]) => file);
  const effort = compressionEffort(sum(compressible.map((file) => file.size)));
  const byHash = Map.groupBy(compressible, (file) => file.hash);
  await eachAtOnce(compressedAtOnce, byHash.values(), async (same) => {
    signal.throwIfAborted();
    const { hash } = same[0]!;
    const made = await compressInTurn(() =>
      compressFile(folder, incoming, same[0]!, effort, (encoding) => known.get(formName(hash, encoding))),
    );
    for (const file of same) file.encodings = made;
  });
  await flushContentFolders(folder, unique.keys());
  signal.throwIfAborted();
  await eachAtOnce(publishedAtOnce, new Map(Array.from(manifest.values(), (file) => [file.hash, file])).values(), async (file) => {
    if (!known.has(file.hash)) await content.share(file.hash, undefined, file.size);
    for (const encoding of encodings) {
      const size = file.encodings[encoding];
      if (size === undefined || known.has(formName(file.hash, encoding))) continue;
      file.encodings[encoding] = await content.share(file.hash, encoding, size);
    }
  });
  return manifest;
}

async function eachAtOnce<T>(atOnce: number, items: Iterable<T>, work: (item: T) => Promise<void>): Promise<void> {
  const queue = items[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (let next = queue.next(); !next.done; next = queue.next()) await work(next.value);
  };
  const ended = await Promise.allSettled(Array.from({ length: atOnce }, worker));
  for (const end of ended) if (end.status === "rejected") throw end.reason;
}

async function* limitPacked(source: AsyncIterable<Uint8Array>, bytesMax: number): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of source) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw new Problem("payload_too_large", `The archive is larger than ${inMiB(bytesMax)} packed.`);
    yield chunk;
  }
}

async function* limitUnpacked(source: AsyncIterable<Uint8Array>, bytesMax: number): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of source) {
    bytes += chunk.length;
    if (bytes > bytesMax + framingBytesMax) refuseUnpacked(bytesMax);
    yield chunk;
  }
}

function asRefusal({ message }: UnreadableArchive): Problem {
  return new Problem(
    "invalid_request",
    `The archive ${message}. Pack the folder again, as a zip file or with \`tar -czf\`, and send all of it.`,
  );
}

function refusePaths(bytesMax: number): never {
  refuse(`The paths of the files are longer than ${bytesMax / 1024} KiB together. Shorten the names of folders and files.`);
}

function refuseUnpacked(bytesMax: number): never {
  refuse(`The archive is larger than ${inMiB(bytesMax)} unpacked.`);
}

function refuse(why: string): never {
  throw new Problem("invalid_request", why);
}

const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0);
const inMiB = (bytes: number): string => `${Math.ceil((bytes / oneMiB) * 10) / 10} MiB`;

export const pathBytesMax = 1024;
const segmentBytesMax = 255;
export const depthMax = 32;

function refusePath(name: string, why: string): never {
  throw new Problem("invalid_request", `${quoted(name)} ${why}`);
}

/**
 * Returns the path under which an archive's entry is published; the root is empty. Removes the `./` that `tar -C dir .` writes before
 * each name, and the slash after a folder's name. Composes Unicode (NFC), because macOS decomposes names and browsers do not.
 *
 * @throws Problem `invalid_request`
 */
function publishedPath(name: string): string {
  // Composing takes quadratic time. Decomposed, a path has at most 1.5 characters for each byte of its composed form.
  if (name.length > 1.5 * pathBytesMax) refusePath(name, `is longer than ${pathBytesMax} bytes. Shorten it.`);
  if (/\p{Cc}/u.test(name)) refusePath(name, "has a control character in its name. Rename it.");
  if (name.includes("\uFFFD")) refusePath(name, "has a name that is not UTF-8. Rename it.");
  if (name.includes("\\")) refusePath(name, "has a backslash in its name. Folders are separated by /.");
  if (name.startsWith("/") || /^[a-z]:\//i.test(name)) refusePath(name, "is an absolute path. Pack the folder with relative paths.");
  const path = name
    .replace(/^(?:\.\/)+/, "")
    .replace(/\/$/, "")
    .normalize("NFC");
  if (path === "" || path === ".") return "";
  const segments = path.split("/");
  for (const segment of segments) {
    if (segment === "..") refusePath(name, "leads out of the folder with `..`. Pack only what lies inside.");
    if (segment === "." || segment === "") refusePath(name, "has an empty step or `.` inside its path. Pack the folder with plain paths.");
    if (Buffer.byteLength(segment) > segmentBytesMax) refusePath(name, `has a part longer than ${segmentBytesMax} bytes. Shorten it.`);
  }
  if (Buffer.byteLength(path) > pathBytesMax) refusePath(name, `is longer than ${pathBytesMax} bytes. Shorten it.`);
  if (segments.length > depthMax) refusePath(name, `lies deeper than ${depthMax} folders. Move it up.`);
  return path;
}

type PathSet = { addFile(path: string): void; addFolder(path: string): void };

/**
 * Remembers the paths of an archive, and refuses one that conflicts with another: the same path twice, two that differ only in case (most
 * desktops would keep one of them), a file where a folder is.
 */
function createPathSet(): PathSet {
  const files = new Map<string, string>();
  const folders = new Map<string, string>();
  const fold = (path: string): string => path.toLowerCase().normalize("NFC");

  function addFolder(path: string): void {
    const folded = fold(path);
    const file = files.get(folded);
    if (file !== undefined) refusePath(path, `is a folder, and ${quoted(file)} a file. Rename one of them.`);
    folders.set(folded, path);
  }

  function addFile(path: string): void {
    const folded = fold(path);
    const twin = files.get(folded);
    if (twin === path) refusePath(path, "is in the archive twice. Pack the folder again.");
    if (twin !== undefined) refusePath(path, `and ${quoted(twin)} differ only in capital letters. Rename one of them.`);
    const folder = folders.get(folded);
    if (folder !== undefined) refusePath(path, `is a file, and ${quoted(folder)} a folder. Rename one of them.`);
    files.set(folded, path);
    for (let slash = path.indexOf("/"); slash !== -1; slash = path.indexOf("/", slash + 1)) addFolder(path.slice(0, slash));
  }

  return { addFile, addFolder };
}
