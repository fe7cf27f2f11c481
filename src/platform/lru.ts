export type Lru<V> = { get(key: string): V | undefined; set(key: string, value: V, weight: number): void; delete(key: string): void };

/** Keeps the most recently used values up to a total weight of `weightMax`, and does not keep a value heavier than that. */
export function createLru<V>(weightMax: number): Lru<V> {
  const kept = new Map<string, { value: V; weight: number }>();
  let total = 0;

  function remove(key: string): void {
    total -= kept.get(key)?.weight ?? 0;
    kept.delete(key);
  }

  function get(key: string): V | undefined {
    const entry = kept.get(key);
    if (entry === undefined) return undefined;
    kept.delete(key);
    kept.set(key, entry);
    return entry.value;
  }

  function set(key: string, value: V, weight: number): void {
    remove(key);
    if (weight > weightMax) return;
    kept.set(key, { value, weight });
    total += weight;
    for (const oldest of kept.keys()) {
      if (total <= weightMax) return;
      remove(oldest);
    }
  }

  return { get, set, delete: remove };
}
