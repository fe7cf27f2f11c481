import { Parser } from "htmlparser2";
import type { Bytes } from "../../platform/archives/archive-bytes.ts";
import { Problem } from "../../platform/problem.ts";

/** Attributes by their names without prefix. */
export type Attributes = Readonly<Record<string, string>>;
/** Names come without prefix, which writers choose freely. */
export type XmlHandler = {
  open?: (name: string, attributes: Attributes) => void;
  text?: (text: string) => void;
  close?: (name: string) => void;
};

/** The most bytes of one tag, and the deepest elements: far more than any program writes. */
const tagBytesMax = 1_048_576;
const depthMax = 64;

/**
 * Reads XML as its bytes arrive, and yields what the handler emits. Refuses documents with a DTD, and so with entities, and with open tags at the end.
 *
 * @throws Problem `invalid_request`
 */
export async function* readXml<T>(bytes: Bytes, file: string, handlerOf: (emit: (item: T) => void) => XmlHandler): AsyncGenerator<T> {
  const wrong = (why: string): Problem => new Problem("invalid_request", `${file} is a damaged workbook: its XML ${why}. Save it again.`);
  let items: T[] = [];
  let [depth, pending, openedAt] = [0, 0, -1];
  const handler = handlerOf((item) => void items.push(item));
  const local = (name: string): string => name.slice(name.indexOf(":") + 1);
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        pending = 0;
        openedAt = parser.startIndex;
        if (++depth > depthMax) throw wrong("is too deep");
        const entries = Object.entries(attributes).map(([key, value]): [string, string] => [local(key), value]);
        handler.open?.(local(name), Object.fromEntries(entries));
      },
      ontext(text) {
        pending = 0;
        handler.text?.(text);
      },
      onclosetag(name, isImplied) {
        // The parser closes elements that have no end tag; it says the same of those that end themselves.
        if (isImplied && parser.startIndex !== openedAt) throw wrong("breaks off, or has tags in a wrong order");
        depth--;
        handler.close?.(local(name));
      },
      onprocessinginstruction(name) {
        if (name.startsWith("!")) throw wrong("has a document type, which no spreadsheet program writes");
      },
    },
    { xmlMode: true },
  );
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const decode = (chunk?: Uint8Array): string => {
    try {
      return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
    } catch {
      throw wrong("is not UTF-8");
    }
  };
  for await (const chunk of bytes) {
    pending += chunk.length;
    parser.write(decode(chunk));
    if (pending > tagBytesMax) throw wrong("has a tag that does not end");
    yield* items;
    items = [];
  }
  parser.write(decode());
  if (depth !== 0) throw wrong("breaks off");
  parser.end();
  yield* items;
}

/** All that a reader of a small document yields. The packed command runs on Node 20, which has no `Array.fromAsync`. */
export async function allOf<T>(read: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const one of read) all.push(one);
  return all;
}

/** Reads all of a small document. */
export async function forEachTag(bytes: Bytes, file: string, open: (name: string, attributes: Attributes) => void): Promise<void> {
  await allOf(readXml<never>(bytes, file, () => ({ open })));
}
