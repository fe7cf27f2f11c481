// Bundles for Node 20 and browsers: the client's package, and the command line without the service.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { isolatedDeclarationSync } from "rolldown/experimental";

const root = fileURLToPath(new URL("..", import.meta.url));
const client = join(root, "client");
const require = createRequire(join(root, "package.json"));
/** The packages whose types the client's types refer to, and the files with them. */
const types = { "openapi-fetch": "index.d.mts", "openapi-typescript-helpers": "index.d.ts" };
/** Sources that the package's types do not refer to. */
const withoutTypes = new Set(["chunks.ts", "generate.ts", "limits.ts", "references.ts"]);

/**
 * Writes the client's package into a folder: `index.js` without imports, its types, and the licences of the bundled code; and the same
 * for CommonJS in `cjs`, with types of its own, because the nearest package.json decides as which kind of module TypeScript reads them.
 */
export async function buildClient(folder) {
  const cjs = join(folder, "cjs");
  mkdirSync(cjs, { recursive: true });
  writeFileSync(join(cjs, "package.json"), '{ "type": "commonjs" }\n');
  for (const [place, format] of [
    [folder, "es"],
    [cjs, "cjs"],
  ]) {
    await bundle(join(client, "index.ts"), join(place, "index.js"), { platform: "neutral", format });
    writeTypes(place);
  }
  const licences = [root, ...Object.keys(types).map((name) => join(require.resolve(name), "../.."))];
  writeFileSync(
    join(folder, "LICENSE"),
    licences.map((place) => readFileSync(join(place, "LICENSE"), "utf8").trim()).join("\n\n---\n\n") + "\n",
  );
}

function writeTypes(folder) {
  for (const name of readdirSync(client).filter((path) => path.endsWith(".ts") && !withoutTypes.has(path))) {
    const { code, errors } = isolatedDeclarationSync(name, readFileSync(join(client, name), "utf8"));
    if (errors.length > 0) throw new Error(`client/${name}: ${errors[0].message}`);
    writeFileSync(join(folder, name.replace(/\.ts$/, ".d.ts")), declarations(code));
  }
  for (const [name, file] of Object.entries(types))
    writeFileSync(join(folder, `${name}.d.ts`), declarations(readFileSync(join(require.resolve(name), "..", file), "utf8")));
}

/** Bundles an entry with everything that it imports into one file. */
export async function bundle(entry, file, { platform, format = "es" }) {
  const built = await rolldown({
    input: entry,
    platform,
    logLevel: "warn",
    transform: { target: "es2022" },
    resolve: { mainFields: ["module", "main"], modules: [join(root, "node_modules")] },
    onLog(_level, { message }) {
      throw new Error(message);
    },
  });
  await built.write({ file, format, codeSplitting: false, comments: { legal: true } });
  await built.close();
}

/** Rewrites imports to the package's file names, so that its types need no other package. */
function declarations(text) {
  return text
    .replaceAll(/(from\s+|import\()(["'])\.\/([\w.-]+)\.ts\2/g, "$1$2./$3.js$2")
    .replaceAll(/(from\s+)(["'])(openapi-fetch|openapi-typescript-helpers)\2/g, "$1$2./$3.js$2");
}
