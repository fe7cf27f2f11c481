// Bundles the command line without the service into dist/command, a package without dependencies. bin/build-command.mjs runs this.
import { chmodSync, copyFileSync, cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundle } from "./bundles.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const built = join(root, "dist", "command");
/** Builds here and then moves the result to `built`, so that `npm pack` never reads half of a build. */
const folder = join(root, ".cache", `command.${process.pid}`);

mkdirSync(folder, { recursive: true });
const file = join(folder, "petstore.js");
await bundle(join(root, "src/commands/remote.ts"), file, { platform: "node" });
writeFileSync(file, `#!/usr/bin/env node\n${readFileSync(file, "utf8")}`);
chmodSync(file, 0o755);
cpSync(join(root, "starter"), join(folder, "starter"), { recursive: true });
copyFileSync(join(root, "LICENSE"), join(folder, "LICENSE"));
copyFileSync(join(root, "docs/commands.md"), join(folder, "README.md"));
const { name, version, license } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const manifest = {
  name,
  version,
  description: "The command line of the Pet Store service, for services on other machines",
  license,
  type: "module",
  bin: { petstore: "petstore.js" },
  engines: { node: ">=20" },
};
writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
rmSync(built, { recursive: true, force: true });
mkdirSync(join(root, "dist"), { recursive: true });
renameSync(folder, built);
