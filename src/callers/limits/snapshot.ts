import type { Cache } from "../../platform/cache.ts";
import { longestBanMs, newStrikes, setStrikes, type Strikes, strikesByTime, strikesWindowMs } from "./strikes.ts";
import { newWindows, type Window, type Windows } from "./windows.ts";

/** The most lines of one piece. */
const pieceLines = 1_000;
/** The most numbers in a line: two for each ms of the window of strikes. A longer line counts as damaged. */
const valuesMax = 2 * strikesWindowMs;

type Groups<V> = Record<string, Cache<number | string, V>>;

/**
 * Yields the entries as text, in pieces of a thousand lines. Each line is the JSON array of its kind, the group's name, the entry's key, and
 * numbers: those of a meter (`windows`), of a ban (`strikes`), or of the strikes (`struck`), each time with its count. Before 1.3.0 a line of
 * `strikes` also had the time of each strike.
 */
export function* snapshotEntries(meters: Groups<Windows>, strikes: Groups<Strikes>): Generator<string> {
  let piece: string[] = [];
  for (const entry of lines(meters, strikes)) {
    piece.push(entry);
    if (piece.length < pieceLines) continue;
    yield piece.join("");
    piece = [];
  }
  if (piece.length > 0) yield piece.join("");
}

function* lines(meters: Groups<Windows>, strikes: Groups<Strikes>): Generator<string> {
  for (const [name, entries] of Object.entries(meters)) {
    for (const [key, { minute, day }] of entries) yield line("windows", name, key, [...numbers(minute), ...numbers(day)]);
  }
  for (const [name, entries] of Object.entries(strikes)) {
    for (const [key, one] of entries) {
      yield line("strikes", name, key, [one.bannedAt, one.banMs]);
      if (one.times.length > 0) yield line("struck", name, key, strikesByTime(one).flat().slice(-valuesMax));
    }
  }
}

function line(kind: string, name: string, key: number | string, values: number[]): string {
  return `["${kind}","${name}",${JSON.stringify(key)},[${values.join(",")}]]\n`;
}

function numbers(window: Window): number[] {
  return [window.number, window.used, window.previousNumber, window.previousUsed];
}

/** Restores the entries of a snapshot's lines. Skips lines that are cut off, damaged or unknown. */
export function restoreEntries(meters: Groups<Windows>, strikes: Groups<Strikes>, saved: Iterable<string>): void {
  for (const text of saved) {
    const entry = parse(text);
    if (entry === undefined) continue;
    const { kind, name, key, values } = entry;
    if (kind === "windows" && values.length === 8) restoreWindows(entryOf(meters, name, key, newWindows), values);
    if (kind === "strikes" && values.length >= 2) restoreBan(entryOf(strikes, name, key, newStrikes), values);
    if (kind === "struck" && values.length % 2 === 0) restoreStrikes(entryOf(strikes, name, key, newStrikes), values);
  }
}

type Entry = { kind: unknown; name: string; key: number | string; values: number[] };

function parse(text: string): Entry | undefined {
  let fields: unknown;
  try {
    fields = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!Array.isArray(fields) || fields.length !== 4) return undefined;
  const [kind, name, key, values] = fields as unknown[];
  if (typeof name !== "string" || (typeof key !== "string" && typeof key !== "number")) return undefined;
  if (!Array.isArray(values) || values.length > valuesMax || !values.every(isCount)) return undefined;
  return { kind, name, key, values };
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

/** Returns the entry of a group, creating it if needed; undefined if there is no such group. */
function entryOf<V>(groups: Groups<V>, name: string, key: number | string, create: () => V): V | undefined {
  const group = Object.hasOwn(groups, name) ? groups[name] : undefined;
  return group && (group.peek(key) ?? group.set(key, create()));
}

function restoreWindows(windows: Windows | undefined, values: number[]): void {
  if (windows === undefined) return;
  restoreWindow(windows.minute, values);
  restoreWindow(windows.day, values.slice(4));
}

function restoreWindow(window: Window, [number = 0, used = 0, previousNumber = 0, previousUsed = 0]: number[]): void {
  Object.assign(window, { number, used, previousNumber, previousUsed });
}

function restoreBan(strikes: Strikes | undefined, [bannedAt = 0, banMs = 0, ...times]: number[]): void {
  if (strikes === undefined) return;
  Object.assign(strikes, { bannedAt, banMs: Math.min(banMs, longestBanMs) });
  setStrikes(
    strikes,
    times.map((time) => [time, 1]),
  );
}

function restoreStrikes(strikes: Strikes | undefined, values: number[]): void {
  if (strikes)
    setStrikes(
      strikes,
      Array.from({ length: values.length / 2 }, (_, i) => [values[2 * i]!, values[2 * i + 1]!]),
    );
}
