import { foldings, marks, normalised, unicodeVersion } from "./unicode.gen.ts";

/*
 * Unicode's toNFKC_Casefold (The Unicode Standard, 3.13, D147), of one version of Unicode whichever the runtime has, so that all releases of Node and
 * all browsers make the same keys (decision 0107). Of the runtime's normalisation it uses only what no later version of Unicode may change: that of
 * characters which the oldest supported runtime knows. Newer ones fold by the table, and stay where they are.
 */

type Tables = {
  /** What characters fold to, before they are normalised. */
  folded: Map<string, string>;
  /** Finds each character that folding may change. */
  changing: RegExp;
  /** Finds runs of characters that no normalisation changes, or that are too new to be normalised. */
  inactive: RegExp;
  /** A cache of what the characters of `changing` fold to. */
  memo: Map<string, string>;
};

let tables: Tables | undefined;

/** Stands for a run of inactive characters while the others are normalised: a noncharacter, which never changes nor composes. */
const standIn = "\uffff";

/** Returns what a text folds to: equal for texts that differ in case, in compatible forms of characters, or in characters that nobody sees. */
function foldText(text: string, pointsMax: number): string {
  tables ??= readTables();
  const { changing, memo } = tables;
  const folded = inForm(text, "NFD").replaceAll(changing, (character) => memo.get(character) ?? foldCharacter(character));
  const start = startOf(folded, 4 * pointsMax); // bounds the work: one character can fold to 18
  const composed = inForm(start, "NFC");
  return start === folded || composed.length >= 2 * pointsMax ? composed : inForm(folded, "NFC");
}

/** Returns the part of a text up to the first character of ASCII after `length`: no such character composes with what is before it. */
function startOf(text: string, length: number): string {
  const more = text.slice(length).search(/[\0-\x7f]/);
  return more < 0 ? text : text.slice(0, length + more);
}

/** Folds one character, as the property NFKC_Casefold is defined: until nothing changes. */
function foldCharacter(character: string): string {
  const { folded, memo } = (tables ??= readTables());
  for (let text = character; ;) {
    const next = inForm(Array.from(inForm(text, "NFKC"), (one) => folded.get(one) ?? one).join(""), "NFC");
    if (next === text) {
      memo.set(character, text);
      return text;
    }
    text = next;
  }
}

function inForm(text: string, form: "NFC" | "NFD" | "NFKC"): string {
  const { inactive } = (tables ??= readTables());
  const runs = text.match(inactive);
  if (runs === null) return text.normalize(form);
  const others = text.split(inactive).join(standIn).normalize(form).split(standIn);
  return others.map((part, i) => part + (runs[i] ?? "")).join("");
}

function readTables(): Tables {
  const folded = new Map<string, string>();
  const ranges: string[] = [];
  for (const entry of foldings.split(" ")) {
    const [, from = "", to = from, step, distance, sequence] = /^(\w+)(?:-(\w+))?(?:\/(2))?(?::(-?\w+)|=(.*))$/.exec(entry) ?? [];
    ranges.push(`${from}-${to}`);
    for (let point = parseInt(from, 16); point <= parseInt(to, 16); point += Number(step ?? 1)) {
      const points = distance === undefined ? pointsIn(sequence ?? "") : [point + parseInt(distance, 16)];
      folded.set(String.fromCodePoint(point), String.fromCodePoint(...points));
    }
  }
  const active = classOf(normalised);
  return {
    folded,
    changing: new RegExp(`[${active}${classOf(ranges.join(" "))}]`, "gu"),
    inactive: new RegExp(`[^\\0-\\x7f${active}]+`, "gu"),
    memo: new Map(),
  };
}

function pointsIn(sequence: string): number[] {
  return sequence === "" ? [] : sequence.split(".").map((point) => parseInt(point, 16));
}

/** Returns the inside of a character class of a regular expression. */
function classOf(ranges: string): string {
  return ranges.replaceAll(/\w+/g, (point) => `\\u{${point}}`).replaceAll(" ", "");
}

/** Letters by Unicode that people write as apostrophes: mostly U+02BC and U+02BB, and two that look like them. */
const apostrophes = "\u02B9\u02BB\u02BC\u02BD";
const singleQuotes = "\u2018\u2019\u201A\u201B\u2032\u2035\u2039\u203A\u2E32";
const doubleQuotes = "\u00AB\u00BB\u201C\u201D\u201E\u201F\u2033\u2036\u301D\u301E\u301F";
const dashes = "\u058A\u05BE\u2010\u2011\u2012\u2013\u2014\u2015\u2E3A\u2E3B\u301C";
let anyMark: RegExp | undefined;

/** Returns a folded text with the punctuation beyond ASCII as that of ASCII: quotes, apostrophes and dashes as such, anything else as a full stop. */
export function withPlainMarks(folded: string): string {
  anyMark ??= new RegExp(`[${classOf(marks)}${apostrophes}]`, "gu");
  return folded.replaceAll(anyMark, (mark) =>
    singleQuotes.includes(mark) || apostrophes.includes(mark) ? "'" : doubleQuotes.includes(mark) ? '"' : dashes.includes(mark) ? "-" : ".",
  );
}

/** Names the rules that make a stored key of a name; another text has all keys made anew at the next start. */
export const foldingVersion = `${unicodeVersion}/2`;

/**
 * Returns the key by which a name is sorted, compared and found: Unicode's NFKC_Casefold (specification 1.6).
 *
 * @param pointsMax how many characters of the key are needed; it may end after them
 */
export function normalize(name: string, pointsMax = Infinity): string {
  return isAscii.test(name) ? name.toLowerCase() : foldText(name, pointsMax);
}

/** Returns the key of releases before 1.2.0: NFKC, lower case. Emails and what mappings and files of earlier imports hold are still compared by it. */
export function earlierKey(text: string): string {
  return text.normalize("NFKC").toLowerCase();
}

const isAscii = /^[\0-\x7f]*$/;

/**
 * Returns the least key that is greater than all keys that begin with `prefix`, in the order of code points, which is that of
 * UTF-8 bytes; undefined if there is none.
 */
export function afterPrefix(prefix: string): string | undefined {
  const points = Array.from(prefix, (character) => character.codePointAt(0) ?? 0);
  while (points.at(-1) === 0x10ffff) points.pop();
  const last = points.pop();
  if (last === undefined) return undefined;
  return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1);
}
