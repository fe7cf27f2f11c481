import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  copyFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "./support/folder.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
type Manifest = { dependencies: Record<string, string> };
type Lock = { packages: Record<string, { dev?: true }> };
const read = (path: string): unknown => JSON.parse(readFileSync(join(root, path), "utf8"));
const installed = read("node_modules/.package-lock.json") as Lock;
const manifest = read("package.json") as Manifest;

/** A copy of the project with its built pages and the service's packages, optionally those of the pages, and no npm. */
function clone(t: TestContext, { withPages = false }: { withPages?: boolean } = {}) {
  const folder = temporaryFolder(t);
  const sources = [
    "LICENSE",
    "bin",
    "client",
    "dist",
    "docs/guides",
    "migrations",
    "src",
    "starter",
    "web",
    "package.json",
    "package-lock.json",
    "openapi.json",
  ];
  const filter = (path: string): boolean => !path.endsWith("/node_modules");
  for (const name of sources) cpSync(join(root, name), join(folder, name), { recursive: true, filter });
  for (const [path, { dev }] of Object.entries(installed.packages)) {
    if (path.lastIndexOf("node_modules/") > 0 || dev === true) continue;
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    symlinkSync(join(root, path), join(folder, path));
  }
  copyFileSync(join(root, "node_modules/.package-lock.json"), join(folder, "node_modules/.package-lock.json"));
  if (withPages) symlinkSync(join(root, "web/node_modules"), join(folder, "web/node_modules"));
  const env = { PATH: "", NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] };
  const run = (script: string, ...args: string[]) =>
    spawnSync(process.execPath, [join(folder, "bin", script), ...args], { env, encoding: "utf8", timeout: 120_000 });
  return { folder, run };
}

test("with built pages and only the service's packages, a start installs and builds nothing", (t) => {
  const { folder, run } = clone(t);
  for (const [script, ...args] of [
    ["build-web.mjs", "--tidy", "--service"],
    ["install.mjs", "--production"],
  ] as const) {
    const { status, stdout, stderr } = run(script, ...args);
    assert.deepEqual([status, stdout, stderr], [0, "", ""], script);
  }
  const site = join(folder, "shop");
  const made = run("petstore.mjs", "init", site, "--key", `psp_${"0".repeat(36)}`, "--url", "https://pets.example.com", "--reference");
  assert.deepEqual([made.status, made.stderr], [0, ""], "the reference is copied");
  const page = readFileSync(join(site, "reference", "listPets", "index.html"), "utf8");
  assert.match(page, /<meta name="petstore-url" content="https:\/\/pets\.example\.com" \/>/);
});

test("a changed page is rebuilt after installing the packages of the pages, without development packages", (t) => {
  const service = clone(t);
  appendFileSync(join(service.folder, "web", "main.tsx"), "// changed\n");
  const refused = service.run("build-web.mjs");
  assert.equal(refused.status, 1);
  assert.match(refused.stderr, /^Installing npm packages of the pages \(none are installed\) …\ninstall: npm was not found/);

  const complete = clone(t, { withPages: true });
  appendFileSync(join(complete.folder, "web", "main.tsx"), "// changed\n");
  const built = complete.run("build-web.mjs", "--tidy");
  assert.deepEqual([built.status, built.stdout], [0, ""], built.stderr);
  assert.match(built.stderr, /^Built the web pages \(\d+ ms\)\n$/);
  assert.equal(complete.run("build-web.mjs").stderr, "", "once");
  assert.ok(existsSync(join(complete.folder, "web/node_modules/vite")), "packages that were there before stay");
});

test("the service's packages are exactly those that it imports", () => {
  const files = globSync(["src/**/*.ts", "client/*.ts"], { cwd: root }).filter((path) => !path.endsWith(".test.ts"));
  const imports = /(?:\bfrom |\bimport(?:\.meta\.resolve)?\(|^import )"((?:@[\w-]+\/)?[\w-]+)(?:\/[^"]+)?"/gm;
  const imported = new Set(
    files.flatMap((path) =>
      readFileSync(join(root, path), "utf8")
        .split("\n")
        .filter((line) => !line.startsWith("import type"))
        .flatMap((line) => [...line.matchAll(imports)].map(([, name]) => name ?? "")),
    ),
  );
  assert.deepEqual([...imported].toSorted(), Object.keys(manifest.dependencies).toSorted());
});

test("if npm's Node does not run, the installation succeeds on the user's Node 26, which npm scripts then find", (t) => {
  const { folder } = clone(t);
  const name = readdirSync(join(folder, "node_modules")).find((one) => one.startsWith("node-linux-")) ?? "";
  const brought = join(temporaryFolder(t), "node_modules");
  renameSync(join(folder, "node_modules"), brought);
  const { version } = read(`node_modules/${name}/package.json`) as { version: string };
  rmSync(join(brought, name));
  mkdirSync(join(brought, name, "bin"), { recursive: true });
  mkdirSync(join(brought, ".bin"));
  writeFileSync(join(brought, name, "package.json"), JSON.stringify({ name, version, bin: { node: "bin/node" } }));
  writeFileSync(join(brought, name, "bin", "node"), Uint8Array.of(0x7f, 0x45, 0x4c, 0x46), { mode: 0o755 });
  symlinkSync(join("..", name, "bin", "node"), join(brought, ".bin", "node"));
  // stands for npm, which would download these packages from the registry
  writeFileSync(join(brought, "..", "npm"), `#!/bin/sh\n/bin/mv ${brought} node_modules\n`, { mode: 0o755 });
  const run = () =>
    spawnSync(process.execPath, [join(folder, "bin", "install.mjs"), "--production"], {
      env: { PATH: dirname(brought) },
      encoding: "utf8",
    });
  const first = run();
  assert.deepEqual([first.status, first.stderr], [0, "Installing npm packages (none are installed) …\n"]);
  assert.deepEqual(readdirSync(join(folder, "node_modules", ".bin")), []);
  assert.deepEqual([run().status, run().stderr], [0, ""]);
});
