import assert from "node:assert/strict";
import { globSync, readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { booleanArguments } from "./boolean-arguments.ts";
import { citable, deadCitations, deadNames } from "./citations.ts";
import { longFunctions } from "./function-length.ts";
import { directions, linesMax, type SourceFile, violations } from "./layout.ts";
import { smallFiles } from "./small-files.ts";

const root = new URL("../", import.meta.url);

/** Reads the project's files of these patterns. */
function read(...patterns: string[]): SourceFile[] {
  const paths = globSync(patterns, { cwd: root, exclude: ["**/node_modules/**", "**/dist/**"] });
  return paths.map((path) => ({ path: path.replaceAll("\\", "/"), text: readFileSync(new URL(path, root), "utf8") }));
}

const isTest = (path: string): boolean => /\.test\.tsx?$/.test(path);

test("the source keeps to the layout", () => {
  const files = read("src/**/*.ts", "client/**/*.ts", "web/**/*.{ts,tsx}", "bench/**/*.ts", "bin/*.mjs");
  assert.ok(files.some(({ path }) => path === "src/platform/clock.ts"));
  assert.deepEqual(violations(files), []);
});

test("no file of tests, nor of their support, is over 400 lines", () => {
  const files = read("{src,client,web,bench,test}/**/*.test.{ts,tsx}", "test/support/*.ts");
  assert.ok(files.some(({ path }) => path === "test/layout.test.ts"));
  const long = files.map(({ path, text }) => ({ path, lines: text.trimEnd().split("\n").length })).filter(({ lines }) => lines > linesMax);
  assert.deepEqual(long, []);
});

test("a small file that only one other file uses is part of that file", () => {
  assert.deepEqual(smallFiles(read("{src,client,web,bench,test,bin}/**/*.{ts,tsx,mjs}")), []);
  const [small, other] = ["export const a = 1;\n", "export const b = 1;\n".repeat(20)];
  const used = {
    path: "src/a/user.ts",
    text: `import { a } from "./small.ts";\nimport { b } from "./other.ts";\nawait import("./late.ts");\n${other}`,
  };
  const files = [
    used,
    { path: "src/a/small.ts", text: small },
    { path: "src/a/other.ts", text: other },
    { path: "src/a/late.ts", text: small },
  ];
  assert.deepEqual(smallFiles(files), ["src/a/small.ts: only src/a/user.ts uses it, and it has few lines"]);
  assert.deepEqual(smallFiles([...files, { path: "src/a/small.test.ts", text: used.text }]), [], "what a test reads may stand alone");
});

test("functions fit on a screen", () => {
  const files = read("{src,client,web,bench,test}/**/*.{ts,tsx}", "bin/*.mjs").filter(({ path }) => !path.endsWith(".gen.ts"));
  assert.deepEqual(longFunctions(files), []);
});

test("a call says what a boolean means", () => {
  assert.deepEqual(booleanArguments(read("{src,client,web,bench}/**/*.{ts,tsx}", "bin/*.mjs").filter(({ path }) => !isTest(path))), []);
  const text = "connect(file, true);\nnew Fault(`late`, false);\nconnect(file, { readOnly: true });\nset(true);\nawait sleep(1, false);";
  assert.deepEqual(booleanArguments([{ path: "src/a.ts", text }]), ["src/a.ts: connect", "src/a.ts: Fault"]);
});

test("a function over 60 lines is found by its name", () => {
  const body = "{\n" + "  work();\n".repeat(59) + "}";
  const text = `function declared() ${body}\nconst held = async () => ${body};\nlisten(() => ${body});\ntest("a story", () => ${body});\nfunction fits() {\n}`;
  const long = ["declared", "held", "listen (callback)"].map((name) => `src/a.ts#${name}`);
  const file = { path: "src/a.ts", text };
  assert.deepEqual(
    longFunctions([file]),
    long.map((name) => `${name}: has 61 lines, and 60 is the most`),
  );
});

test("every citation of the specification or of a decision can be followed", () => {
  const known = citable(read("docs/specification/*.md"), readdirSync(new URL("docs/decisions/", root)));
  assert.ok(known.sections.has("1.1") && known.decisions.has(1));
  const sources = read("{src,client,web,bench,test,bin,starter}/**/*.{ts,tsx,mjs,js,css}", "migrations/*.sql", "*.md", "docs/**/*.md");
  const files = sources.filter(({ path }) => path !== "test/layout.test.ts");
  assert.deepEqual(deadCitations(files, known), []);
});

test("files and names that documents and comments give in backticks exist", () => {
  const code = read("{src,client,web,bench,test,bin,starter,deploy}/**/*.{ts,tsx,mjs,js,json,html,css}", "migrations/*.sql", "*.{ts,json}");
  const documents = read("docs/decisions/*.md", "docs/*.md", "*.md").filter(({ path }) => path !== "CHANGELOG.md");
  const [before = "", after = ""] = documents
    .find(({ path }) => path === "CONTRIBUTING.md")!
    .text.split(/^## Add a field[^]*^(?=## Glossary)/m);
  const contributing = { path: "CONTRIBUTING.md", text: before + after }; // its steps name files that somebody is about to add
  const sources = code.filter(({ path }) => /^(src|web|client|bench)\/.*\.tsx?$/.test(path) && !isTest(path));
  assert.deepEqual(deadNames([...documents.filter(({ path }) => path !== contributing.path), contributing, ...sources], code), []);
  const named = {
    path: "src/a.ts",
    text: "/** `b.ts`, `src/a.ts`, `x/a.ts`, `petCount`, `petCounts` and `word`. */\nconst petCount = 1; // `c.mjs`\n",
  };
  assert.deepEqual(deadNames([named], [named]), ["src/a.ts: b.ts", "src/a.ts: x/a.ts", "src/a.ts: petCounts", "src/a.ts: c.mjs"]);
});

test("the decisions are numbered from 1 on, each once, and each page begins with its number", () => {
  const decisions = readdirSync(new URL("docs/decisions/", root)).toSorted();
  const numbers = decisions.map((name) => Number(name.slice(0, 4)));
  assert.deepEqual(
    numbers,
    numbers.map((_, i) => i + 1),
  );
  for (const name of decisions) {
    const text = readFileSync(new URL(`docs/decisions/${name}`, root), "utf8");
    assert.ok(text.startsWith(`# ${Number(name.slice(0, 4))}. `), name);
  }
});

test("a citation that leads nowhere is found", () => {
  const known = citable(
    [{ path: "docs/specification/1-api.md", text: "# 1. The API\n\n## 1.1 Paths\n\n## 1.2 Bodies\n" }],
    ["0001-a.md", "0029-b.md"],
  );
  const text = "(specification 1.1, 1.2 and 1.3; decision 29) /** decision 0030, specification\n2.1, spec part 3 */";
  assert.deepEqual(deadCitations([{ path: "src/a.ts", text }], known), [
    "src/a.ts: specification 1.3 does not exist",
    "src/a.ts: specification 2.1 does not exist",
    "src/a.ts: decision 0030 does not exist",
    'src/a.ts: "spec part 3" has no section to look up',
  ]);
});

test("the source has few top-level folders and layers, and no import points upwards", () => {
  const folderOf = (path: string): string => /^(src\/[^/]+|[^/]+)/.exec(path)?.[0] ?? path;
  const places = Object.keys(directions);
  const folders = new Map(places.map((place) => [folderOf(place), new Set<string>()]));
  for (const [place, allowed] of Object.entries(directions)) {
    const targets = allowed.flatMap((path) => places.filter((known) => `${known}/`.startsWith(`${path}/`) || path.startsWith(`${known}/`)));
    for (const target of targets.map(folderOf)) if (target !== folderOf(place)) folders.get(folderOf(place))?.add(target);
  }
  const layerOf = (folder: string, above: string[] = []): number => {
    assert.ok(!above.includes(folder), `an import points upwards: ${[...above, folder].join(" → ")}`);
    const below = Array.from(folders.get(folder) ?? [], (target) => layerOf(target, [...above, folder]));
    return 1 + Math.max(0, ...below);
  };
  const layers = Math.max(...Array.from(folders.keys(), (folder) => layerOf(folder)));
  assert.ok(folders.size <= 16 && layers <= 7, `${folders.size} folders in ${layers} layers`);
});

/** A small project without a violation; each case adds a file to it. */
const clean: Record<string, string> = {
  "src/main.ts": `import { serve } from "./commands/serve.ts";`,
  "src/commands/serve.ts": `import { start } from "../app/server.ts";\nimport { settings } from "../app/settings.ts";`,
  "src/app/server.ts": `import { open } from "./service.ts";`,
  "src/app/service.ts": `import { api } from "./api.ts";\nimport { pets } from "../store/pets/pets.store.ts";\nimport { open } from "../publishing/edge/edge.ts";`,
  "src/app/settings.ts": `export const port = process.env.PORT;`,
  "src/app/api.ts": `import { petRoutes } from "../store/pets/pets.routes.ts";\nimport { problem } from "../platform/problem.ts";`,
  "src/platform/problem.ts": ``,
  "src/platform/clock.ts": `export const systemClock = () => Date.now();`,
  "src/store/categories/categories.store.ts": ``,
  "src/store/pets/pets.ts": `import type { Problem } from "../../platform/problem.ts";`,
  "src/store/pets/pets.store.ts": `import { petOf } from "./pets.ts";\nimport { find } from "../categories/categories.store.ts";`,
  "src/store/pets/pets.routes.ts": `import { listPets } from "./pets.store.ts";\nimport findMyWay from "find-my-way";`,
  "src/store/orders/orders.ts": `import { petOf } from "../pets/pets.ts";`,
  "src/callers/keys/keys.ts": ``,
  "src/publishing/edge/edge.ts": `import { problem } from "../../platform/problem.ts";`,
};

function findings(added: Record<string, string>): string[] {
  return violations(Object.entries({ ...clean, ...added }).map(([path, text]) => ({ path, text })));
}

test("source that keeps to the layout has no violations", () => {
  assert.deepEqual(findings({}), []);
});

const cases: [promise: string, path: string, text: string][] = [
  ["the platform knows nothing above it", "src/platform/log.ts", `import { petOf } from "../store/pets/pets.ts";`],
  ["feature folders do not import each other", "src/store/orders/orders.routes.ts", `import { keyOf } from "../../callers/keys/keys.ts";`],
  ["nouns of the store import only nouns below them", "src/store/categories/categories.ts", `import { petOf } from "../pets/pets.ts";`],
  ["nouns of the callers import only nouns below them", "src/callers/accounts/accounts.ts", `import { keyOf } from "../keys/keys.ts";`],
  ["the edge imports no sibling", "src/publishing/edge/sites.ts", `import type { Domain } from "../domains/domains.ts";`],
  ["DNS knows nothing of domains", "src/publishing/dns/lookup.ts", `import type { Domain } from "../domains/domains.ts";`],
  ["domains know nothing of certificates", "src/publishing/domains/domains.ts", `import "../certificates/certificates.store.ts";`],
  ["nobody but the edge's builder imports the edge", "src/publishing/domains/domains.ts", `import { open } from "../edge/edge.ts";`],
  ["rules do not know their store", "src/store/orders/orders.ts", `import { insert } from "./orders.store.ts";`],
  ["rules do not know their routes", "src/store/orders/orders.ts", `export { orderRoutes } from "./orders.routes.ts";`],
  ["a store does not know its routes", "src/store/categories/categories.store.ts", `import "./categories.routes.ts";`],
  ["another folder's routes are its own", "src/store/orders/orders.routes.ts", `import { petRoutes } from "../pets/pets.routes.ts";`],
  ["another folder's routes are for the app", "src/store/orders/orders.store.ts", `import { petRoutes } from "../pets/pets.routes.ts";`],
  ["feature folders do not import src/app", "src/store/pets/pets.ts", `import { port } from "../../app/settings.ts";`],
  ["commands reach a feature folder through src/app", "src/commands/keys.ts", `import { keyOf } from "../callers/keys/keys.ts";`],
  ["source does not import tests", "src/store/pets/pets.ts", `import { sample } from "../../../test/sample.ts";`],
  ["a type import is an import", "src/platform/log.ts", `let a: import("../app/settings.ts").Settings;`],
  ["a dynamic import is an import", "src/platform/log.ts", `await import('../app/settings.ts');`],
  ["an import over several lines is an import", "src/platform/log.ts", `import {\n  // why\n  a,\n} from "../app/settings.ts";`],
  ["a dynamic import names its file", "src/commands/run.ts", "await import(`./${name}.ts`);"],
  ["a relative import names its file with its ending", "src/commands/run.ts", `import { settings } from "../settings";`],
  ["a new folder needs a place in the table", "src/misc/thing.ts", ``],
  ["only settings.ts reads the environment", "src/app/api.ts", `const port = process.env["PORT"];`],
  ["the environment has no other name", "src/app/api.ts", `import { env } from "node:process";`],
  ["a default import of process does not evade that", "src/app/api.ts", `import process from "process";`],
  ["time comes from the clock", "src/store/pets/pets.ts", `const now = Date.now();`],
  ["now comes from the clock", "src/store/pets/pets.ts", "const text = `${new Date().toISOString()}`;"],
  ["files are written durably", "src/store/pets/pets.ts", `import { readFile, writeFile } from "node:fs/promises";`],
  ["a stream does not evade that", "src/store/pets/pets.ts", `import {\n  createWriteStream,\n} from "fs";`],
  ["an import of all of node:fs does not evade that", "src/store/pets/pets.ts", `import * as files from "node:fs";`],
  ["a file is not opened to be written", "src/store/pets/pets.ts", `const file = await open(join(folder, "a"), "w", 0o600);`],
  ["SQLite plans a statement once", "src/store/pets/pets.store.ts", "const page = sql`SELECT id FROM pets ORDER BY id LIMIT ${limit}`;"],
  ["nothing is read again beside reread", "web/pets/cache.ts", "void client.invalidateQueries(petQuery);"],
  ["no file is over 400 lines", "src/store/pets/pets.ts", "const a = 1;\n".repeat(401)],
];

for (const [promise, path, text] of cases) {
  test(`a violation is found: ${promise}`, () => {
    const found = findings({ [path]: text });
    assert.equal(found.length, 1, found.join("\n"));
    assert.ok(found[0]?.startsWith(`${path}: `));
  });
}

test("a violation is found: imports make no cycle", () => {
  const a = `import { b } from "./b.ts";`;
  const c = `import type { A } from "./a.ts";`;
  const found = findings({ "src/platform/a.ts": a, "src/platform/b.ts": `export * from "./c.ts";`, "src/platform/c.ts": c });
  assert.deepEqual(found, [
    "src/platform/a.ts: imports in a cycle: src/platform/a.ts → src/platform/b.ts → src/platform/c.ts → src/platform/a.ts",
  ]);
});

test("comments, strings and tests are not taken for violations", () => {
  const text =
    `// Date.now() and import "../store/pets/pets.ts"\n/* process.env */ const url = "https://x/new Date()"; new Date(0);`.concat(
      "`new Date() \\${Date.now()}`",
    );
  const tested = `import { petOf } from "../store/pets/pets.ts"; Date.now(); process.env.HOME;\n`.repeat(301);
  assert.deepEqual(findings({ "src/platform/log.ts": text, "src/platform/log.test.ts": tested }), []);
});
