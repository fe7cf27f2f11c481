import type { HashCost } from "../../src/callers/members/passwords.ts";

/** The least that Argon2 allows. The service's own takes 32 ms of a processor for each password that a test sets or gives. */
export const leastHashCost: HashCost = { memoryKiB: 8, passes: 1 };
