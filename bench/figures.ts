/** One row of the table: the measurement, its comparison and its goal. */
export type Figure = {
  /** Identifies the committed row: lower case with dashes, and never changed. */
  id: string;
  what: string;
  /** Our figure and the one it is compared with, in `unit`: medians of the same run. */
  ours: number;
  against: number;
  unit: string;
  /** ours / against: the median of `rounds`. */
  ratio: number;
  /** ours / against of each round. Their spread shows how exactly the machine can measure. */
  rounds: number[];
  /** As `≥ 0.5` or `≤ 1.2`. */
  goal: string;
  /** What a machine must have to measure it, if not all that can run the bench have it. */
  needs?: string;
};

/** Measures rows one after another. `isQuick` asks for a smaller measurement, if the suite has one. */
export type Suite = (options: { isQuick: boolean }) => AsyncIterable<Figure>;

/** The measured part of a row, to which the suite adds the names and the goal. */
export type Measured = Pick<Figure, "ours" | "against" | "ratio" | "rounds">;

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted[Math.floor(sorted.length / 2)];
  if (middle === undefined) throw new Error("nothing was measured");
  return middle;
}

/** Parses a goal: `≥` means that more is better. @throws Error if the goal has another form */
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

/** Compares two measurements in alternating rounds, so that a slow machine slows both. The first round is for warm-up. */
export async function measureAlternately(rounds: number, ours: () => Promise<number>, against: () => Promise<number>): Promise<Measured> {
  const pairs: [number, number][] = [];
  for (let round = 0; round <= rounds; round++) {
    const theirs = await against();
    const mine = await ours();
    if (round > 0) pairs.push([mine, theirs]);
  }
  return ofPairs(pairs);
}

/** Summarizes rounds: pairs of our figure and the one it is compared with. */
export function ofPairs(pairs: [ours: number, against: number][]): Measured {
  const rounds = pairs.map(([mine, theirs]) => mine / theirs);
  return { ours: median(pairs.map(([mine]) => mine)), against: median(pairs.map(([, theirs]) => theirs)), ratio: median(rounds), rounds };
}

/** A row whose rounds are compared with a fixed bound. */
export function atMost(id: string, what: string, ours: number | number[], bound: number, unit: string): Figure {
  return { ...withBound(id, what, [ours].flat(), bound, unit), goal: "≤ 1" };
}

/** The same for a figure of which more is better. */
export function atLeast(id: string, what: string, ours: number[], bound: number, unit: string): Figure {
  return { ...withBound(id, what, ours, bound, unit), goal: "≥ 1" };
}

function withBound(id: string, what: string, ours: number[], bound: number, unit: string): Omit<Figure, "goal"> {
  const pairs = ours.map((value): [number, number] => [value, bound]);
  return { id, what: `${what} / ${bound.toLocaleString("en")} ${unit}`, ...ofPairs(pairs), unit };
}
