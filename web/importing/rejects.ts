import { formatRejects } from "../../src/importing/rejects.ts";
import type { Source } from "../../src/importing/source.ts";
import type { Rejects } from "./tasks.ts";

const rejectsShown = 100;

/** The first rejects for the page, and a file with all of them. */
export function rejectsOf({ header, rejects }: Pick<Source, "header" | "rejects">): Rejects {
  const first = rejects.slice(0, rejectsShown).map(({ line, reason, cells }) => ({ line, reason, cells }));
  return { first, file: rejects.length === 0 ? undefined : new Blob([formatRejects(header, rejects)], { type: "text/csv" }) };
}
