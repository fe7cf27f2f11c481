import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseGoal, reaches, type Figure } from "./figures.ts";

/** The source of the table in docs/performance.md. */
const rowsPath = fileURLToPath(new URL("table.json", import.meta.url));
const documentPath = fileURLToPath(new URL("../docs/performance.md", import.meta.url));
/** In the order of the table. */
export const suiteNames = [
  "store",
  "peers",
  "paging",
  "limits",
  "postgres",
  "publishing",
  "edge",
  "domains",
  "dashboard",
  "pages",
  "lighthouse",
  "hostile",
  "backup",
  "growth",
  "upgrade",
  "light",
  "webhooks",
] as const;
/** Suites that run only if they are named, because they take long. They may have no rows yet. */
export const onlyNamed: readonly SuiteName[] = ["growth", "lighthouse"];
export type SuiteName = (typeof suiteNames)[number];

const place = /(<!-- table -->\n)[^]*?(<!-- end of table -->)/;

/** How much worse than the committed ratio a row may be before a check fails. */
export const tolerance = 0.15;
/** With at least this many rounds, a check ignores the lowest and the highest round. */
const manyRounds = 5;

/** A measured row as it is stored, with its suite and figures of three digits. */
export type Row = Omit<Figure, "rounds"> & { suite: SuiteName; lowest: number; highest: number };

export function readRows(): Row[] {
  return JSON.parse(readFileSync(rowsPath, "utf8")) as Row[];
}

export function rowOf(suite: SuiteName, { rounds, ...figure }: Figure): Row {
  const short = (value: number): number => Number(value.toPrecision(3));
  const { id, what, unit, goal, ours, against, ratio, needs } = figure;
  const [lowest, highest] = [short(Math.min(...rounds)), short(Math.max(...rounds))];
  const row = { suite, id, what, unit, goal, ours: short(ours), against: short(against), ratio: short(ratio), lowest, highest };
  return needs === undefined ? row : { ...row, needs };
}

/** Replaces a suite's rows in bench/table.json and docs/performance.md. */
export function keepRows(suite: SuiteName, rows: Row[]): void {
  const others = readRows().filter((row) => row.suite !== suite);
  const all = [...others, ...rows].toSorted((a, b) => suiteNames.indexOf(a.suite) - suiteNames.indexOf(b.suite));
  writeFileSync(rowsPath, `${JSON.stringify(all, undefined, 2)}\n`);
  writeFileSync(documentPath, withTable(readFileSync(documentPath, "utf8"), all));
}

/** Returns the page with its table replaced by one of these rows. The same rows give the same page. */
export function withTable(page: string, rows: Row[]): string {
  if (!place.test(page)) throw new Error("docs/performance.md has no place for the table");
  return page.replace(place, (_, begin: string, end: string) => `${begin}${[...headingLines, ...rows.map(lineOf)].join("\n")}\n${end}`);
}

export const headingLines = ["| what | ours | compared with | unit | ratio | goal | |", "|---|---|---|---|---|---|---|"];

export function lineOf(row: Row): string {
  const { what, ours, against, unit, ratio, lowest, highest, goal } = row;
  const rounds = lowest === highest ? "" : ` (${lowest.toFixed(2)}–${highest.toFixed(2)})`;
  const cells = [what, count(ours), count(against), unit, `${ratio.toFixed(2)}${rounds}`, goal, reaches(row) ? "reached" : "missed"];
  return `| ${cells.join(" | ")} |`;
}

function count(value: number): string {
  return value >= 100 ? value.toLocaleString("en", { maximumFractionDigits: 0 }) : String(value);
}

export type Finding = { outcome: "held" | "worse" | "unsure"; text: string };

/** What a committed row shows that was not measured. */
export function missingRow({ id, needs }: Row): Finding {
  if (needs !== undefined) return { outcome: "unsure", text: `${id}: needs ${needs}, which this machine lacks` };
  return { outcome: "worse", text: `${id}: is in bench/table.json, and was not measured` };
}

/** Compares a measured row with the committed one. It is worse, or held, only if nearly all of its rounds agree. */
export function compareRow(figure: Figure, committed: Row | undefined): Finding {
  const { id, goal, ratio, rounds } = figure;
  if (committed === undefined) return { outcome: "worse", text: `${id}: is not in bench/table.json; run the suite without --check` };
  const { isMoreBetter } = parseGoal(goal);
  const limit = committed.ratio * (isMoreBetter ? 1 - tolerance : 1 + tolerance);
  const isWorse = (value: number): boolean => (isMoreBetter ? value < limit : value > limit);
  const sorted = rounds.toSorted((a, b) => a - b).slice(...(rounds.length >= manyRounds ? [1, -1] : []));
  const [lowest = ratio, highest = ratio] = [sorted[0], sorted.at(-1)];
  const text = `${id}: ${ratio.toFixed(2)} (${lowest.toFixed(2)}–${highest.toFixed(2)}), committed ${committed.ratio.toFixed(2)}, limit ${limit.toFixed(2)}`;
  if (isWorse(isMoreBetter ? highest : lowest)) return { outcome: "worse", text };
  if (isWorse(isMoreBetter ? lowest : highest)) return { outcome: "unsure", text };
  return { outcome: "held", text };
}
