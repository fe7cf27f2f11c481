import type { Random } from "./random.ts";

/** Pieces that have made parsers, patterns, case folding or look-ups slow. A text repeats one, often with an unexpected start and end. */
const pieces = "a A 0 9 - . , ; = / : % & + * _ @ # ? \\ ( [ { < | ~ é ß ﷺ ﬃ İ Ⅷ 가 🐕 e\u0301 \u0301 \u0323 \u200d \u202e"
  .split(" ")
  .concat(
    "\t",
    " ",
    "  ",
    ", ",
    "a,",
    "a;",
    "a=b;",
    "a=b&",
    "x ;q=0.1,",
    "0,0-",
    "../",
    "a.",
    "a-",
    "xn--a.",
    "1e",
    "\\u0041",
    "%C3%A9",
    'W/"a",',
  );
const ends = ["", "x", "!", "\0", " ", "\ud800", '"', ",", "=", ".", "-", "z\u0301"];

/** A text of about `bytes` bytes of UTF-8. */
export function hostileText(random: Random, bytes: number): string {
  const piece = random.pick(pieces);
  const body = piece.repeat(Math.max(1, Math.floor(bytes / Buffer.byteLength(piece))));
  return (random.chance(0.2) ? random.pick(ends) : "") + body + random.pick(ends);
}

/** Like `hostileText`, for a header's value or a URL: without characters that end the line. */
export function hostileLine(random: Random, bytes: number): string {
  return Buffer.from(hostileText(random, bytes).replaceAll(/[\0\r\n]/g, "")).toString("latin1");
}

/** Valid or nearly valid JSON of about `bytes` bytes. */
export function hostileJson(random: Random, bytes: number, sample: unknown): string {
  const value = random.pick(jsonKinds)(random, bytes, sample);
  return random.chance(0.05) ? value + random.pick(["x", "}", ",", "\0"]) : value;
}

const jsonKinds: ((random: Random, bytes: number, sample: unknown) => string)[] = [
  (random, bytes, sample) => JSON.stringify(withText(random, sample, hostileText(random, bytes))),
  (random, bytes, sample) => JSON.stringify(withText(random, sample, hostileText(random, random.pick([100, 200, 600, 2_000, bytes])))),
  (random, bytes, sample) => escaped(withText(random, sample, "a".repeat(Math.floor(bytes / 6)))),
  (random, bytes, sample) => withRaw(random, sample, random.pick(["", "-", "0.", "1e"]) + "9".repeat(bytes)),
  (random, bytes, sample) => withRaw(random, sample, `"2026-12-24T10:00:00.${"9".repeat(bytes)}Z"`),
  (random, bytes, sample) => withRaw(random, sample, repeated("[", "]", random.pick([30, 1_000, bytes / 2]))),
  (random, bytes, sample) => withRaw(random, sample, repeated('{"a":', "}", random.pick([30, 1_000, bytes / 7]))),
  (random, bytes, sample) => withRaw(random, sample, `[${filled(random.pick(["0", "{}", "[]", '""', "null", '{"a":1}', "1e9"]), bytes)}]`),
  (random, bytes) => `{${counted(bytes, (i) => `"${random.pick(["a", "__proto__", "name", "é"])}${i}":${i}`)}}`,
  (random, bytes) => `{${filled(random.pick(['"name":"a"', '"__proto__":{}', '"id":1', '"":0']), bytes)}}`,
  (random, bytes) => `[${filled(random.pick(["0", "{}", "[]", '{"name":"a","categoryId":1}', '"a"', '{"a":{"b":{}}}']), bytes)}]`,
  (_random, bytes, sample) => " ".repeat(bytes / 2) + JSON.stringify(sample) + " ".repeat(bytes / 2),
  (random, bytes) => hostileText(random, bytes),
];

/** The sample with one of its values replaced. */
function withRaw(random: Random, sample: unknown, raw: string): string {
  const marker = "\u0001";
  return JSON.stringify(withText(random, sample, marker)).replace(JSON.stringify(marker), () => raw);
}

function withText(random: Random, sample: unknown, text: string): unknown {
  if (Array.isArray(sample)) return [withText(random, sample[0], text), ...(sample.slice(1) as unknown[])];
  if (typeof sample !== "object" || sample === null) return text;
  const names = Object.keys(sample);
  const name = random.chance(0.1) ? "unknown" : random.pick(names.length > 0 ? names : ["name"]);
  if (random.chance(0.05)) return { ...sample, [text]: 1 };
  return { ...sample, [name]: text };
}

function escaped(value: unknown): string {
  return JSON.stringify(value).replaceAll("a", String.raw`\u0061`);
}

function repeated(open: string, close: string, depth: number): string {
  return open.repeat(depth) + (open === "[" ? "" : "1") + close.repeat(depth);
}

function filled(item: string, bytes: number): string {
  const count = Math.max(1, Math.floor(bytes / (item.length + 1)));
  return `${item},`.repeat(count - 1) + item;
}

function counted(bytes: number, item: (index: number) => string): string {
  const items: string[] = [];
  for (let i = 0, length = 0; length < bytes; i++) {
    items.push(item(i));
    length += items[i]!.length + 1;
  }
  return items.join(",");
}
