/** One line of the table: what was measured, how it compares, and what it must reach. */
export type Figure = {
  what: string;
  /** Ours, and what it is held against, in `unit`; medians of the same run. */
  ours: number;
  against: number;
  unit: string;
  /** ours / against, round by round: the median. */
  ratio: number;
  /** As `≥ 0.5` or `≤ 1.2`. */
  goal: string;
};

export type Suite = () => Promise<Figure[]>;

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted[Math.floor(sorted.length / 2)];
  if (middle === undefined) throw new Error("nothing was measured");
  return middle;
}

/** Whether a figure reaches its goal. */
export function reaches({ ratio, goal }: Figure): boolean {
  const [sign, bound] = goal.split(" ");
  return sign === "≥" ? ratio >= Number(bound) : ratio <= Number(bound);
}

/** Compares two measurements by turns, `rounds` times after one that does not count: a machine that slows hits both. */
export async function byTurns(
  rounds: number,
  ours: () => Promise<number>,
  against: () => Promise<number>,
): Promise<Pick<Figure, "ours" | "against" | "ratio">> {
  const pairs: [number, number][] = [];
  for (let round = 0; round <= rounds; round++) {
    const theirs = await against();
    const mine = await ours();
    if (round > 0) pairs.push([mine, theirs]);
  }
  return {
    ours: median(pairs.map(([mine]) => mine)),
    against: median(pairs.map(([, theirs]) => theirs)),
    ratio: median(pairs.map(([mine, theirs]) => mine / theirs)),
  };
}
