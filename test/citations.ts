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

/** Names in comments and documents that code does not have: those of other software, and examples. */
const namesOfOthers = new Set(["FileBytes", "animalId", "includeSubDomains", "redirectTarget"]);
const comments = /\/\*[^]*?\*\/|(?<=^|\s)\/\/[^\n]*/g;
const isCode = (path: string): boolean => /\.(tsx?|mjs)$/.test(path);

/**
 * Returns every name in backticks, in a document or a comment, that stands for nothing, as `path: name`: `pets.ts` and `src/store/pets.ts` need such a file,
 * and `petCount`, as any name with a capital inside, must be in the code.
 *
 * @param all the project's files, in which names are looked for
 */
export function deadNames(files: SourceFile[], all: SourceFile[]): string[] {
  const paths = new Set(all.flatMap(({ path }) => path.split("/").map((_, index, parts) => parts.slice(index).join("/"))));
  const texts = all
    .filter(({ path }) => !path.endsWith(".md"))
    .map(({ path, text }) => (isCode(path) ? text.replaceAll(comments, "") : text));
  const words = new Set(texts.flatMap((text) => text.match(/[\w$]+/g) ?? []));
  const isDead = (name: string): boolean =>
    /^\w[\w./-]*\.(tsx?|mjs)$/.test(name)
      ? !paths.has(name)
      : /^\w*[a-z][A-Z]\w*$/.test(name) && !words.has(name) && !namesOfOthers.has(name);
  return files.flatMap(({ path, text }) => {
    const prose = isCode(path) ? (text.match(comments) ?? []) : [text];
    const named = prose.flatMap((one) => [...one.matchAll(/`([^`\n]+)`/g)]).map(([, name = ""]) => name);
    return named.filter(isDead).map((name) => `${path}: ${name}`);
  });
}
