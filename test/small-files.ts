import { posix } from "node:path";
import type { SourceFile } from "./layout.ts";

const linesMin = 20;
/** Each of these has one file for each of its kind: a page's addresses, a command, a group of settings. */
const stands = /\/routes\.ts$|^src\/commands\/|-settings\.ts$/;

/** The small files that only one file of their folder uses, and no test: they belong into that file. */
export function smallFiles(files: SourceFile[]): string[] {
  const users = new Map<string, string[]>();
  for (const { path, text } of files)
    for (const [, name = ""] of text.matchAll(/(?<=["'])(\.{1,2}\/[^"'\n]+)(?=["'])/g)) {
      const used = posix.join(posix.dirname(path), name);
      users.set(used, [...(users.get(used) ?? []), path]);
    }
  return files.flatMap(({ path, text }) => {
    const [user, ...others] = new Set(users.get(path) ?? []);
    const isSmall = text.trimEnd().split("\n").length < linesMin && !stands.test(path);
    const isOnes = user !== undefined && others.length === 0 && posix.dirname(user) === posix.dirname(path) && !/\.test\.tsx?$/.test(user);
    return isSmall &&
      isOnes &&
      isImported(
        path,
        files.find((file) => file.path === user)!,
      )
      ? [`${path}: only ${user} uses it, and it has few lines`]
      : [];
  });
}

/** Whether a file imports another when it starts: what is loaded later, or by a process, is a file of its own. */
function isImported(path: string, { text }: SourceFile): boolean {
  return new RegExp(`^(import|\\}).* from "\\./${posix.basename(path).replaceAll(".", "\\.")}";$`, "m").test(text);
}
