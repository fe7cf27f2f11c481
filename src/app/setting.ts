import { X509Certificate } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { parseEnv } from "node:util";
import { attempt, integer, NotAllowed, type Parse, serverUrl } from "../platform/parse.ts";
import { nearest } from "../platform/typo.ts";

/** An invalid setting. The message is one line with its name, its value (unless secret) and what is allowed. */
export class SettingError extends Error {
  constructor(name: string, value: string, allowed: string) {
    super(`${name}=${JSON.stringify(withoutUser(value))} is not allowed: it must be ${allowed}`);
    this.name = "SettingError";
  }
}

/** Masks the user, the password and the parameters of a URL, which no message may show, not even one that refuses the URL. */
export function withoutUser(value: string): string {
  const [start, end, query] = [value.indexOf("//"), value.lastIndexOf("@"), value.indexOf("?")];
  if (start < 0) return value;
  const masked = end > start ? `${value.slice(0, start)}//***${value.slice(end)}` : value;
  return query < 0 ? masked : masked.replace(/\?.*$/s, "?***");
}

export type Environment = Record<string, string | undefined>;

export type Setting<T> = {
  name: string;
  /** The default as text, or a function that returns it from the environment. */
  fallback: string | ((env: Environment) => string);
  /** May throw `NotAllowed` to say more than `allowed`. */
  parse: Parse<T>;
  /** Completes "it must be …". */
  allowed: string;
  meaning: string;
  /** The value is never shown, and may also come from the file that `NAME_FILE` names. */
  secret?: true;
  /** A reload applies a new value. */
  reloads?: true;
};

/** Declares a setting. */
export function setting<T>(entry: Setting<T>): Setting<T> {
  return entry;
}

/** Marks a setting as a secret. */
export function secret<T>(entry: Setting<T>): Setting<T> {
  return { ...entry, secret: true };
}

/** Marks a setting whose new value a reload applies. */
export function withReload<T>(entry: Setting<T>): Setting<T> {
  return { ...entry, reloads: true };
}

/** Declares a setting that is a port. */
export function port(name: string, fallback: Setting<number>["fallback"], meaning: string): Setting<number> {
  return { name, fallback, parse: integer(0, 65_535), allowed: "a port from 0 to 65535 (0 takes a free one)", meaning };
}

/** Declares a setting that is the URL of another server; empty if not set. A slash at its end is removed. */
export function httpUrl(name: string, meaning: string): Setting<string> {
  const parse = serverUrl(["http:", "https:"]);
  const allowed = "an http or https URL without user and password";
  return { name, fallback: "", parse: (text) => (text === "" ? "" : parse(text)?.replace(/\/$/, "")), allowed, meaning };
}

/** Declares a setting that is `on` or `off`. */
export function onOff(name: string, fallback: "on" | "off", meaning: string): Setting<boolean> {
  return { name, fallback, parse: (text) => ({ on: true, off: false })[text], allowed: "on or off", meaning };
}

/** Declares a setting whose text matches `form`; empty if not set. */
export function matching(name: string, form: RegExp, allowed: string, meaning: string): Setting<string> {
  return { name, fallback: "", parse: (value) => (value === "" || form.test(value) ? value : undefined), allowed, meaning };
}

/** Declares a setting that names a file with a certificate as PEM; its value is the file's text, empty if not set. */
export function certificateFile(name: string, meaning: string): Setting<string> {
  return pemFile(name, "certificate", (pem) => new X509Certificate(pem), meaning);
}

/** Declares a setting that names a PEM file; its value is the file's text, empty if not set. `read` throws if the text is invalid. */
export function pemFile(name: string, content: string, read: (pem: string) => unknown, meaning: string): Setting<string> {
  const pemOf = (path: string): string => {
    const pem = readFileSync(path, "utf8");
    read(pem);
    return pem;
  };
  return {
    name,
    fallback: "",
    parse: (path) => (path === "" ? "" : attempt(() => pemOf(path))),
    allowed: `a file that can be read and holds a ${content} as PEM`,
    meaning,
  };
}

const fileBytesMax = 65_536;

/** Returns the text of a file of at most `fileBytesMax`. A pipe is refused, because reading it could wait for ever. */
function readText(path: string): string {
  const stats = statSync(path);
  if (!stats.isFile() || stats.size > fileBytesMax) throw new Error("not a file of text");
  return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path));
}

// A value comes from a variable, from a line of the file of `ENV_FILE`, from the setting's own file, or from its default.

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
  const { name, secret: isSecret } = entry;
  const file = isSecret ? env[secretFileName(name)] : undefined;
  if (file) return parsedFile(entry, file, env);
  const text = env[name] || fallbackOf(entry, env);
  return valueOf(entry, text, (must) => new SettingError(name, isSecret ? "(secret)" : text, must));
}

function valueOf<T>({ parse, allowed }: Setting<T>, text: string, refusal: (must: string) => SettingError): T {
  let value: T | undefined;
  try {
    value = parse(text);
  } catch (error) {
    throw error instanceof NotAllowed ? refusal(error.message) : error;
  }
  if (value === undefined) throw refusal(allowed);
  return value;
}

/** Returns the text that counts where a setting is not set. */
export function fallbackOf({ fallback }: Setting<unknown>, env: Environment): string {
  return typeof fallback === "string" ? fallback : fallback(env);
}

/** Reads a secret from a file, which editors end with a line break that is not part of it. */
function parsedFile(entry: Setting<unknown>, path: string, env: Environment): unknown {
  const { name } = entry;
  const refusal = (must: string) => new SettingError(secretFileName(name), path, must);
  if (env[name]) throw refusal(`set without ${name}: use one of the two`);
  const text = attempt(() => readText(path))?.replace(/\r?\n$/, "");
  if (text === undefined) throw refusal(`a file that can be read, with at most ${fileBytesMax} bytes of text`);
  if (text === "") throw refusal("a file that is not empty");
  return valueOf(entry, text, (must) => refusal(`a file that holds ${must}`));
}
