/** Returns the list with the entry `id` moved to the index `to`, or in its old order if there is no such entry. */
export function movedTo<T extends { id: number }>(list: readonly T[], id: number, to: number): T[] {
  const others = list.filter((one) => one.id !== id);
  const moved = list.filter((one) => one.id === id);
  return others.toSpliced(Math.max(0, Math.min(to, others.length)), 0, ...moved);
}
