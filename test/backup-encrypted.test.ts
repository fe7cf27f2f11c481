import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { encryptAllCheaply, encryptCheaply } from "./support/age.ts";
import { contentsOf, done, refused } from "./support/backups.ts";
import { runCommand } from "./support/commands.ts";
import { temporaryFolder } from "./support/folder.ts";
import { startService } from "./support/service.ts";
import { made } from "./support/shop.ts";

/** An empty target of a restore. */
const newPlace = (t: TestContext) => ({ DATA_DIR: join(temporaryFolder(t), "data") });

test("the command says that the key is in clear, and encrypts with a passphrase", async (t) => {
  encryptAllCheaply(t);
  const folder = temporaryFolder(t);
  const service = await startService();
  t.after(() => service.close());
  await made(service, "POST", "/webhooks", { url: "https://hooks.example.com/", types: ["order.*"] }); // which has a secret
  const env = { DATA_DIR: service.dataDir };
  const [passphrase, wrong] = [join(folder, "passphrase"), join(folder, "wrong")];
  writeFileSync(passphrase, "correct horse battery staple\n");
  writeFileSync(wrong, "incorrect\n");
  const clear = await runCommand(["backup", join(folder, "clear")], env);
  assert.match(clear.out, /holds the secrets key in clear/);

  const hidden = join(folder, "hidden.age");
  const said = await runCommand(["backup", hidden, "--passphrase-file", passphrase], env);
  assert.equal(said.code, 0, said.error);
  assert.doesNotMatch(said.out, /in clear/);
  assert.equal(readFileSync(hidden, "latin1").slice(0, 22), "age-encryption.org/v1\n");
  const place = newPlace(t);
  const untouched = contentsOf(place.DATA_DIR);
  const cheap = await encryptCheaply(join(folder, "clear"), "correct horse battery staple");
  await refused(place, /is encrypted: add --passphrase-file/, "restore", hidden);
  await refused(place, /the passphrase is wrong/, "restore", cheap, "--passphrase-file", wrong);
  await refused({}, /the passphrase is wrong/, "verify", cheap, "--passphrase-file", wrong);
  await refused(place, /is not encrypted/, "restore", join(folder, "clear"), "--passphrase-file", passphrase);
  await refused(
    place,
    /passphrase cannot be read \(ENOENT\)|cannot be read \(ENOENT\)/,
    "restore",
    hidden,
    "--passphrase-file",
    join(folder, "none"),
  );
  assert.deepEqual(contentsOf(place.DATA_DIR), untouched);
  await done(place, "restore", hidden, "--passphrase-file", passphrase);
  assert.equal((await done<{ whole: boolean }>({}, "verify", cheap, "--passphrase-file", passphrase)).whole, true);
  const piped = join(folder, "piped.age");
  const fromInput = (words: string[], given: string, at: Record<string, string> = {}) =>
    runCommand([...words, "--passphrase-file", "-"], at, given);
  assert.equal((await fromInput(["backup", piped], "from a pipe\n", env)).code, 0);
  assert.equal((await fromInput(["verify", piped], "from a pipe\n")).code, 0);
  const cheaplyPiped = await encryptCheaply(join(folder, "clear"), "from a pipe");
  assert.equal((await fromInput(["verify", cheaplyPiped], "from a pipe")).code, 0);
  assert.match((await fromInput(["verify", cheaplyPiped], "another\n")).error, /the passphrase is wrong/);
  assert.match((await fromInput(["verify", piped], "")).error, /standard input is empty/);
  assert.match((await fromInput(["verify", piped], "\n")).error, /standard input must hold one line/);
  assert.equal((await fromInput(["restore", cheaplyPiped], "from a pipe\n", newPlace(t))).code, 0);
});
