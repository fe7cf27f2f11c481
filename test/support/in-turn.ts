import { createRequire } from "node:module";
import { resolve } from "node:path";
import { suite } from "node:test";

/*
 * Declares each file of a job as a suite. Otherwise node:test runs the hooks of all files before the first test and after the last: the
 * services of all files would be open at once, and work in the background while others are tested.
 */
const require = createRequire(import.meta.url);
for (const file of process.argv.slice(4)) suite(file, () => void require(resolve(file)));
