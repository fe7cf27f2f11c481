import { randomInt } from "node:crypto";
import fc from "fast-check";

const runsAll = process.env["PETSTORE_TEST_FAULTS"] === "all";
const seed = Number(process.env["PETSTORE_TEST_SEED"] ?? randomInt(2 ** 31));

fc.configureGlobal({ seed });
console.log(`PETSTORE_TEST_SEED=${seed} repeats the random choices of this file`);

/** The number of tries of a search for faults: `all` in `npm run test:faults`, `few` in `npm test`. */
export function runs(few: number, all: number): number {
  return runsAll ? all : few;
}

let first = seed;

/** One in `every` of the items; all of them in `npm run test:faults`. The seed chooses the first; the next call begins one item later. */
export function someOf<T>(items: T[], every: number): T[] {
  const remainder = first++ % every;
  return runsAll ? items : items.filter((_, index) => index % every === remainder);
}

let state = seed;

/** An integer from `least` on, below `least + range`; the seed determines the sequence (mulberry32). */
export function random(least: number, range: number): number {
  state = (state + 0x6d2b79f5) | 0;
  let bits = Math.imul(state ^ (state >>> 15), state | 1);
  bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
  return least + (((bits ^ (bits >>> 14)) >>> 0) % range);
}
