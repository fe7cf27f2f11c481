import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const installMsMax = 300_000;

/**
 * Returns the path of a file of an npm package. The package is installed into `.cache/` if it is not there yet: it is not in package.json, because
 * only a measurement needs it.
 */
export function npmProgram(name: string, version: string, file: string): string {
  const folder = fileURLToPath(new URL(`../.cache/bench/${name}-${version}`, import.meta.url));
  const program = join(folder, "node_modules", name, file);
  if (existsSync(program)) return program;
  mkdirSync(folder, { recursive: true });
  const args = ["install", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund", `${name}@${version}`];
  execFileSync("npm", args, { stdio: ["ignore", "ignore", "inherit"], timeout: installMsMax });
  return program;
}
