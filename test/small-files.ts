import { posix } from "node:path";
import type { SourceFile } from "./layout.ts";

const linesMin = 20;
/** Files that may be small, because each thing of their kind has its own: a page's addresses, a command, a group of settings. */
const stands = /\/routes\.ts$|^src\/commands\/|-settings\.ts$/;

/** Returns the small files that one file of their folder and no test uses: they belong in that file. */
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

/** Whether a file imports another statically: a file that is loaded later, or by another process, may be small. */
function isImported(path: string, { text }: SourceFile): boolean {
  return new RegExp(`^(import|\\}).* from "\\./${posix.basename(path).replaceAll(".", "\\.")}";$`, "m").test(text);
}
