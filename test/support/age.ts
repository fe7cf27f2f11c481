import { readFileSync, writeFileSync } from "node:fs";
import type { TestContext } from "node:test";
import { Encrypter } from "age-encryption";

/** The least that the format allows. The program's own takes half a second for each use of the passphrase. */
const workFactor = 1;

/** Encrypts a file as the program does, with a passphrase that costs next to nothing. Returns the path of the result. */
export async function encryptCheaply(file: string, passphrase: string): Promise<string> {
  const encrypter = new Encrypter();
  encrypter.setPassphrase(passphrase);
  encrypter.setScryptWorkFactor(workFactor);
  const path = `${file}.${passphrase.replaceAll(" ", "-")}.age`;
  writeFileSync(path, await encrypter.encrypt(readFileSync(file)));
  return path;
}

/** Until the test ends, the program in this process encrypts so too. A unit test holds its own cost. */
export function encryptAllCheaply(t: TestContext): void {
  const set: (factor: number) => void = Reflect.get(Encrypter.prototype, "setScryptWorkFactor");
  t.mock.method(Encrypter.prototype, "setScryptWorkFactor", function (this: Encrypter) {
    Reflect.apply(set, this, [workFactor]);
  });
}
