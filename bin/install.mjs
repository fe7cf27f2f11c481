// Installs missing packages and programs; does nothing if all are there. Most npm scripts run it first.
//   (no option)    all npm packages, those of the pages too
//   --production   only the packages that the service needs; does not remove others
//   --pages        with --production: also the packages of the pages, which web/package.json lists
//   --system       also the programs that the tests run
//   --recipes      also the programs that check the recipes of deploy/; names those that it cannot install, and continues
//   --bench        also the programs that the measurements run
//   --clients      also the languages of the generated clients
// Plain JavaScript without dependencies for Node 20 and later. Writes to standard error only, so that `--json` output stays valid JSON.
import { spawn } from "node:child_process";
import { accessSync, constants, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, delimiter, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const nginx = { commands: ["nginx"], apt: "nginx-light libnginx-mod-stream" };
const caddy = { commands: ["caddy"], apt: "caddy" };
const promtool = { commands: ["promtool"], apt: "prometheus" };
/** For each Debian package, the commands of which one must exist, or a file of it that must. */
const systemPackages = {
  "--system": [
    { commands: ["curl"], apt: "curl" },
    { commands: ["openssl"], apt: "openssl" },
    promtool,
    { commands: ["redis-server"], apt: "redis-server" },
    { commands: ["redis-sentinel"], apt: "redis-sentinel" },
    { commands: ["pg_basebackup"], apt: "postgresql" },
    { commands: ["pgbouncer"], apt: "pgbouncer" },
    { commands: ["haproxy"], apt: "haproxy" },
    { commands: ["patroni"], apt: "patroni" },
    { commands: ["etcd"], apt: "etcd-server" },
    { commands: ["faketime"], apt: "faketime" },
    { commands: ["pebble"], apt: "pebble" },
    { commands: ["strace"], apt: "strace" },
    { commands: ["python3"], apt: "python3" },
    { commands: ["bsdtar"], apt: "libarchive-tools" },
    { commands: ["busybox"], apt: "busybox" },
    { commands: ["script"], apt: "bsdutils" },
    { commands: ["zsh"], apt: "zsh" },
    { commands: ["fish"], apt: "fish" },
    { commands: ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"], apt: "chromium-headless-shell" },
  ],
  "--recipes": [promtool, nginx, caddy, { commands: ["systemd-analyze"], apt: "systemd" }],
  "--clients": [
    { commands: ["javac"], apt: "default-jdk-headless" },
    { commands: ["mvn"], apt: "maven" },
    { commands: ["go"], apt: "golang-go" },
    { commands: ["cargo"], apt: "cargo" },
    { commands: ["php"], apt: "php-cli" },
    { file: "/usr/share/php/GuzzleHttp/autoload.php", apt: "php-curl php-mbstring php-guzzlehttp-guzzle" },
  ],
  "--bench": [
    { commands: ["wrk"], apt: "wrk" },
    { commands: ["taskset"], apt: "util-linux" },
    { commands: ["h2load"], apt: "nghttp2-client" },
    nginx,
    caddy,
  ],
};
const nodeMajor = 26;
const installMsMax = 15 * 60_000;

const root = fileURLToPath(new URL("..", import.meta.url));
const installLock = join(root, ".cache", "install.lock");
const options = process.argv.slice(2);
const production = options.includes("--production");
/** The folders with a package.json and a lock file. */
const folders = production && !options.includes("--pages") ? [""] : ["", "web"];

try {
  const unknown = options.find((option) => !["--production", "--pages"].includes(option) && !(option in systemPackages));
  if (unknown) throw new Error(`unknown option ${unknown}`);
  await installPackages();
  for (const option of options) await installPrograms(systemPackages[option] ?? [], option !== "--recipes");
} catch (error) {
  console.error(`install: ${error.message}`);
  process.exitCode = 1;
}

async function installPackages() {
  const wanted = packagesOf("package-lock.json");
  if (!wanted) throw new Error("package-lock.json is missing or is not JSON");
  const node = Object.keys(wanted[""].optionalDependencies ?? {}).find(
    (name) => name.startsWith("node-") && fits(wanted[`node_modules/${name}`]),
  );
  const ownNodeSuffices = Number.parseInt(process.versions.node) >= nodeMajor;
  if (!node && !ownNodeSuffices)
    throw new Error(
      `npm has no Node ${nodeMajor} for ${process.platform}-${process.arch}: install Node ${nodeMajor} yourself, then try again`,
    );
  if (folders.every((folder) => !difference(folder))) return;

  await alone(async () => {
    for (const folder of folders) await installFolder(folder, node, ownNodeSuffices);
  });
}

/**
 * @param node the package of the pinned Node, which the root's packages include; undefined if there is none for this system
 * @param ownNodeSuffices whether the service can run on the Node that runs this
 */
async function installFolder(folder, node, ownNodeSuffices) {
  const reason = difference(folder);
  if (!reason) return;
  console.error(`Installing npm packages${folder && ` of the pages`} (${reason}) …`);
  await npmCi(folder);
  const left = difference(folder);
  if (left) throw new Error(`npm ci succeeded, but ${left}`);
  if (!node || folder !== "") return;
  if (production) rmSync(join(root, "node_modules", node, "include"), { recursive: true, force: true }); // 67 MB for C compilers
  if (await runs(node)) return;
  if (!ownNodeSuffices)
    throw new Error(
      `the Node that npm installed does not run on this system, which lacks glibc: install Node ${nodeMajor} yourself, then try again`,
    );
  rmSync(join(root, "node_modules/.bin/node"), { force: true }); // npm scripts would run it in place of the system's
}

/** The first difference between a folder's node_modules and its package-lock.json, as text; undefined if there is none. */
function difference(folder) {
  const wanted = packagesOf(join(folder, "package-lock.json"));
  const installed = packagesOf(join(folder, "node_modules/.package-lock.json"));
  if (!installed) return "none are installed";
  for (const [path, entry] of Object.entries(wanted)) {
    if (!path.startsWith("node_modules/")) continue;
    const there = installed[path];
    const name = path.slice("node_modules/".length);
    if (there && existsSync(join(root, folder, path))) {
      if (there.version !== entry.version || there.integrity !== entry.integrity)
        return `${name} is not version ${entry.version} of the lock file`;
    } else if (!(production && entry.dev) && !(entry.optional && mayBeLeftOut(entry))) return `${name} is missing`;
  }
  const stray = Object.keys(installed).find((path) => !wanted[path] && existsSync(join(root, folder, path)));
  return stray && `${stray.slice("node_modules/".length)} is not in the lock file`;
}

function packagesOf(file) {
  try {
    return JSON.parse(readFileSync(join(root, file), "utf8")).packages;
  } catch {
    return undefined;
  }
}

/** npm also leaves out an optional package for every platform if only packages for other platforms depend on it. */
function mayBeLeftOut(entry) {
  return !fits(entry) || !(entry.os || entry.cpu || entry.libc);
}

/** Whether a package of the lock file is for this platform. `os`, `cpu` and `libc` list names; `!` excludes one. */
function fits(entry) {
  const allows = (rule, actual) => {
    const names = [rule ?? []].flat();
    if (names.includes(`!${actual()}`)) return false;
    return names.every((name) => name.startsWith("!")) || names.includes(actual());
  };
  return allows(entry.os, () => process.platform) && allows(entry.cpu, () => process.arch) && allows(entry.libc, libc);
}

function libc() {
  if (process.platform !== "linux") return undefined;
  process.report.excludeNetwork = true;
  return process.report.getReport().header.glibcVersionRuntime ? "glibc" : "musl";
}

/** Passes all options explicitly, because NODE_ENV or the user's npm settings may change the defaults. */
async function npmCi(folder) {
  const args = ["ci", production ? "--omit=dev" : "--include=dev", "--include=optional", "--no-audit", "--no-fund"];
  const cwd = join(root, folder);
  // Inside an npm script `node` may be the one in node_modules, which `npm ci` is about to delete, so this uses npm's own Node.
  const { npm_execpath: script, npm_node_execpath: node } = process.env;
  const inNpm = node && script && basename(script) === "npm-cli.js";
  const { code, output } = inNpm
    ? await run(node, [script, ...args], { cwd })
    : await run("npm", args, { cwd, shell: process.platform === "win32" });
  if (code === 0) return;
  if (code === "ENOENT") throw new Error("npm was not found: install Node.js together with npm, then try again");
  console.error(output.trimEnd());
  if (/\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|ETIMEDOUT)\b/.test(output))
    throw new Error("npm ci could not reach the package registry: check the network or the proxy, then try again");
  throw new Error(`npm ci failed (${code}), its output is above`);
}

/** Whether an installed Node runs here. It needs glibc, but npm also installs it on systems with another C library. */
async function runs(name) {
  const folder = join(root, "node_modules", name);
  const { code } = await run(join(folder, JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).bin.node), ["--version"]);
  return code === 0;
}

