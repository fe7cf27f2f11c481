import ts from "typescript";
import type { SourceFile } from "./layout.ts";

/** The most lines of a function, from its first line to its last, the functions inside it included. */
const linesMax = 60;

/** Functions that are longer still. The list may only shrink: an entry that is not needed any more fails the check. */
export const allowedLong: string[] = [
  "src/publishing/edge/bodies.ts#openBodies",
  "src/publishing/edge/edge.ts#openEdge",
  "src/publishing/edge/http2-bounds.ts#createHttp2Bounds",
];

/**
 * Returns every function that is longer than `linesMax` and not in `allowed`, and every entry of `allowed` that is not needed, so that
 * the list can only shrink. A function is known by its file and name: `src/main.ts#main`.
 */
export function longFunctions(files: SourceFile[], allowed: string[]): string[] {
  const long = files.flatMap((file) => functionsOf(file).filter(({ lines }) => lines > linesMax));
  const names = new Set(long.map(({ name }) => name));
  const exceptions = new Set(allowed);
  return [
    ...long
      .filter(({ name }) => !exceptions.has(name))
      .map(({ name, lines }) => `${name}: has ${lines} lines, and ${linesMax} is the most`),
    ...allowed.filter((name) => !names.has(name)).map((name) => `${name}: no longer needs its exception`),
  ];
}

function functionsOf({ path, text }: SourceFile): { name: string; lines: number }[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const lineOf = (position: number): number => source.getLineAndCharacterOfPosition(position).line;
  const found: { name: string; lines: number }[] = [];
  const visit = (node: ts.Node): void => {
    if (isFunction(node) && !isTestCallback(node)) {
      found.push({ name: `${path}#${nameOf(node)}`, lines: lineOf(node.end) - lineOf(node.getStart()) + 1 });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function isFunction(node: ts.Node): boolean {
  return ts.isFunctionLike(node) && "body" in node && node.body !== undefined;
}

/** A callback of `test`, `describe`, `it` or a hook: its length is that of a story, not of a rule. */
function isTestCallback(node: ts.Node): boolean {
  const call = node.parent;
  return (
    ts.isCallExpression(call) &&
    call.expression
      .getText()
      .split(".")
      .some((word) => /^(test|describe|it|suite|before|after)$/.test(word))
  );
}

/** The name of the function, or else of what it is given to or stands in: `listen (callback)`, `handlerOf (inner)`. */
function nameOf(node: ts.Node): string {
  if ("name" in node && node.name !== undefined) return (node.name as ts.Node).getText();
  let holder = node.parent;
  while (!ts.isSourceFile(holder)) {
    if (ts.isCallExpression(holder)) return `${holder.expression.getText()} (callback)`;
    if (ts.isVariableDeclaration(holder) || ts.isPropertyAssignment(holder)) return holder.name.getText();
    if (isFunction(holder)) return `${nameOf(holder)} (inner)`;
    holder = holder.parent;
  }
  return "(default)";
}
