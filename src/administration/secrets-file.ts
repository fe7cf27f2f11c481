import { readFileSync } from "node:fs";
import { join } from "node:path";
import { writeDurablySync } from "../platform/files.ts";
import { newSecretsKey, parseSecretsKeys, secretsKeysText, type SecretsKeys } from "../platform/secrets.ts";

/** The keys that encrypt secrets. `path` is the file that holds them; null if `SECRETS_KEY` does. */
export type Secrets = { keys: SecretsKeys; path: string | null };

/** Returns the keys of `SECRETS_KEY`, or those of the data folder if it is not set. @throws Error as `secretsKeysIn` does */
export function openSecrets({ secretsKey, dataDir }: { secretsKey: SecretsKeys | null; dataDir: string }): Secrets {
  if (secretsKey !== null) return { keys: secretsKey, path: null };
  const path = join(dataDir, "secrets.key");
  return { keys: secretsKeysIn(path), path };
}

/**
 * Returns the keys that encrypt secrets in the embedded database if `SECRETS_KEY` is not set. The first start writes them to a file that only its
 * owner can read.
 *
 * @throws Error with one line that says what is wrong with the file and what to do
 */
function secretsKeysIn(path: string): SecretsKeys {
  const text = read(path) ?? make(path);
  try {
    return parseSecretsKeys(text.trim());
  } catch (error) {
    const fault = text.trim() === "" ? "is empty" : "is damaged: it does not hold 32 bytes as base64";
    throw new Error(`${path} ${fault}. Restore it from a backup, or set SECRETS_KEY to the key that it held`, { cause: error });
  }
}

/** Makes a new key the current one. Writes it to the file before using it, so that no secret is encrypted with a key that only this process has. */
export function addNewKey(path: string, keys: SecretsKeys): void {
  const next = parseSecretsKeys(`${newSecretsKey()},${secretsKeysText(keys)}`);
  writeKeys(path, next);
  Object.assign(keys, next);
}

/** Removes the earlier keys from the file. Call it only once no secret is encrypted with them. */
export function dropEarlierKeys(path: string, keys: SecretsKeys): void {
  const { current } = keys;
  const next = { current, byId: new Map([[current.id, current]]) };
  writeKeys(path, next);
  Object.assign(keys, next);
}

function writeKeys(path: string, keys: SecretsKeys): void {
  writeDurablySync(path, `${secretsKeysText(keys)}\n`);
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    throw new Error(`${path} cannot be read (${code}): the service needs it to decrypt its secrets`, { cause: error });
  }
}

function make(path: string): string {
  const text = `${newSecretsKey()}\n`;
  writeDurablySync(path, text);
  return text;
}
