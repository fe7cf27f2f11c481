import { parseSync } from "oxc-parser";
import { check, type Diagnostics } from "recheck";
import type { SourceFile } from "./layout.ts";

/** A regular expression where it is written. */
export type Regex = { path: string; pattern: string; flags: string };

/** The result of a search of the source: the expressions, and the places that put one together at run time, which nothing can check. */
export type Found = { regexes: Regex[]; composed: string[] };

type Node = Record<string, unknown> & { type: string; start: number; end: number };

/**
 * How recheck decides an expression. For counted repeats it uses its automaton, which is exact, and not a search for an attack,
 * which would give up sooner on a slow machine. An expression that is not decided after two minutes counts as not linear.
 */
const parameters = { timeout: 120_000, attackTimeout: null, incubationTimeout: null, maxRepeatCount: 600, maxSimpleRepeatCount: 600 };
/** The flags that the patterns of schemas are compiled with. */
const schemaFlags = "u";

/** Every regular expression of some files of TypeScript: literals, and the texts of properties named `pattern`, as schemas have them. */
export function regexesOf(files: SourceFile[]): Found {
  const found: Found = { regexes: [], composed: [] };
  for (const { path, text } of files) {
    const { program, errors } = parseSync(path, text);
    if (errors.length > 0) throw new Error(`${path} could not be parsed`);
    visit(program, (node) => collect(node, path, text, found));
  }
  return found;
}

function collect(node: Node, path: string, text: string, found: Found): void {
  const source = (part: Node) => `${path}: ${text.slice(part.start, part.end)}`;
  if (node.type === "Literal" && isNode(node["regex"])) {
    const { pattern, flags } = node["regex"] as unknown as Regex;
    found.regexes.push({ path, pattern, flags });
  }
  if (node.type === "NewExpression" || node.type === "CallExpression") {
    if ((node["callee"] as Node)["name"] === "RegExp") found.composed.push(source(node));
  }
  const { name, value: quoted } = (node["key"] ?? {}) as { name?: string; value?: string };
  if (node.type === "Property" && (name === "pattern" || quoted === "x-pattern") && node["shorthand"] === false) {
    const value = node["value"] as Node;
    const patterns = textsOf(value);
    if (patterns) for (const pattern of patterns) found.regexes.push({ path, pattern, flags: schemaFlags });
    else found.composed.push(source(node));
  }
}

/** The texts that an expression may give; undefined where it is no literal and no choice of literals. */
function textsOf(node: Node): string[] | undefined {
  if (node.type === "Literal" && typeof node["value"] === "string") return [node["value"]];
  if (node.type !== "ConditionalExpression") return undefined;
  const [one, other] = [textsOf(node["consequent"] as Node), textsOf(node["alternate"] as Node)];
  return one && other && [...one, ...other];
}

function visit(value: unknown, look: (node: Node) => void): void {
  if (Array.isArray(value)) for (const item of value) visit(item, look);
  else if (isNode(value)) {
    if (typeof value["type"] === "string") look(value);
    for (const member of Object.values(value)) visit(member, look);
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && !(value instanceof RegExp);
}

/** Why each expression of a list may take more than linear time, by recheck; empty where none does. */
export async function slowOnes(regexes: Regex[]): Promise<string[]> {
  const different = new Map(regexes.map((regex) => [`/${regex.pattern}/${regex.flags}`, regex]));
  const slow: string[] = [];
  // one after another: the time of each counts from the call
  for (const [shown, { path, pattern, flags }] of different) {
    const verdict = await check(pattern, flags, parameters);
    if (verdict.status !== "safe") slow.push(`${path}: ${shown} ${reasonOf(verdict)}`);
  }
  return slow;
}

function reasonOf(verdict: Diagnostics): string {
  if (verdict.status === "vulnerable") return `takes ${verdict.complexity.summary} time`;
  return verdict.status === "unknown" ? `could not be decided: ${verdict.error.kind}` : "";
}
