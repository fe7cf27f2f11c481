import type { Mapping } from "../../src/importing/mapping-schema.ts";
import { normalize } from "../../src/platform/folding.ts";
import { done } from "./remembered.ts";

/*
 * The mappings of the last imports in this browser, by account and source, so that nobody has to answer the same questions every month.
 */

type Stored = { mapping: Mapping; columns: readonly string[]; usedAt: number };

/** The most mappings kept for an account; the least recently used is deleted first. */
const keptMax = 20;
const mappings = "mappings";

/** Returns the mapping of the last import whose file had these columns, in any order; undefined if there is none. */
export async function recallMapping(account: number, columns: readonly string[]): Promise<Mapping | undefined> {
  const db = await openDatabase();
  if (db === undefined) return undefined;
  const stored = await done<Stored[]>(db.transaction(mappings).objectStore(mappings).getAll(rangeOf(account)));
  db.close();
  const key = keyOf(columns);
  return stored.toSorted((a, b) => b.usedAt - a.usedAt).find((one) => keyOf(one.columns) === key)?.mapping;
}

/** Keeps the mapping of an import, with the columns of its file, if the browser has room. */
export async function keepMapping(account: number, source: string, { mapping, columns, usedAt }: Stored): Promise<void> {
  const db = await openDatabase();
  if (db === undefined) return;
  const store = db.transaction(mappings, "readwrite").objectStore(mappings);
  try {
    await done(store.put({ mapping: { ...mapping, source }, columns, usedAt } satisfies Stored, [account, normalize(source)]));
    const keys = await done<IDBValidKey[]>(store.getAllKeys(rangeOf(account)));
    const ages = (await done<Stored[]>(store.getAll(rangeOf(account)))).map(({ usedAt: at }, index) => ({ at, key: keys[index]! }));
    for (const { key } of ages.toSorted((a, b) => b.at - a.at).slice(keptMax)) store.delete(key);
  } catch {
    // The next import asks again.
  } finally {
    db.close();
  }
}

/** The names of columns in a form to compare, without those that a reject file adds. */
function keyOf(columns: readonly string[]): string {
  const names = new Set(columns).difference(new Set(["", "line", "reason"]));
  return JSON.stringify([...names].toSorted());
}

/** All keys of an account: IndexedDB sorts an array after every number and string. */
function rangeOf(account: number): IDBKeyRange {
  return IDBKeyRange.bound([account], [account, []]);
}

/** Undefined where the browser keeps nothing, as in some private windows. */
async function openDatabase(): Promise<IDBDatabase | undefined> {
  const request = indexedDB.open("petstore-mappings", 1);
  request.addEventListener("upgradeneeded", () => request.result.createObjectStore(mappings));
  return done<IDBDatabase>(request).catch(() => undefined);
}
