import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { hash } from "node:crypto";
import { appendFileSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { openBounds } from "../../platform/bounds.ts";
import { openSqlite } from "../../platform/db/sqlite.ts";
import { unpackArchive } from "./archive.ts";
import { localContent } from "./shared-content.ts";

const long = `${"folder/".repeat(12)}${"x".repeat(130)}.txt`;
const site: Record<string, string> = {
  "petstore.json": "{}",
  "index.html": "<p>Cats</p>".repeat(500),
  "größe.txt": "Größe",
  "empty.txt": "",
  ".well-known/security.txt": "Contact: x",
  ".env": "SECRET=1",
  [long]: "deep",
};
/** A file whose beginning is a hole, which some makers store as a sparse file. */
const sparse = { path: "holes.bin", text: `${"\0".repeat(2_000_000)}end` };
const published = [sparse.path, ...Object.keys(site).filter((path) => path !== "petstore.json" && path !== ".env")];

const packed =
  ([command = "", ...options]: string[]) =>
  (folder: string, out: string): void => {
    const bytes = execFileSync(command, [...options, "-c", "-f", "-", "-C", folder, "."], { maxBuffer: 16 * 1024 * 1024 });
    writeFileSync(out, options.includes("--format=zip") ? bytes : gzipSync(bytes));
  };
const python = (script: string) => (folder: string, out: string) => void execFileSync("python3", ["-c", script, folder, out]);
const tarfile = (format: string) =>
  python(`import sys, tarfile
with tarfile.open(sys.argv[2], "w:gz", format=tarfile.${format}) as tar: tar.add(sys.argv[1], ".")`);
const git = (format: string) => (folder: string, out: string) => {
  const run = (...options: string[]) => execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", "-C", folder, ...options]);
  run("init", "-q");
  run("add", "-A");
  run("commit", "-qm", "site");
  run("archive", `--format=${format}`, "-o", out, "HEAD");
};

const makers: Record<string, (folder: string, out: string) => void> = {
  ...Object.fromEntries(
    [
      ...["gnu", "oldgnu", "pax"].map((format) => ["tar", `--format=${format}`]),
      ...["0.0", "0.1", "1.0"].map((version) => ["tar", "-S", "--format=pax", `--sparse-version=${version}`]),
      ["tar", "-S", "--format=gnu"],
      ...["pax", "gnutar", "zip"].map((format) => ["bsdtar", `--format=${format}`]),
      ["busybox", "tar"],
    ].map((words) => [words.join(" "), packed(words)]),
  ),
  "Python's tarfile, GNU": tarfile("GNU_FORMAT"),
  "Python's tarfile, pax": tarfile("PAX_FORMAT"),
  "Python's zipfile": python(`import sys, shutil
shutil.make_archive(sys.argv[2], "zip", sys.argv[1]); import os; os.rename(sys.argv[2] + ".zip", sys.argv[2])`),
  "Python's zipfile to a stream, with the folder in it": python(`import sys, os, zipfile
class Pipe:
    def __init__(self, file): self.file = file
    def write(self, data): return self.file.write(data)
    def flush(self): pass
with open(sys.argv[2], "wb") as out, zipfile.ZipFile(Pipe(out), "w", zipfile.ZIP_DEFLATED) as zip:
    for parent, _, names in os.walk(sys.argv[1]):
        for name in names:
            path = os.path.join(parent, name)
            zip.write(path, os.path.join("My shop", os.path.relpath(path, sys.argv[1])))`),
  "git archive, tar": git("tar.gz"),
  "git archive, zip": git("zip"),
};

for (const [maker, make] of Object.entries(makers)) {
  test(`the same folder becomes the same site: ${maker}`, async (t) => {
    const top = temporaryFolder(t);
    const [folder, out] = [join(top, "site"), join(top, "packed.tar.gz")];
    for (const [path, text] of Object.entries(site)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    const holes = join(folder, sparse.path);
    writeFileSync(holes, "");
    truncateSync(holes, sparse.text.length - 3);
    appendFileSync(holes, "end");
    make(folder, out);
    const db = openSqlite(join(top, "test.db"));
    t.after(() => db.close());
    const { manifest, leftOut } = await unpackArchive(Readable.from([readFileSync(out)]), {
      content: localContent(db, top, openBounds()),
      claim: async () => undefined,
      compressInTurn: (compress) => compress(),
      signal: t.signal,
    });
    assert.deepEqual([...manifest.keys()].toSorted(), published.toSorted());
    for (const [path, { size, hash: found }] of manifest) {
      const text = path === sparse.path ? sparse.text : site[path]!;
      assert.deepEqual([size, found], [Buffer.byteLength(text), hash("sha256", text)], path);
    }
    assert.ok(leftOut.paths.includes(".env"));
  });
}
