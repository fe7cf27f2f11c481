import assert from "node:assert/strict";
import { before, test } from "node:test";
import { Encrypter } from "age-encryption";
import { decrypted, encrypted } from "./encryption.ts";

const passphrase = "correct horse";

async function bytesOf(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(source));
}

async function* only(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes;
}

const plain = Buffer.from("a backup".repeat(20_000));
let file: Buffer;
before(async () => void (file = await bytesOf(encrypted(only(plain), passphrase))));

test("an encrypted file can be decrypted with its passphrase only, of which a guess costs 2^17 steps of scrypt", async () => {
  assert.match(file.toString("latin1"), /^age-encryption\.org\/v1\n-> scrypt \S+ 17\n/);
  assert.deepEqual(await bytesOf(decrypted(only(file), passphrase)), plain);
  const cheap = new Encrypter();
  cheap.setPassphrase(passphrase);
  cheap.setScryptWorkFactor(1);
  const cheapFile = Buffer.from(await cheap.encrypt(plain));
  await assert.rejects(bytesOf(decrypted(only(cheapFile), "wrong")), /the passphrase is wrong/);
  await assert.rejects(bytesOf(decrypted(only(file), undefined)), /--passphrase-file/);
});

test("a file that asks for more than 256 MiB for its passphrase is refused before anything is computed", async () => {
  for (const factor of ["19", "30", "63", "99"]) {
    const costly = Buffer.from(file.toString("latin1").replace(/(-> scrypt \S+) \d+/, `$1 ${factor}`), "latin1");
    await assert.rejects(bytesOf(decrypted(only(costly), passphrase)), /not encrypted with a passphrase as this program or age does/);
  }
});
