const editsMax = 2;

/** Whether two names differ by at most two edits: a character added, omitted or changed, or two neighbours swapped (Damerau–Levenshtein). */
export function isTypo(typed: string, meant: string): boolean {
  return editsBetween(typed, meant) <= editsMax;
}

/** The name that differs least, by at most two edits; the first of those that differ as little. */
export function nearest(typed: string, names: readonly string[]): string | undefined {
  const edits = new Map(names.map((name) => [name, editsBetween(typed, name)]));
  const least = Math.min(...edits.values());
  return least <= editsMax ? names.find((name) => edits.get(name) === least) : undefined;
}

/** How many edits make one name the other; infinitely many if their lengths alone differ by more than two. */
function editsBetween(typed: string, meant: string): number {
  if (Math.abs(typed.length - meant.length) > editsMax) return Infinity;
  let previous: number[] = [];
  let row = Array.from({ length: meant.length + 1 }, (_, column) => column);
  for (let line = 1; line <= typed.length; line++) {
    const above = row;
    const twoAbove = previous;
    row = [line];
    for (let column = 1; column <= meant.length; column++) {
      const same = typed[line - 1] === meant[column - 1];
      const swapped = line > 1 && column > 1 && typed[line - 1] === meant[column - 2] && typed[line - 2] === meant[column - 1];
      const cost = Math.min(above[column]! + 1, row[column - 1]! + 1, above[column - 1]! + (same ? 0 : 1));
      row.push(swapped ? Math.min(cost, twoAbove[column - 2]! + 1) : cost);
    }
    previous = above;
  }
  return row.at(-1)!;
}
