import { formatNumber, texts } from "../texts/texts.ts";
import { filesReadMax, packagesFolder, siteLimits, type SiteFile } from "./site.ts";

/** The source of a deployment: all files of a folder, and the paths of folders that were not read; or an archive. */
export type Chosen = { kind: "folder"; files: SiteFile[]; leftOut: string[] } | { kind: "archive"; file: File };

const words = texts.projects.upload;
const isArchive = ({ name }: { name: string }): boolean => /\.(tar\.gz|tgz|zip)$/i.test(name);

/** Reads a folder chosen by a button. Removes the folder's own name, with which the browser's paths begin. */
export function chosenFolder(list: FileList): Chosen {
  if (list.length > filesReadMax) throw new Error(words.tooManyFiles(formatNumber(siteLimits.filesMax)));
  const files = Array.from(list, (file): SiteFile => ({ path: file.webkitRelativePath.replace(/^[^/]*\//, ""), file }));
  return { kind: "folder", files, leftOut: [] };
}

/** @throws Error with a message for people if the name is not that of an archive */
export function chosenArchive(file: File): Chosen {
  if (!isArchive(file)) throw new Error(words.neither(file.name));
  return { kind: "archive", file };
}

/**
 * Reads dropped items: an archive, a folder, or the contents of one. Call it in the drop event: the browser clears the items afterwards.
 *
 * @throws Error with a message for people
 */
export async function chosenByDrop(items: DataTransferItemList): Promise<Chosen> {
  const entries = Array.from(items, (item) => (item.kind === "file" ? item.webkitGetAsEntry() : null)).filter((entry) => entry !== null);
  const [first] = entries;
  if (!first) throw new Error(words.nothingDropped);
  if (entries.length === 1 && isFileEntry(first)) return chosenArchive(await fileOf(first));
  const top = entries.length === 1 && isFolderEntry(first) ? await entriesIn(first) : entries;
  const files: SiteFile[] = [];
  const leftOut: string[] = [];
  const waiting = top.map((entry) => ({ path: entry.name, entry }));
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { path, entry } = next;
    if (entry.name === packagesFolder || path === ".git") {
      leftOut.push(path);
      continue;
    }
    if (isFileEntry(entry)) files.push({ path, file: await fileOf(entry) });
    else if (isFolderEntry(entry)) {
      waiting.push(...(await entriesIn(entry)).map((inner) => ({ path: `${path}/${inner.name}`, entry: inner })));
    }
    if (files.length + waiting.length > filesReadMax) throw new Error(words.tooManyFiles(formatNumber(siteLimits.filesMax)));
  }
  return { kind: "folder", files, leftOut };
}

const isFileEntry = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile;
const isFolderEntry = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory;

function fileOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((done, failed) => entry.file(done, failed));
}

/** Browsers return the entries of a folder in parts; an empty part is the end. */
async function entriesIn(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const entries: FileSystemEntry[] = [];
  for (;;) {
    const part = await new Promise<FileSystemEntry[]>((done, failed) => reader.readEntries(done, failed));
    entries.push(...part);
    if (part.length === 0 || entries.length > filesReadMax) return entries;
  }
}
