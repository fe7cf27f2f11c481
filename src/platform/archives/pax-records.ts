import { UnreadableArchive } from "./archive-entry.ts";

const ofPiece = new Set(["GNU.sparse.offset", "GNU.sparse.numbytes"]);
const [space, equals, newline] = [0x20, 0x3d, 0x0a];

/**
 * Parses the records of a pax header, `LENGTH KEY=VALUE\n` each, in linear time. Of two with one key the last counts. The offsets and lengths of
 * sparse files, whose keys repeat (form 0.0), are added to `pieces` in their order, and do not count as keys.
 *
 * @throws UnreadableArchive
 */
export function parsePax(content: Buffer, keysMax: number, pieces: string[] = []): Map<string, string> {
  const records = new Map<string, string>();
  let count = 0;
  for (let at = 0, end = 0; at < content.length; at = end) {
    const digits = content.toString("latin1", at, at + 7).split(" ", 1)[0]!;
    end = at + (/^\d{1,6}$/.test(digits) ? Number(digits) : 0);
    const keyAt = at + digits.length + 1;
    const valueAt = content.subarray(0, end).indexOf(equals, keyAt) + 1;
    if (content[keyAt - 1] !== space || valueAt <= keyAt + 1 || content[end - 1] !== newline) {
      throw new UnreadableArchive("has a pax header that cannot be read");
    }
    const [key, value] = [content.toString("utf8", keyAt, valueAt - 1), content.toString("utf8", valueAt, end - 1)];
    if (ofPiece.has(key)) pieces.push(value);
    else if (++count > keysMax) throw new UnreadableArchive(`has a pax header with more than ${keysMax} keys`);
    else records.set(key, value);
  }
  return records;
}

/** The bytes that records take in a header, without their lengths. */
export function bytesOfPax(records: ReadonlyMap<string, string>): number {
  let bytes = 0;
  for (const [key, value] of records) bytes += Buffer.byteLength(key) + Buffer.byteLength(value) + 3;
  return bytes;
}
