import { readFileSync, statSync } from "node:fs";
import { BackupError } from "./manifest.ts";

const bytesMax = 1_024;

/** Reads a passphrase: the first line of a file. @throws BackupError */
export function readPassphrase(path: string): string {
  let text: string;
  try {
    if (!statSync(path).isFile()) throw new BackupError(`--passphrase-file: ${path} is not a file`);
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof BackupError) throw error;
    throw new BackupError(`--passphrase-file: ${path} cannot be read (${(error as NodeJS.ErrnoException).code})`, { cause: error });
  }
  return passphraseIn(text, path);
}

/** The passphrase in the text of a file or of standard input. @throws BackupError */
export function passphraseIn(text: string, place: string): string {
  const [passphrase = "", ...rest] = text.replace(/\r?\n$/, "").split(/\r?\n/);
  if (passphrase === "" || rest.length > 0 || Buffer.byteLength(passphrase) > bytesMax) {
    throw new BackupError(`--passphrase-file: ${place} must hold one line, of at most ${bytesMax} bytes`);
  }
  return passphrase;
}
