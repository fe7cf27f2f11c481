/**
 * A preload, `node --import`: writes to standard error at the exit how many modules the process has loaded, the packages that the files of
 * src/ import, the options of Node, and the arenas of the C library.
 */
import { writeSync } from "node:fs";
import { registerHooks } from "node:module";

export type LoadedModules = { modules: number; packages: string[]; options: string[]; arenas: string | undefined };

const modules = new Set<string>();
const packages = new Set<string>();

registerHooks({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context);
    if (!resolved.url.startsWith("node:")) modules.add(resolved.url);
    const name = /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(resolved.url)?.[1];
    if (name !== undefined && context.parentURL?.includes("/node_modules/") === false) packages.add(name);
    return resolved;
  },
});

process.on("exit", () => {
  const { execArgv: options, env } = process;
  const loaded: LoadedModules = { modules: modules.size, packages: [...packages].toSorted(), options, arenas: env["MALLOC_ARENA_MAX"] };
  writeSync(2, `\nloaded ${JSON.stringify(loaded)}\n`);
});
