/** A list with the entry of an id at another place; the others keep their order. Unchanged without that id. */
export function movedTo<T extends { id: number }>(list: readonly T[], id: number, to: number): T[] {
  const others = list.filter((one) => one.id !== id);
  const moved = list.filter((one) => one.id === id);
  return others.toSpliced(Math.max(0, Math.min(to, others.length)), 0, ...moved);
}
