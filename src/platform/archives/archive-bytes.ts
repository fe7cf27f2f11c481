// Browsers load this file too, so nothing of Node is imported here.

export type Bytes = AsyncIterable<Uint8Array>;

/** What an entry of an archive is; `unknown` is what neither POSIX nor the format defines. */
export type EntryType = "file" | "link" | "symlink" | "character-device" | "block-device" | "directory" | "fifo" | "unknown";

/** An entry of an archive. Read its content before the next entry. */
export type ArchiveEntry = { name: string; type: EntryType; size: number; content: Bytes };

/** Why an archive cannot be read, as the end of a sentence that begins with the archive: "is not a complete gzip file". */
export class UnreadableArchive extends Error {
  override name = "UnreadableArchive";
}
