import bash from "highlight.js/lib/languages/bash";
import go from "highlight.js/lib/languages/go";
import json from "highlight.js/lib/languages/json";
import php from "highlight.js/lib/languages/php";
import python from "highlight.js/lib/languages/python";
import typescript from "highlight.js/lib/languages/typescript";
import { createLowlight } from "lowlight";
import { createElement, type ReactNode } from "react";

export type Language = "bash" | "go" | "json" | "php" | "python" | "typescript" | "text";

const lowlight = createLowlight({ bash, go, json, php, python, typescript });
type Node = ReturnType<typeof lowlight.highlight>["children"][number];
/** The longest text (characters) that is highlighted; the time grows with the length. */
const coloredMax = 60_000;

/** Highlights text as React elements, never as HTML. */
export function highlight(code: string, language: Language): ReactNode {
  if (language === "text" || code.length > coloredMax) return code;
  return lowlight.highlight(language, code).children.map(elementOf);
}

function elementOf(node: Node, place: number): ReactNode {
  if (node.type === "text") return node.value;
  if (node.type !== "element") return null;
  const names = node.properties["className"];
  return createElement("span", { key: place, className: Array.isArray(names) ? names.join(" ") : undefined }, node.children.map(elementOf));
}
