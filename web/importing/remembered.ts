import type { Mapping } from "../../src/importing/mapping.ts";
import type { Known, LoadState, State } from "../../src/importing/state.ts";
import { texts } from "../texts/texts.ts";

/*
 * The state of imports between runs, in this browser's IndexedDB, by account and name. It corresponds to the state file of
 * `petstore import`.
 */

/** An import, by account and name. */
export type ImportName = { account: number; name: string };
export type Remembered = LoadState & { save: () => Promise<void> };

type Head = { batch: State["batch"]; mapping: Mapping; usedAt: number };
type StoredPet = Known & { sourceId: string };

/** The most imports kept for an account; the least recently used is deleted first. */
const importsMax = 20;
const heads = "imports";
const animals = "animals";

/** Opens the state of an import. `save` stores the changes since the last save, and the mapping. */
export async function openRemembered({ account, name }: ImportName, mapping: Mapping): Promise<Remembered> {
  const db = await openDatabase();
  const head = await done<Head | undefined>(db.transaction(heads).objectStore(heads).get([account, name]));
  const stored = await done<StoredPet[]>(
    db
      .transaction(animals)
      .objectStore(animals)
      .getAll(rangeOf([account, name])),
  );
  const known = new Map<string, Known>(stored.map(({ sourceId, petId, hash }) => [sourceId, { petId, hash }]));
  let unsaved = new Map<string, Known>();
  const state: Remembered = {
    batch: head?.batch ?? null,
    animals: {
      get: (sourceId) => known.get(sourceId),
      set: (sourceId, pet) => {
        known.set(sourceId, pet);
        unsaved.set(sourceId, pet);
      },
    },
    async save() {
      const transaction = db.transaction([heads, animals], "readwrite", { durability: "strict" });
      for (const [sourceId, { petId, hash }] of unsaved)
        transaction.objectStore(animals).put({ sourceId, petId, hash }, [account, name, sourceId]);
      const { batch } = state;
      transaction.objectStore(heads).put({ batch, mapping, usedAt: Date.now() } satisfies Head, [account, name]);
      unsaved = new Map();
      await committed(transaction);
    },
  };
  return state;
}

/** The mapping of an import's last run; undefined if there was none. */
export async function lastMapping({ account, name }: ImportName): Promise<Mapping | undefined> {
  const db = await openDatabase();
  return (await done<Head | undefined>(db.transaction(heads).objectStore(heads).get([account, name])))?.mapping;
}

/** Deletes the least recently used imports of an account until `importsMax` are left. */
export async function deleteOldest(account: number): Promise<void> {
  const db = await openDatabase();
  const transaction = db.transaction([heads, animals], "readwrite");
  const store = transaction.objectStore(heads);
  const [keys, values] = await Promise.all([
    done<[number, string][]>(store.getAllKeys(rangeOf([account]))),
    done<Head[]>(store.getAll(rangeOf([account]))),
  ]);
  const byAge = keys.map((key, index) => ({ key, usedAt: values[index]?.usedAt ?? 0 })).toSorted((a, b) => b.usedAt - a.usedAt);
  for (const { key } of byAge.slice(importsMax)) {
    store.delete(key);
    transaction.objectStore(animals).delete(rangeOf(key));
  }
  await committed(transaction);
}

/** The range of all keys with this prefix. It ends with `[]` because IndexedDB sorts an array after every number and string. */
function rangeOf(key: (number | string)[]): IDBKeyRange {
  return IDBKeyRange.bound(key, [...key, []]);
}

function openDatabase(): Promise<IDBDatabase> {
  const request = indexedDB.open("petstore-imports", 1);
  request.addEventListener("upgradeneeded", () => {
    request.result.createObjectStore(heads);
    request.result.createObjectStore(animals);
  });
  return done(request);
}

/** Resolves to a request's result. The caller knows its type, because it stored the value. */
function done<T>(request: Pick<IDBRequest<unknown>, "result" | "error"> & EventTarget): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener("success", () => resolve(request.result as T));
    request.addEventListener("error", () => reject(request.error ?? new Error(texts.importing.storageFailed)));
  });
}

function committed(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.addEventListener("complete", () => resolve());
    transaction.addEventListener("abort", () => reject(transaction.error ?? new Error(texts.importing.storageFailed)));
  });
}
