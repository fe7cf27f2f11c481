import type { SourceFile } from "./layout.ts";

/** What can be cited: sections of docs/specification/ such as `2.5`, and the numbers of docs/decisions/. */
export type Citable = { sections: Set<string>; decisions: Set<number> };

/** Reads the numbers that the headings of the specification and the names of the decisions have. */
export function citable(specification: SourceFile[], decisionNames: string[]): Citable {
  const headings = specification.flatMap(({ text }) => [...text.matchAll(/^## (\d+\.\d+) /gm)]);
  return {
    sections: new Set(headings.map(([, number = ""]) => number)),
    decisions: new Set(decisionNames.map((name) => Number.parseInt(name, 10))),
  };
}

/**
 * Returns every citation that leads nowhere, as `path: reason`: `specification 2.5` needs that section, `decision 0029` or `decision 29` that
 * decision. "Part 3" of either cannot be followed.
 */
export function deadCitations(files: SourceFile[], { sections, decisions }: Citable): string[] {
  return files.flatMap(({ path, text }) => {
    const cited = (pattern: RegExp): string[] => [...text.matchAll(pattern)].flatMap(([, numbers = ""]) => numbers.split(/\D*[ ,]\D*/));
    return [
      ...cited(/\bspecification\s(\d+\.\d+(?:(?:, | and )\d+\.\d+)*)/g)
        .filter((number) => !sections.has(number))
        .map((number) => `${path}: specification ${number} does not exist`),
      ...cited(/\bdecisions?\s(\d+(?:(?:, | and )\d+)*)/g)
        .filter((number) => !decisions.has(Number(number)))
        .map((number) => `${path}: decision ${number} does not exist`),
      ...[...text.matchAll(/\b(?:decisions?|spec(?:ification)?),?\s\(?parts?\s\d+/gi)].map(
        ([form]) => `${path}: "${form}" has no section to look up`,
      ),
    ];
  });
}
