import assert from "node:assert/strict";
import { test } from "node:test";
import { archiveLimits } from "../../src/publishing/projects/archive.ts";
import { projectFileName as servedName } from "../../src/publishing/projects/project-file.ts";
import { publishable, siteProblem } from "./publishable.ts";
import { projectFileName, siteLimits } from "./site.ts";

const oneMiB = 1_048_576;
const file = (path: string, size = 10) => ({ path, file: { size } });
const pages = (count: number, size = 10) => Array.from({ length: count }, (_, index) => file(`${index}.html`, size));
const projectFile = file("petstore.json", 2);

test("a folder that just reaches the limits can be published", () => {
  assert.equal(siteProblem([projectFile, ...pages(siteLimits.filesMax)]), undefined);
  assert.equal(siteProblem([projectFile, ...pages(7, 25 * oneMiB), file("rest", 25 * oneMiB - 2)]), undefined);
});

test("the limits that the page checks before an upload are the service's", () => {
  const { pathBytesMax: _ofAllPaths, entriesMax: _ofAllEntries, ...checkedByThePage } = archiveLimits; // the service alone checks these
  assert.deepEqual(siteLimits, checkedByThePage);
  assert.equal(projectFileName, servedName);
});

test("a folder over a limit is refused before it is sent", () => {
  assert.deepEqual(siteProblem([]), { kind: "empty" });
  assert.deepEqual(siteProblem([projectFile, ...pages(siteLimits.filesMax + 1)]), { kind: "tooManyFiles" });
  assert.deepEqual(siteProblem([projectFile, file("film.mp4", 25 * oneMiB + 1)]), { kind: "largeFile", path: "film.mp4" });
  assert.deepEqual(siteProblem([projectFile, ...pages(8, 25 * oneMiB)]), { kind: "tooLarge" });
});

test("without a petstore.json at the top, the refusal names the nearest one below", () => {
  assert.deepEqual(siteProblem([file("index.html")]), { kind: "noProjectFile", nested: undefined });
  const deep = [file("a/b/petstore.json"), file("dist/petstore.json"), file("Petstore.json")];
  assert.deepEqual(siteProblem(deep), { kind: "noProjectFile", nested: "dist/petstore.json" });
});

test("hidden files but those of .well-known are left out, and so are installed packages", () => {
  const paths = [
    "index.html",
    ".well-known/security.txt",
    ".DS_Store",
    ".git/config",
    "a/.hidden/b",
    "node_modules/x/y.js",
    "a.b/c..d",
    "petstore.json",
  ];
  const files = paths.map((path) => ({ path, file: new File([], path) }));
  const { files: kept, leftOut } = publishable(files);
  assert.deepEqual(
    kept.map(({ path }) => path),
    ["index.html", ".well-known/security.txt", "a.b/c..d", "petstore.json"],
  );
  assert.deepEqual(leftOut, [".DS_Store", ".git/config", "a/.hidden/b", "node_modules/x/y.js"]);
});
