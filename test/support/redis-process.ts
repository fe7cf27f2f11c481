import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./ports.ts";

/** A real `redis-server` for tests, on a loopback port of its own, that keeps nothing but what `SAVE` stores. */
export type RedisProcess = {
  url: string;
  /** Ends it with SIGKILL; `start` brings it back on the same port, with what `SAVE` stored last. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Stops it from answering while its connections stay open. */
  pause(): void;
  resume(): void;
  /** Ends it for good and removes its folder. */
  remove(): Promise<void>;
};

/**
 * @param tls the PEM files of its certificate; it then accepts only TLS
 * @param settings further arguments, such as `--maxmemory 2mb`
 */
export async function startRedis({
  password,
  tls,
  settings = [],
}: { password?: string; tls?: { cert: string; key: string }; settings?: string[] } = {}): Promise<RedisProcess> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "petstore-redis-"));
  const secret = password === undefined ? [] : ["--requirepass", password];
  const ports = tls
    ? ["--port", "0", "--tls-port", `${port}`, "--tls-cert-file", tls.cert, "--tls-key-file", tls.key, "--tls-auth-clients", "no"]
    : ["--port", `${port}`];
  let server: ChildProcess | undefined;

  async function start(): Promise<void> {
    const options = [...ports, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", folder, ...secret, ...settings];
    const started = spawn("redis-server", options, { stdio: ["ignore", "pipe", "inherit"] });
    server = started;
    await new Promise<void>((resolve, reject) => {
      started.once("error", reject);
      started.once("exit", (code) => reject(new Error(`redis-server ended with ${code}`)));
      started.stdout.on("data", (text: Buffer) => text.includes("Ready to accept connections") && resolve());
    });
  }

  async function stop(): Promise<void> {
    const stopping = server;
    if (stopping === undefined) return;
    server = undefined;
    const ended = new Promise((resolve) => stopping.once("exit", resolve));
    stopping.kill("SIGKILL");
    await ended;
  }

  await start();
  return {
    url: `${tls ? "rediss" : "redis"}://${password === undefined ? "" : `:${encodeURIComponent(password)}@`}127.0.0.1:${port}`,
    start,
    stop,
    pause: () => server?.kill("SIGSTOP"),
    resume: () => server?.kill("SIGCONT"),
    async remove() {
      await stop();
      rmSync(folder, { recursive: true });
    },
  };
}
