export type ByteRange = { start: number; end: number };

/**
 * Parses a Range header with a single range (RFC 9110, section 14); `end` is the last byte. Returns undefined if the whole file is to be
 * sent: for another unit, several ranges or an invalid header. Returns `unsatisfiable` if the range begins after the end of the file.
 */
export function parseRange(header: string, size: number): ByteRange | "unsatisfiable" | undefined {
  const parts = /^bytes\s*=\s*(\d*)-(\d*)\s*$/i.exec(header);
  if (parts === null) return undefined;
  const [, first = "", last = ""] = parts;
  if (first === "" && last === "") return undefined;
  if (first === "") {
    const length = Number(last);
    if (length === 0) return "unsatisfiable";
    // The last bytes of an empty file are all that it has (RFC 9110, 14.1.2); a 206 could not name them.
    return size === 0 ? undefined : { start: Math.max(0, size - length), end: size - 1 };
  }
  const start = Number(first);
  if (last !== "" && Number(last) < start) return undefined;
  return start >= size ? "unsatisfiable" : { start, end: last === "" ? size - 1 : Math.min(Number(last), size - 1) };
}
