import type { Database, Transaction } from "./database.ts";

/** Runs a write and rolls it back: returns its result, or throws its error, and changes nothing. */
export async function undone<T>(db: Pick<Database, "write">, body: (tx: Transaction) => Promise<T>): Promise<T> {
  let returned: { result: T } | undefined;
  try {
    await db.write(async (tx) => {
      returned = { result: await body(tx) };
      throw new Undo();
    });
  } catch (error) {
    if (!(error instanceof Undo)) throw error;
  }
  return returned!.result;
}

class Undo extends Error {}
