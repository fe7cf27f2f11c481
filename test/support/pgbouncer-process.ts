import { type ChildProcess, spawn } from "node:child_process";
import { chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./ports.ts";
import { programNamed } from "./programs.ts";

export const poolModes = ["session", "transaction", "statement"] as const;

/** A real pgbouncer in front of a PostgreSQL server, on a loopback port of its own. */
export type PgbouncerProcess = {
  /** A URL of the server, with the port of the pooler. */
  through(url: string): string;
  /** Changes settings while it runs. */
  reload(settings: Record<string, string>): Promise<void>;
  /** Stops it from answering while its connections stay open. */
  pause(): void;
  resume(): void;
  remove(): Promise<void>;
};

/** pgbouncer refuses to run as root: it is then started as `nobody`. */
const nobody = 65_534;

/**
 * Starts Debian's pgbouncer.
 *
 * @param url a database of the server
 * @param settings further ones, as `pool_mode`
 */
export async function startPgbouncer(url: string, settings: Record<string, string>): Promise<PgbouncerProcess> {
  const server = new URL(url);
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "petstore-pgbouncer-"));
  const file = join(folder, "pgbouncer.ini");
  const users = join(folder, "users.txt");
  const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
  writeFileSync(users, `${quoted(decodeURIComponent(server.username))} ${quoted(decodeURIComponent(server.password))}\n`);
  const write = (more: Record<string, string>): void => {
    const all = {
      listen_addr: "127.0.0.1",
      listen_port: `${port}`,
      unix_socket_dir: "",
      auth_type: "scram-sha-256",
      auth_file: users,
      ...more,
    };
    const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`);
    writeFileSync(file, `[databases]\n* = host=${server.hostname} port=${server.port}\n[pgbouncer]\n${lines.join("\n")}\n`);
  };
  write(settings);
  const asUser = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};
  if (asUser.uid !== undefined) for (const path of [folder, file, users]) chownSync(path, nobody, nobody);
  const program = programNamed(["pgbouncer"]);
  if (program === undefined) throw new Error("no pgbouncer: run `npm test`, which installs it");
  const started = spawn(program, [file], { stdio: ["ignore", "ignore", "pipe"], ...asUser });
  const ended = new Promise((resolve) => started.once("exit", resolve));
  let output = "";
  started.stderr.on("data", (text: Buffer) => (output = (output + text.toString()).slice(-100_000)));
  await says(started, "process up");
  return {
    through: (of) => Object.assign(new URL(of), { port: `${port}` }).href,
    async reload(more) {
      write({ ...settings, ...more });
      const reloaded = says(started, "got SIGHUP");
      started.kill("SIGHUP");
      await reloaded;
    },
    pause: () => void started.kill("SIGSTOP"),
    resume: () => void started.kill("SIGCONT"),
    async remove() {
      started.kill("SIGKILL");
      await ended;
      rmSync(folder, { recursive: true });
    },
  };

  async function says(from: ChildProcess, wanted: string): Promise<void> {
    const before = output.length;
    await new Promise<void>((resolve, reject) => {
      from.once("error", reject);
      from.once("exit", (code) => reject(new Error(`pgbouncer ended with ${code}: ${output}`)));
      from.stderr!.on("data", () => output.slice(before).includes(wanted) && resolve());
    });
  }
}
