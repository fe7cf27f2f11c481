import ts from "typescript";
import type { SourceFile } from "./layout.ts";

/** Functions of Node, the browser and packages, which take booleans so. */
const foreign = /(^|\.)(importKey|getObjectRaw|sleep|valToPos|createSourceFile|addEventListener)$/;

/** Returns each call that passes a bare `true` or `false` among others, where no reader can see what it switches. */
export function booleanArguments(files: SourceFile[]): string[] {
  return files.flatMap(({ path, text }) => {
    const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
    const found: string[] = [];
    const visit = (node: ts.Node): void => {
      if ((ts.isCallExpression(node) || ts.isNewExpression(node)) && hides(node)) found.push(`${path}: ${node.expression.getText()}`);
      ts.forEachChild(node, visit);
    };
    visit(source);
    return found;
  });
}

function hides({ expression, arguments: given = ts.factory.createNodeArray() }: ts.CallExpression | ts.NewExpression): boolean {
  const isBoolean = ({ kind }: ts.Node): boolean => kind === ts.SyntaxKind.TrueKeyword || kind === ts.SyntaxKind.FalseKeyword;
  return given.length > 1 && given.some(isBoolean) && !foreign.test(expression.getText());
}
