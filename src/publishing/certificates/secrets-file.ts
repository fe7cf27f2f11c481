import { readFileSync } from "node:fs";
import { writeDurablySync } from "../../platform/files.ts";
import { newSecretsKey, parseSecretsKeys, type SecretsKeys } from "./secrets.ts";

/**
 * Returns the keys that encrypt secrets in the embedded database if `SECRETS_KEY` is not set. The first start writes them to a file that only its
 * owner can read.
 *
 * @throws an Error whose one line names the file, what is wrong with it and what to do
 */
export function secretsKeysIn(path: string): SecretsKeys {
  const text = read(path) ?? make(path);
  try {
    return parseSecretsKeys(text.trim());
  } catch (error) {
    const fault = text.trim() === "" ? "is empty" : "is damaged: it does not hold 32 bytes as base64";
    throw new Error(`${path} ${fault}. Restore it from a backup, or set SECRETS_KEY to the key that it held`, { cause: error });
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    throw new Error(`${path} cannot be read (${code}): the service needs it to open what is encrypted`, { cause: error });
  }
}

function make(path: string): string {
  const text = `${newSecretsKey()}\n`;
  writeDurablySync(path, text);
  return text;
}
