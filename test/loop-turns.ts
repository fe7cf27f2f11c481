import { posix } from "node:path";
import { parseSync } from "oxc-parser";
import type { SourceFile } from "./layout.ts";

type Node = Record<string, unknown> & { type: string; start: number; end: number };
/** A function by its file and name, such as `src/a.ts#listPets`. */
type Name = string;
type Declared = { name: Name; node: Node; body: unknown };
type Source = SourceFile & {
  program: Node;
  functions: Declared[];
  /** What the file's names stand for, those of its imports too. */ names: Map<string, Name>;
};

/** A loop that reads and gives no turn: its place, the function that it is in, and what it calls to read. */
export type Loop = { place: string; within: Name; read: string };

const loops = new Set(["ForStatement", "WhileStatement", "DoWhileStatement", "ForOfStatement", "ForInStatement"]);
const functions = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);
/** Functions that call another one for each element. */
const arrayLoops = new Set(["map", "flatMap", "forEach", "fromAsync"]);
/** How a database is named, and its functions that read. The statements of a transaction, `tx`, give turns. */
const databases = new Set(["db", "own", "reader", "database"]);
const reads = new Set(["query", "rows"]);
/** What gives a turn: the port's `scan`, the turns of `event-loop.ts` and of transactions, and a pause. */
const turns = new Set(["scan", "turn", "giveTurn", "nextTurn", "sleep", "pause"]);
/** Functions whose callback does not run in the loop's turn: it waits for a commit, or for its own turn. */
const apart = new Set(["write", "scan"]);

/** Returns the loops that read from the database in each step, directly or through functions that they call, and give no turn (decision 0095). */
export function loopsWithoutTurns(files: readonly SourceFile[]): Loop[] {
  const sources = files.map(sourceOf);
  const reading = readingFunctions(sources);
  return sources.flatMap((source) => {
    const found: Loop[] = [];
    visit(source.program, (node) => {
      const calls = stepsOf(node).flatMap(callsIn);
      const read = calls.find((call) => isRead(call, source, reading));
      if (!read || calls.some(givesTurn)) return;
      const line = source.text.slice(0, node.start).split("\n").length;
      found.push({ place: `${source.path}:${line}`, within: functionAround(source, node), read: wordOf(read["callee"] as Node) });
    });
    return found;
  });
}

/** What runs in each pass of a loop, or of a function of arrays; empty for any other node. */
function stepsOf(node: Node): unknown[] {
  if (loops.has(node.type)) return [node["body"], node["test"], node["update"], node["await"] === true ? node["right"] : undefined];
  if (node.type !== "CallExpression" || !arrayLoops.has(wordOf(node["callee"] as Node))) return [];
  return (node["arguments"] as Node[]).map((given) => (functions.has(given.type) ? given["body"] : undefined));
}

function sourceOf({ path, text }: SourceFile): Source {
  const { program, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path} could not be parsed`);
  const source: Source = { path, text, program: program as unknown as Node, functions: [], names: new Map() };
  visit(source.program, (node) => {
    const declared = declaredBy(node, path);
    if (declared) source.functions.push(declared);
    if (declared) source.names.set(declared.name.split("#")[1]!, declared.name);
    if (node.type === "ImportDeclaration") addImports(source, node);
  });
  return source;
}

function addImports({ path, names }: Source, node: Node): void {
  const from = posix.join(posix.dirname(path), String((node["source"] as Node)["value"]));
  for (const { local, imported } of node["specifiers"] as { local: Node; imported?: Node }[])
    if (imported) names.set(wordOf(local), `${from}#${wordOf(imported)}`);
}

/** The function that a node declares, or holds in a variable. */
function declaredBy(node: Node, path: string): Declared | undefined {
  const held = node.type === "VariableDeclarator" ? (node["init"] as Node | null) : node.type === "FunctionDeclaration" ? node : null;
  if (!held || !functions.has(held.type) || !node["id"]) return undefined;
  return { name: `${path}#${wordOf(node["id"] as Node)}`, node, body: held["body"] };
}

function functionAround({ path, functions: declared }: Source, { start, end }: Node): Name {
  const around = declared.filter(({ node }) => node.start <= start && node.end >= end);
  return around.reduce((inner, one) => (one.node.start >= inner.node.start ? one : inner), around[0]!)?.name ?? path;
}

/** The functions that read, directly or through others, and give no turn. */
function readingFunctions(sources: readonly Source[]): Set<Name> {
  const all = sources.flatMap((source) => source.functions.map(({ name, body }) => ({ name, source, calls: callsIn(body) })));
  const asking = all.filter(({ calls }) => !calls.some(givesTurn));
  const reading = new Set<Name>();
  for (let before = -1; before < reading.size;) {
    before = reading.size;
    for (const { name, source, calls } of asking) if (calls.some((call) => isRead(call, source, reading))) reading.add(name);
  }
  return reading;
}

/** The calls in a part of a function, and in the functions that it passes to other calls, which may call them at once. */
function callsIn(part: unknown): Node[] {
  const calls: Node[] = [];
  visit(part, (node) => {
    if (node.type !== "CallExpression") return !functions.has(node.type);
    const given = node["arguments"] as Node[];
    const passed = apart.has(wordOf(node["callee"] as Node)) ? [] : given.filter(({ type }) => functions.has(type));
    const others = given.filter(({ type }) => !functions.has(type));
    calls.push(node, ...[node["callee"], ...others, ...passed.map((one) => one["body"])].flatMap(callsIn));
    return false;
  });
  return calls;
}

function isRead(call: Node, source: Source, reading: ReadonlySet<Name>): boolean {
  const callee = call["callee"] as Node;
  if (callee.type === "MemberExpression") return reads.has(wordOf(callee)) && databases.has(wordOf(callee["object"] as Node));
  if ((call["arguments"] as Node[]).some((given) => wordOf(given) === "tx")) return false;
  return callee.type === "Identifier" && reading.has(source.names.get(wordOf(callee)) ?? "");
}

function givesTurn(call: Node): boolean {
  return turns.has(wordOf(call["callee"] as Node));
}

/** A name, or the last word of a path: `query` of `db.query`. */
function wordOf(node: Node): string {
  const part = node.type === "MemberExpression" ? (node["property"] as Node) : node;
  return typeof part["name"] === "string" ? part["name"] : "";
}

/** Calls `look` with each node, but with none below a node for which it returns false. */
function visit(value: unknown, look: (node: Node) => boolean | void): void {
  if (Array.isArray(value)) for (const item of value) visit(item, look);
  else if (typeof value === "object" && value !== null && "type" in value) {
    if (look(value as Node) !== false) for (const part of Object.values(value)) visit(part, look);
  }
}
