import { posix } from "node:path";
import { importsOf, type SourceFile } from "./layout.ts";

/** A flow of CONTRIBUTING.md: the files that a change passes, in order, each with the text of its line. */
export type Flow = { title: string; steps: { path: string; line: string }[] };

/** Returns the flows of the section "Three flows". */
export function flowsOf(guide: string): Flow[] {
  const section = guide.split(/^## /m).find((text) => text.startsWith("Three flows\n")) ?? "";
  return section
    .split(/^### /m)
    .slice(1)
    .map((text) => ({
      title: text.split("\n", 1)[0] ?? "",
      steps: [...text.matchAll(/^\d+\. \[[^\]]+\]\(([^)]+)\)(.*)$/gm)].map(([, path = "", line = ""]) => ({ path, line })),
    }));
}

/**
 * Returns what is wrong with a flow, each as `path: reason`. A file is imported by an earlier one, or its line names the earlier one that it
 * imports. A file that an earlier one imports, and that imports a later one, lies between them: it is in the list, or in `beside`.
 *
 * @param beside the files that a flow does not pass, although they lie between two of its files, by their reasons
 */
export function gapsOf({ steps }: Flow, files: readonly SourceFile[], beside: Readonly<Record<string, string>>): string[] {
  const imports = new Map(files.map((file) => [file.path, new Set(importsOf(file))]));
  const used = new Map(files.map(({ path, text }) => [path, new Set(importsOf({ path, text: withoutTypes(text) }))]));
  const listed = steps.map(({ path }) => path);
  const found: string[] = [];
  for (const [i, { path, line }] of steps.entries()) {
    const earlier = listed.slice(0, i);
    if (!imports.has(path)) found.push(`${path}: does not exist`);
    else if (earlier.includes(path)) found.push(`${path}: is listed twice`);
    else if (i > 0 && !earlier.some((from) => imports.get(from)?.has(path)) && !earlier.some((to) => isNamed(to, line, imports.get(path))))
      found.push(`${path}: no earlier file imports it, and its line names none that it imports`);
    for (const between of used.get(path) ?? []) {
      if (between === undefined || listed.includes(between) || between in beside) continue;
      const later = listed.slice(i + 1).find((to) => used.get(between)?.has(to));
      if (later !== undefined) found.push(`${between}: lies between ${path} and ${later}`);
    }
  }
  return [...new Set(found)];
}

function isNamed(to: string, line: string, imported: ReadonlySet<string | undefined> | undefined): boolean {
  return imported?.has(to) === true && line.includes(`\`${posix.basename(to)}\``);
}

/** Removes the imports that only name types. */
function withoutTypes(text: string): string {
  return text.replaceAll(/^import (?:type [^;]*|\{([^}]*)\} from [^;]*);$/gm, (statement, names?: string) => {
    const values = names?.split(",").filter((name) => name.trim() !== "" && !name.trim().startsWith("type "));
    return values === undefined || values.length === 0 ? "" : statement;
  });
}
