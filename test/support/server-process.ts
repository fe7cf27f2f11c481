import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const program = fileURLToPath(new URL("../../bin/petstore.mjs", import.meta.url));

/** `petstore serve` as a process of its own on free ports. */
export type ServerProcess = {
  address: string;
  /** Ends it at once, as a power cut would. */
  kill(): Promise<void>;
  /** Asks it to stop, and resolves when its log says that it does. */
  terminate(): Promise<void>;
  /** The exit code; null after a kill. */
  exit: Promise<number | null>;
};

/** Makes an account whose limits no test reaches, in a data folder that no server holds, and gives its key. */
export async function createAccount(dataDir: string): Promise<string> {
  const figures = ["--plan", "enterprise", "--per-minute", "1000000000", "--per-day", "1000000000"];
  const args = [program, "accounts", "create", "--name", "Shop", ...figures, "--json"];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: { PATH: process.env["PATH"], DATA_DIR: dataDir } });
  return (JSON.parse(stdout) as { key: string }).key;
}

/** Starts it on a data folder. @throws with what it printed when it ends before it listens */
export async function startServer(dataDir: string): Promise<ServerProcess> {
  const port = await freePort();
  const env = { PATH: process.env["PATH"], DATA_DIR: dataDir, PORT: String(port), EDGE_HTTP_PORT: "0", EDGE_HTTPS_PORT: "0" };
  const child = spawn(process.execPath, [program, "serve"], { env, stdio: ["ignore", "pipe", "pipe"] });
  const said = { listening: Promise.withResolvers<void>(), stopping: Promise.withResolvers<void>() };
  const last: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface(stream).on("line", (line) => {
      last.push(line);
      if (last.length > 20) last.shift();
      if (line.startsWith("Pet Store is at")) said.listening.resolve();
      if (line.includes('"msg":"stopping"')) said.stopping.resolve();
    });
  }
  const exit = once(child, "exit").then(([code]) => code as number | null);
  const ended = exit.then((code) => Promise.reject(new Error(`the server ended with ${code}: ${last.join("\n")}`)));
  await Promise.race([said.listening.promise, ended]);
  ended.catch(() => undefined);
  return {
    address: `http://127.0.0.1:${port}`,
    async kill() {
      child.kill("SIGKILL");
      await exit;
    },
    async terminate() {
      child.kill("SIGTERM");
      await said.stopping.promise;
    },
    exit,
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
