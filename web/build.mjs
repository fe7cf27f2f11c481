// Builds the pages into dist/web, the API reference that `petstore init --reference` copies into dist/reference, and the client's
// package into client/dist.
// bin/build-web.mjs runs this if they are not current, and passes the hash of the files that the build reads.
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { build as bundle } from "vite";
import { buildClient } from "./bundles.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const built = join(root, "dist");
const builtClient = join(root, "client", "dist");
/** What bin/build-command.mjs has built. It stays: it may be packed at this moment. */
const command = join(built, "command");
const stamp = "inputs.sha256";
/** Builds here and then moves the result to `built`, so that the service never reads half of a build. */
const fresh = join(root, ".cache", `dist.${process.pid}`);
const bundles = { web: "web/vite.config.ts", reference: "web/published/vite.config.ts" };
const compressible = /\.(html|js|css|svg)$/;

const [inputs] = process.argv.slice(2);
if (inputs === undefined) throw new Error("run bin/build-web.mjs, which passes the hash of the inputs");
await build();

async function build() {
  const started = performance.now();
  process.env.NODE_ENV = "production";
  try {
    for (const [name, config] of Object.entries(bundles))
      await bundle({ configFile: join(root, config), logLevel: "warn", build: { outDir: join(fresh, name) } });
    const files = readdirSync(join(fresh, "web"), { recursive: true }).filter((path) => compressible.test(path));
    await Promise.all(files.map((path) => compress(join("web", path))));
    await buildClient(join(fresh, "client"));
    writeFileSync(join(fresh, stamp), inputs);
    replaceBuilt();
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  console.error(`Built the web pages (${Math.round(performance.now() - started)} ms)`);
}

/** Fails if another build finishes at the same time, unless that one was of the same inputs. */
function replaceBuilt() {
  try {
    rmSync(builtClient, { recursive: true, force: true });
    renameSync(join(fresh, "client"), builtClient);
    if (existsSync(command)) renameSync(command, join(fresh, "command"));
    rmSync(built, { recursive: true, force: true });
    renameSync(fresh, built);
  } catch (error) {
    if (!existsSync(join(built, stamp)) || readFileSync(join(built, stamp), "utf8") !== inputs) throw error;
  }
}

/** Writes a `.br` and a `.gz` beside a file, each if it is smaller than the file: those of the last build if the file is the same. */
async function compress(path) {
  const [file, last] = [join(fresh, path), join(built, path)];
  const body = await readFile(file);
  const isSame = existsSync(last) && body.equals(await readFile(last));
  const quality = {
    params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY, [constants.BROTLI_PARAM_SIZE_HINT]: body.length },
  };
  const variants = { br: () => promisify(brotliCompress)(body, quality), gz: () => promisify(gzip)(body, { level: 9 }) };
  for (const [ending, variant] of Object.entries(variants)) {
    const kept = `${last}.${ending}`;
    const compressed = await (isSame && existsSync(kept) ? readFile(kept) : variant());
    if (compressed.length < body.length) await writeFile(`${file}.${ending}`, compressed);
  }
}
