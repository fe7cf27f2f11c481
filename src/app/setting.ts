import { X509Certificate } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { attempt, integer, serverUrl, type Parse } from "../platform/parse.ts";

/** An invalid setting. The message is one line with its name, its value (unless secret) and what is allowed. */
export class SettingError extends Error {
  constructor(name: string, value: string, allowed: string) {
    super(`${name}=${JSON.stringify(withoutUser(value))} is not allowed: it must be ${allowed}`);
    this.name = "SettingError";
  }
}

/** Masks the user and password of a URL, which no message may show, not even one that refuses the URL. */
export function withoutUser(value: string): string {
  const [start, end] = [value.indexOf("//"), value.lastIndexOf("@")];
  return start >= 0 && end > start ? `${value.slice(0, start)}//***${value.slice(end)}` : value;
}

export type Environment = Record<string, string | undefined>;

export type Setting<T> = {
  name: string;
  /** The default as text, or a function that returns it from the environment. */
  fallback: string | ((env: Environment) => string);
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
export function reloaded<T>(entry: Setting<T>): Setting<T> {
  return { ...entry, reloads: true };
}

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

export function matching(name: string, form: RegExp, allowed: string, meaning: string): Setting<string> {
  return { name, fallback: "", parse: (value) => (value === "" || form.test(value) ? value : undefined), allowed, meaning };
}

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

export const fileBytesMax = 65_536;

/** Returns the text of a file of at most `fileBytesMax`. A pipe is refused, because reading it could wait for ever. */
export function readText(path: string): string {
  const stats = statSync(path);
  if (!stats.isFile() || stats.size > fileBytesMax) throw new Error("not a file of text");
  return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path));
}
