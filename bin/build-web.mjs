// Builds the web application into dist/web unless what is there was made of the same files: `npm start` and `npm test` run it first.
// Plain JavaScript without types, so that it starts fast; Vite is only loaded when there is something to build.
import { createHash } from "node:crypto";
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
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
const compressible = "**/*.{html,js,css,svg}";

const inputs = hashOfInputs();
if (!isCurrent()) await build();

function isCurrent() {
  return existsSync(join(built, stamp)) && readFileSync(join(built, stamp), "utf8") === inputs;
}

async function build() {
  const started = performance.now();
  process.env.NODE_ENV = "production";
  const { build: bundle } = await import("vite");
  try {
    await bundle({ configFile: join(root, "web", "vite.config.ts"), logLevel: "warn", build: { outDir: fresh } });
    await Promise.all(globSync(compressible, { cwd: fresh }).map((path) => compress(join(fresh, path))));
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
  const files = ["package-lock.json", "bin/build-web.mjs", ...globSync("web/**/*", { cwd: root, withFileTypes: true }).flatMap(pathOf)];
  const hash = createHash("sha256");
  for (const path of files.toSorted())
    hash.update(`${path}\0`).update(
      createHash("sha256")
        .update(readFileSync(join(root, path)))
        .digest(),
    );
  return hash.digest("hex");
}

function pathOf(entry) {
  if (!entry.isFile() || /\.test\.tsx?$/.test(entry.name)) return [];
  return [join(entry.parentPath, entry.name).slice(root.length).replaceAll("\\", "/")];
}
