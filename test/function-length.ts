import ts from "typescript";
import type { SourceFile } from "./layout.ts";

/** The most lines of a function, from its first line to its last, including the functions inside it. */
const linesMax = 60;

/** Returns every function that is longer than `linesMax`, by its file and name: `src/main.ts#main`. */
export function longFunctions(files: SourceFile[]): string[] {
  return files
    .flatMap(functionsOf)
    .filter(({ lines }) => lines > linesMax)
    .map(({ name, lines }) => `${name}: has ${lines} lines, and ${linesMax} is the most`);
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

/** Whether a function is a callback of `test`, `testOnce`, `describe`, `it` or a hook, which may be as long as its story. */
function isTestCallback(node: ts.Node): boolean {
  const call = node.parent;
  return (
    ts.isCallExpression(call) &&
    call.expression
      .getText()
      .split(".")
      .some((word) => /^(test|testOnce|describe|it|suite|before|after)$/.test(word))
  );
}

/** Returns a function's name, or else that of the call, variable or function around it: `listen (callback)`, `handlerOf (inner)`. */
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
