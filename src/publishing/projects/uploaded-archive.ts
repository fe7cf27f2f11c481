import { open } from "node:fs/promises";
import type { ArchiveEntry, Bytes } from "../../platform/archives/archive-bytes.ts";
import { gunzipped } from "../../platform/archives/byte-reader.ts";
import { readTar } from "../../platform/archives/tar-reader.ts";
import { isZip, readZip } from "../../platform/archives/zip-reader.ts";
import { openTurns } from "../../platform/event-loop.ts";
import { isLeftOut } from "../../platform/left-out.ts";
import { stageFile } from "./content.ts";
import { projectFileName } from "./project-file.ts";

/**
 * Reads the entries of a gzipped tar or of a zip file, as its first bytes say, whatever its media type. A zip file is read from its end, so it is
 * first copied to `incoming`.
 *
 * @throws UnreadableArchive
 */
export async function* readUpload(
  packed: Bytes,
  incoming: string,
  entriesMax: number,
  limitUnpacked: (unpacked: Bytes) => Bytes,
): AsyncGenerator<ArchiveEntry> {
  const chunks = packed[Symbol.asyncIterator]();
  let begin: Uint8Array = new Uint8Array();
  while (begin.length < 4) {
    const step = await chunks.next();
    if (step.done === true) break;
    begin = Buffer.concat([begin, step.value]);
  }
  async function* all(): AsyncGenerator<Uint8Array> {
    yield begin;
    yield* { [Symbol.asyncIterator]: () => chunks };
  }
  if (!isZip(begin)) {
    yield* readTar(limitUnpacked(gunzipped(all())), entriesMax);
    return;
  }

  const { temporary, size } = await stageFile(incoming, all());
  await using file = await open(temporary);
  async function read(position: number, bytes: number): Promise<Uint8Array> {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, position);
    return buffer.subarray(0, bytesRead);
  }
  yield* withoutTopFolder(await readZip({ size, read }, entriesMax, openTurns()));
}

/** Windows and macOS put the folder that was compressed into the zip file, with `petstore.json` inside it. */
function withoutTopFolder(entries: ArchiveEntry[]): ArchiveEntry[] {
  const names = entries.map(({ name }) => name).filter((name) => !isLeftOut(name));
  const top = names[0]?.slice(0, names[0].indexOf("/") + 1) ?? "";
  if (!/^[^./]/.test(top) || !names.includes(top + projectFileName) || !names.every((name) => name.startsWith(top))) return entries;
  return entries.map((entry) => (entry.name.startsWith(top) ? { ...entry, name: entry.name.slice(top.length) || "./" } : entry));
}
