import { openStep, stepRowsMax } from "../../platform/db/batches.ts";
import { andThen, type Awaitable, type Database, type Queryable, type Transaction } from "../../platform/db/database.ts";
import { statement } from "../../platform/db/statement.ts";
import { overloaded, type Problem } from "../../platform/problem.ts";

/*
 * `pet_words` has a row for each later word of a pet's name; triggers keep it up to date (decision 0082). A batch whose names have very many words
 * leaves those of some pets out, so that it does not keep the writer for long (decision 0098). Such a pet has one row, whose `shared` is
 * `waiting`, until a step of its own writes its words: right after the batch, before the answer. If the process ends before, or a step gets no turn,
 * the next search or batch of the account runs these steps first. What takes too long is a 503, so a flood of batches delays no request without end.
 */

/** How long (ms) a search or batch writes the words that it finds waiting, and how long a batch writes those that it has left out itself. */
const waitMs = 2_500;
export const ownWordsMs = 5_000;
/** The most later words, about, that one INSERT writes. */
const wordsAtOnceMax = 1_000;
const waiting = -1;

/** Returns for each key whether its words are written with its pet. Those of names without later words are. */
export function splitAtOnce(keys: readonly string[]): boolean[] {
  let words = 0;
  return keys.map((key) => {
    const own = key.match(separators)?.length ?? 0;
    words += own;
    return own === 0 || words <= wordsAtOnceMax;
  });
}

/** The most pets that one statement writes. */
const rowsAtOnceMax = 250;

/** Cuts rows into portions whose words one statement may write. */
export function* portionsByWords<T>(rows: readonly T[], keyOf: (row: T) => string): Generator<T[]> {
  let portion: T[] = [];
  let words = 0;
  for (const row of rows) {
    const own = keyOf(row).match(separators)?.length ?? 0;
    if (portion.length === rowsAtOnceMax || (portion.length > 0 && words + own > wordsAtOnceMax)) {
      yield portion;
      portion = [];
      words = 0;
    }
    portion.push(row);
    words += own;
  }
  if (portion.length > 0) yield portion;
}

/** The characters that separate the words of a name (specification 2.1). */
const separators = /[\t\n\v\f\r \u0085\u1680\u2028\u2029/()["'.,&+*#:;_\]-]/g;

/** Returns whether a search for a key finds a name: the name, or a later word of it, begins with the key. */
export function beginsAWord(nameKey: string, wanted: string): boolean {
  for (let at = nameKey.indexOf(wanted); at >= 0; at = nameKey.indexOf(wanted, at + 1))
    if (at === 0 || nameKey[at - 1]!.search(separators) === 0) return true;
  return false;
}

/** Returns the distinct values of `shared` in the account's words that are less than `below`. Takes one index step for each value. */
export async function sharedBelow(db: Database, accountId: number, below: number, ms = waitMs): Promise<number[]> {
  const found = await lengthsBelow(db, accountId, below);
  if (found[0] !== waiting) return found;
  await splitWaiting(db, accountId, ms);
  return (await lengthsBelow(db, accountId, below)).filter((length) => length !== waiting); // of a batch that runs now
}

const lengths = statement<[number]>(`
  WITH RECURSIVE found (length) AS (
    SELECT MIN(shared) FROM pet_words WHERE account_id = ?
    UNION ALL
    SELECT (SELECT MIN(shared) FROM pet_words WHERE account_id = ? AND shared > found.length) FROM found WHERE length IS NOT NULL
  ) SELECT length FROM found WHERE length < ?`);

function lengthsBelow(db: Queryable, accountId: number, below: number): Awaitable<number[]> {
  return andThen(db.rows(lengths, [accountId, accountId, below]), (rows) => rows.map(([length]) => length));
}

/** Writes the words that batches of the account have left out. @throws Problem `unavailable` if a step gets no turn, or if it takes longer than `ms` */
export async function completeWords(db: Database, accountId: number, ms?: number): Promise<void> {
  await sharedBelow(db, accountId, 0, ms);
}

async function splitWaiting(db: Database, accountId: number, ms: number): Promise<void> {
  const endsAt = performance.now() + ms;
  while (await db.as({ caller: accountId }).write((tx) => splitSome(tx, accountId))) if (performance.now() > endsAt) throw tooManyWait();
}

function tooManyWait(): Problem {
  return overloaded("The words of many new animals are still being written for the search. Try again in a moment.", 2);
}

/** The order is that of one index, so that PostgreSQL has no other plan. */
const findWaiting = statement<[id: number]>(
  `SELECT pet_id FROM pet_words WHERE account_id = ? AND shared < 0 ORDER BY shared, word, pet_id LIMIT ${stepRowsMax}`,
);
const split = statement("UPDATE pets SET is_split = TRUE WHERE account_id = ? AND id = ? AND NOT is_split");
const deleteMark = statement(`DELETE FROM pet_words WHERE account_id = ? AND pet_id = ? AND shared = ${waiting}`);

/** Writes the words of as many pets as one step takes. Returns whether it found any. */
async function splitSome(tx: Transaction, accountId: number): Promise<boolean> {
  const isOver = openStep();
  const pets = await tx.rows(findWaiting, [accountId]);
  for (const [id] of pets) {
    // Until 1.3.0: nodes of 1.1.0 rename and delete pets without a look at the row that waits.
    if ((await tx.run(split, [accountId, id])) === 0) await tx.run(deleteMark, [accountId, id]);
    if (isOver()) break;
    await tx.giveTurn();
  }
  return pets.length > 0;
}