/** Runs one installer at a time in a folder, because `npm ci` deletes node_modules first. Takes over the lock of a process that has ended. */
async function alone(body) {
  mkdirSync(dirname(installLock), { recursive: true });
  for (const until = Date.now() + installMsMax; ; await sleep(200)) {
    try {
      writeFileSync(installLock, String(process.pid), { flag: "wx" });
      break;
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
      if (!isHolderAlive()) rmSync(installLock, { force: true });
      else if (Date.now() > until)
        throw new Error(`another installation is still running; if there is none, delete ${installLock}`, { cause: error });
    }
  }
  try {
    await body();
  } finally {
    rmSync(installLock, { force: true });
  }
}

function isHolderAlive() {
  try {
    process.kill(Number(readFileSync(installLock, "utf8")) || process.pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

/** @param areNeeded whether to stop if they cannot be installed */
async function installPrograms(programs, areNeeded) {
  const isThere = ({ commands = [], file }) => (file === undefined ? commands.some(onPath) : existsSync(file));
  const missing = programs.filter((program) => !isThere(program)).flatMap(({ apt }) => apt.split(" "));
  if (missing.length === 0) return;
  const mayInstall = process.getuid?.() === 0 && existsSync("/etc/debian_version") && onPath("apt-get");
  if (!mayInstall && !areNeeded) return console.error(`Not checked without ${missing.join(", ")} (names of Debian packages)`);
  if (!mayInstall) throw new Error(`please install ${missing.join(", ")} (names of the Debian packages), then try again`);

  console.error(`Installing ${missing.join(", ")} by apt-get …`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  for (const args of [["update"], ["install", "--yes", "--no-install-recommends", ...missing]]) {
    const { code, output } = await run("apt-get", ["-o", "DPkg::Lock::Timeout=120", ...args], { env });
    if (code === 0) continue;
    console.error(output.trimEnd());
    throw new Error(`apt-get ${args[0]} failed (${code}), its output is above`);
  }
}

function onPath(command) {
  return [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin"].some((folder) => {
    try {
      accessSync(join(folder, command), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** Runs a program without input. `code` is its exit code, the signal that ended it, or the error code if it did not start. */
function run(program, args, more = {}) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"], ...more });
    const timer = setTimeout(() => child.kill(), installMsMax);
    const stop = (signal) => child.kill(signal);
    process.on("SIGINT", stop).on("SIGTERM", stop);
    const output = [];
    child.stdout.on("data", (chunk) => output.push(chunk));
    child.stderr.on("data", (chunk) => output.push(chunk));
    const end = (code) => {
      clearTimeout(timer);
      process.off("SIGINT", stop).off("SIGTERM", stop);
      resolve({ code, output: Buffer.concat(output).toString() });
    };
    child.on("error", (error) => end(error.code));
    child.on("close", (code, signal) => end(code ?? signal));
  });
}
