import type { Mapping } from "../../src/importing/mapping-schema.ts";
import type { KnownPet, Memory } from "../../src/importing/memory.ts";

/*
 * What releases before 1.2 remembered of imports in this browser's IndexedDB, by account and name. It is handed to the service once, then deleted.
 */

/** An import of an earlier release, by account and name. */
export type ImportName = { account: number; name: string };
type Head = { batch: Memory["batch"]; mapping: Mapping };
type StoredPet = KnownPet & { sourceId: string };

const heads = "imports";
const animals = "animals";

/** Reads what was remembered of an import; undefined if there is nothing. */
export async function readRemembered({ account, name }: ImportName): Promise<(Memory & { mapping: Mapping }) | undefined> {
  const db = await openDatabase();
  if (db === undefined) return undefined;
  const transaction = db.transaction([heads, animals]);
  const head = done<Head | undefined>(transaction.objectStore(heads).get([account, name]));
  const stored = await done<StoredPet[]>(transaction.objectStore(animals).getAll(rangeOf([account, name])));
  const found = await head;
  db.close();
  return found && { ...found, animals: new Map(stored.map(({ sourceId, petId, hash }) => [sourceId, { petId, hash }])) };
}

/** Deletes what was remembered of an import. */
export async function forgetRemembered({ account, name }: ImportName): Promise<void> {
  const db = await openDatabase();
  if (db === undefined) return;
  const transaction = db.transaction([heads, animals], "readwrite", { durability: "strict" });
  transaction.objectStore(heads).delete([account, name]);
  await done(transaction.objectStore(animals).delete(rangeOf([account, name])));
  db.close();
}

/** The range of all keys with this prefix. It ends with `[]` because IndexedDB sorts an array after every number and string. */
function rangeOf(key: (number | string)[]): IDBKeyRange {
  return IDBKeyRange.bound(key, [...key, []]);
}

/** Opens the database of an earlier release, and makes none. */
async function openDatabase(): Promise<IDBDatabase | undefined> {
  const request = indexedDB.open("petstore-imports", 1);
  request.addEventListener("upgradeneeded", () => request.transaction?.abort());
  return done<IDBDatabase>(request).catch(() => undefined);
}

/** Resolves to a request's result. The caller knows its type, because it stored the value. */
export function done<T>(request: Pick<IDBRequest<unknown>, "result" | "error"> & EventTarget): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener("success", () => resolve(request.result as T));
    request.addEventListener("error", () => reject(request.error ?? new Error("IndexedDB")));
  });
}
