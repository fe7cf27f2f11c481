import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { test } from "node:test";
import { browserFiles, fileOf, groups } from "./suite-engines.ts";
import { faultSuites, longestFirst, longSuites, onDemandSuites, quickSuites, sharingSuites } from "./suites.ts";

const root = new URL("../", import.meta.url);
const files = globSync("test/**/*.test.ts", { cwd: root }).map((path) => path.replaceAll("\\", "/"));

/** The files below test/ that a file imports, and those that they import. */
function importsOf(path: string, found = new Set<string>()): Set<string> {
  if (found.has(path)) return found;
  found.add(path);
  for (const [, target = ""] of contentOf(path).matchAll(/^(?:import|export|\}) [^;]*?\bfrom "(\.[^"]+)";$/gm)) {
    const imported = posix.join(posix.dirname(path), target);
    if (imported.startsWith("test/")) importsOf(imported, found);
  }
  return found;
}

test("every suite that starts a service says in test/suite-engines.ts, once, which engines it runs on", () => {
  const starting = files.filter((path) => importsOf(path).has("test/support/service.ts"));
  const listed = groups.flatMap(({ suites }) => suites.map(fileOf));
  assert.deepEqual(listed.toSorted(), starting.toSorted());
});

test("suites that share a process exist, take no long time, start no service outside it and change no environment", () => {
  for (const suite of sharingSuites) {
    assert.ok(files.includes(fileOf(suite)) && !longSuites.includes(suite), suite);
    assert.doesNotMatch(contentOf(fileOf(suite)), /\bspawnServer\b|\bprocess\.(?:chdir\(|env\S* = )/, suite);
  }
});

test("the quick and the long suites exist, and the suites that search for faults are those that say how often", () => {
  const searching = files.filter((path) => /^import .* from "\.\/support\/fault-runs\.ts";$/m.test(contentOf(path)));
  assert.deepEqual(faultSuites.map(fileOf).toSorted(), searching.toSorted());
  for (const suite of onDemandSuites) assert.ok(faultSuites.includes(suite) && !sharingSuites.includes(suite), suite);
  for (const suite of [...quickSuites, ...longSuites]) assert.ok(files.includes(fileOf(suite)), suite);
});

test("a run starts jobs of several files first, then the long suites, the longest before the others", () => {
  const jobs = files.map((file) => ({ files: [file] }));
  const several = { files: files.slice(0, 2) };
  const ordered = longestFirst([...jobs, several]);
  assert.equal(ordered[0], several);
  assert.deepEqual(
    ordered.slice(1, longSuites.length + 1).map((job) => job.files[0]),
    longSuites.map(fileOf),
  );
  assert.deepEqual(new Set(ordered), new Set([...jobs, several]));
});

test("every suite that asks which engine it runs on runs on both", () => {
  const both = new Set(groups.filter(({ engines }) => engines === "both").flatMap(({ suites }) => suites.map(fileOf)));
  const asking = files.filter((path) => /import \{[^}]*\bengine\b[^}]*\} from "\.\/support\/service\.ts"/.test(contentOf(path)));
  assert.ok(asking.length > 0);
  assert.deepEqual(
    asking.filter((path) => !both.has(path)),
    [],
  );
});

test("every suite that shares the browser of its process stages what it looks at", () => {
  assert.deepEqual(
    browserFiles().filter((path) => !importsOf(path).has("test/support/browser.ts")),
    [],
  );
});

function contentOf(path: string): string {
  return readFileSync(new URL(path, root), "utf8");
}
