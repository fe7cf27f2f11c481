import { invalidAt } from "../problem.ts";
import type { DescribedOperation } from "./operation.ts";

const dryRun = "dry-run";
/** The header that marks the answer to a dry run (RFC 7240, 3). */
export const dryRunApplied = `Preference-Applied: ${dryRun}\r\n`;

/**
 * Whether a request asks for a dry run: `Prefer: dry-run` (specification 1.14). All other preferences are ignored, and so are the parameters
 * and repetitions of this one (RFC 7240, 2).
 *
 * @param refusal what to answer if the operation has no dry run; undefined if it has one
 * @throws Problem `invalid_request` if it has none, or if the preference has a value: no change may be made by mistake
 */
export function asksForDryRun(header: string | string[] | undefined, refusal: string | undefined): boolean {
  if (header === undefined) return false;
  const found = preferencesOf(String(header)).find(([name]) => name === dryRun);
  if (!found) return false;
  if (found[1] !== "") throw invalidAt("header.Prefer", "must be dry-run without a value", "The preference dry-run takes no value.");
  if (refusal !== undefined) throw invalidAt("header.Prefer", "asks for a dry run, which this operation does not have", refusal);
  return true;
}

/** The refusal of the operations without a dry run, which names the paths of those that have one. */
export function dryRunRefusal(operations: readonly Pick<DescribedOperation, "path" | "dryRun">[]): string {
  const fixed = operations.filter(({ dryRun: has }) => has).map(({ path }) => path.replace(/\/\{.*/, ""));
  const paths = [...new Set(fixed)].filter((path) => !fixed.some((other) => path.startsWith(`${other}/`)));
  return `This operation has no dry run. Prefer: dry-run is for changes of ${paths.join(", ")} and what is below them.`;
}

/** The names of the preferences, in lower case, with their values, in linear time. A quoted value becomes `text`, or stays empty. */
function preferencesOf(header: string): [name: string, value: string][] {
  return withoutQuotedTexts(header)
    .split(",")
    .map((item) => {
      const [preference = ""] = item.split(";", 1);
      const [name = "", ...value] = preference.split("=");
      return [name.trim().toLowerCase(), value.join("=").trim()];
    });
}

/** Replaces quoted texts, in which commas separate nothing, by a word. Ignores an unclosed quote, which would hide the rest. */
function withoutQuotedTexts(header: string): string {
  const parts = header.replaceAll(/\\./g, "_").split('"');
  const isQuoted = (i: number): boolean => i % 2 === 1 && i < parts.length - 1;
  return parts.map((part, i) => (isQuoted(i) ? (part === "" ? "" : "text") : part)).join("");
}
