/** One row of the table: what was measured, how it compares, and what it must reach. */
export type Figure = {
  /** Finds the committed row: lower case, with dashes, never changed. */
  id: string;
  what: string;
  /** Ours, and what it is compared with, in `unit`: medians of the same run. */
  ours: number;
  against: number;
  unit: string;
  /** ours / against: the median of `rounds`. */
  ratio: number;
  /** ours / against of each round. How far they lie apart shows what the machine can measure. */
  rounds: number[];
  /** As `≥ 0.5` or `≤ 1.2`. */
  goal: string;
};

/** Measures rows one after the other. `isQuick` asks for a smaller measurement, where a suite has one. */
export type Suite = (options: { isQuick: boolean }) => AsyncIterable<Figure>;

/** What measuring a row finds; its suite adds the names and the goal. */
export type Measured = Pick<Figure, "ours" | "against" | "ratio" | "rounds">;

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted[Math.floor(sorted.length / 2)];
  if (middle === undefined) throw new Error("nothing was measured");
  return middle;
}

/** Whether more is better, as `≥` says, and the bound. @throws Error if the goal has another form */
export function parseGoal(goal: string): { isMoreBetter: boolean; bound: number } {
  const [, sign, bound] = /^([≥≤]) (\d+(?:\.\d+)?)$/.exec(goal) ?? [];
  if (sign === undefined) throw new Error(`"${goal}" is no goal: write it as "≥ 0.5" or "≤ 1.2"`);
  return { isMoreBetter: sign === "≥", bound: Number(bound) };
}

/** Whether a figure reaches its goal. */
export function reaches({ ratio, goal }: Pick<Figure, "ratio" | "goal">): boolean {
  const { isMoreBetter, bound } = parseGoal(goal);
  return isMoreBetter ? ratio >= bound : ratio <= bound;
}

/** Compares two measurements in alternating rounds, after one round that does not count: a machine that slows down slows both. */
export async function byTurns(rounds: number, ours: () => Promise<number>, against: () => Promise<number>): Promise<Measured> {
  const pairs: [number, number][] = [];
  for (let round = 0; round <= rounds; round++) {
    const theirs = await against();
    const mine = await ours();
    if (round > 0) pairs.push([mine, theirs]);
  }
  return ofPairs(pairs);
}

/** The figures of rounds that were measured elsewhere: ours and what it is compared with. */
export function ofPairs(pairs: [ours: number, against: number][]): Measured {
  const rounds = pairs.map(([mine, theirs]) => mine / theirs);
  return { ours: median(pairs.map(([mine]) => mine)), against: median(pairs.map(([, theirs]) => theirs)), ratio: median(rounds), rounds };
}

/** A row whose rounds are compared with a fixed figure. */
export function atMost(id: string, what: string, ours: number | number[], bound: number, unit: string): Figure {
  const pairs = [ours].flat().map((value): [number, number] => [value, bound]);
  return { id, what: `${what} / ${bound.toLocaleString("en")} ${unit}`, ...ofPairs(pairs), unit, goal: "≤ 1" };
}
