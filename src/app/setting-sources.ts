import { parseEnv } from "node:util";
import { attempt } from "../platform/parse.ts";
import { nearest } from "../platform/typo.ts";
import { fileBytesMax, readText, SettingError, type Environment, type Setting } from "./setting.ts";

/** Finds the value of a setting: in a variable, a line of the file of `ENV_FILE`, the setting's own file, or its default. */

export const envFileName = "ENV_FILE";

/** The variable that names the file of a secret. */
export function secretFileName(name: string): string {
  return `${name}_FILE`;
}

/** Returns the environment with the settings of its `ENV_FILE`, if it has one. @throws SettingError */
export function withEnvFile(env: Environment): Environment {
  const inFile = readEnvFile(env);
  if (!inFile) return env;
  const set = Object.entries(env).filter(([, value]) => value !== undefined && value !== "");
  return { ...inFile, ...Object.fromEntries(set) };
}

function readEnvFile(env: Environment): Environment | undefined {
  const path = env[envFileName];
  if (!path) return undefined;
  const text = attempt(() => readText(path));
  if (text !== undefined) return parseEnv(text);
  throw new SettingError(envFileName, path, `a file that can be read, with at most ${fileBytesMax} bytes of text`);
}

/** Lines about unknown names; one more says how many others there are. */
const unknownMax = 10;

/**
 * Returns a line for each name in the file of `ENV_FILE` that is not among these. A name that does not look like one is not shown: it may be a part
 * of a secret that was pasted over several lines. @throws SettingError
 */
export function unknownNames(env: Environment, names: readonly string[]): string[] {
  const unknown = Object.keys(readEnvFile(env) ?? {}).filter((name) => !names.includes(name));
  const lines = unknown.slice(0, unknownMax).map((name) => {
    const meant = nearest(name.toUpperCase(), names);
    const shown = meant !== undefined || /^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/.test(name) ? name.slice(0, 64) : "a name";
    return `ENV_FILE sets ${shown}, which is not a setting${meant === undefined ? "" : `: did you mean ${meant}?`}`;
  });
  const more = unknown.length - lines.length;
  return more > 0 ? [...lines, `ENV_FILE sets ${more} more names that are not settings`] : lines;
}

/** Returns the value of a setting. @throws SettingError, which never shows a secret */
export function parsed(entry: Setting<unknown>, env: Environment): unknown {
  const { name, secret, parse, allowed } = entry;
  const file = secret ? env[secretFileName(name)] : undefined;
  if (file) return parsedFile(entry, file, env);
  const text = env[name] || fallbackOf(entry, env);
  const value = parse(text);
  if (value === undefined) throw new SettingError(name, secret ? "(secret)" : text, allowed);
  return value;
}

export function fallbackOf({ fallback }: Setting<unknown>, env: Environment): string {
  return typeof fallback === "string" ? fallback : fallback(env);
}

/** Reads a secret from a file, which editors end with a line break that is not part of it. */
function parsedFile({ name, parse, allowed }: Setting<unknown>, path: string, env: Environment): unknown {
  const refusal = (must: string) => new SettingError(secretFileName(name), path, must);
  if (env[name]) throw refusal(`set without ${name}: use one of the two`);
  const text = attempt(() => readText(path))?.replace(/\r?\n$/, "");
  if (text === undefined) throw refusal(`a file that can be read, with at most ${fileBytesMax} bytes of text`);
  if (text === "") throw refusal("a file that is not empty");
  const value = parse(text);
  if (value === undefined) throw refusal(`a file that holds ${allowed}`);
  return value;
}
