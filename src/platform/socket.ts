import { once } from "node:events";
import { closeSync, constants, openSync, rmSync } from "node:fs";
import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import { connect } from "node:net";
import { userInfo } from "node:os";
import { basename, dirname, relative } from "node:path";
import { statusOf, type ProblemCode } from "./error-table.ts";
import { requireOwnSocket } from "./folder-access.ts";
import { attempt } from "./parse.ts";
import { Problem } from "./problem.ts";

const bodyBytesMax = 1 << 20;
const answerBytesMax = 16 << 20;
const connectionsMax = 64;
/** The longest path of a socket in bytes, without the final NUL (the kernels allow 104 on macOS, 108 on Linux). */
const pathBytesMax = 103;

/** Operations by name, such as `accounts.create`. Each checks its input and returns a JSON value. */
export type Operations = Readonly<Record<string, (input: unknown) => Promise<unknown>>>;

/** A call of an operation: `operator` is the system's user who made it, as the caller states. */
export type CallRecord = { operation: string; operator: string | undefined; input: unknown } & (
  | { result: unknown }
  | { refused: ProblemCode }
);

/** No process listens on the socket. */
export class NobodyListensError extends Error {}

/**
 * Serves operations on a Unix socket that only its owner may open (mode 0600). The caller has locked the folder, so a socket
 * file that exists was left by a process that died, and is replaced.
 *
 * @param onError called with errors that are not a `Problem`; the other side does not see them
 * @param onCalled called after each operation
 */
export async function openSocket(
  path: string,
  operations: Operations,
  onError: (error: unknown) => void,
  onCalled: (called: CallRecord) => void = () => undefined,
): Promise<{ close(): Promise<void> }> {
  const server = createServer({ requestTimeout: 30_000, headersTimeout: 10_000, connectionsCheckingInterval: 5_000 }, (req, res) => {
    answer(operations, req, res).catch((error: unknown) => {
      onError(error);
      res.destroy();
    });
  });
  server.maxConnections = connectionsMax;

  async function answer(known: Operations, req: IncomingMessage, res: ServerResponse): Promise<void> {
    const name = req.url?.slice(1) ?? "";
    let input: unknown;
    const noteCalled = (outcome: { result: unknown } | { refused: ProblemCode }): void =>
      onCalled({ operation: name, operator: operatorIn(req), input, ...outcome });
    try {
      const operation = Object.hasOwn(known, name) ? known[name] : undefined;
      if (!operation || req.method !== "POST") throw new Problem("not_found", `There is no operation ${name}.`);
      input = parse(await readText(req, bodyBytesMax));
      const result = await operation(input);
      noteCalled({ result });
      send(res, 200, result ?? {});
    } catch (error) {
      const { code, message } = error instanceof Problem ? error : new Problem("internal", "The server failed; its log says why.");
      noteCalled({ refused: code });
      if (code === "internal") onError(error);
      send(res, statusOf(code), { code, message });
    }
  }

  rmSync(path, { force: true });
  const short = shortened(path);
  // `listen` creates the socket before it returns, so the umask affects no other file, and the socket never has another mode.
  const umask = process.umask(0o177);
  try {
    // exclusive: the supervisor of several workers would create the socket, later and with its own umask
    server.listen({ path: short.path, exclusive: true });
  } finally {
    process.umask(umask);
  }
  await once(server, "listening");
  server.on("error", onError);

  return {
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeIdleConnections();
      const impatient = setTimeout(() => server.closeAllConnections(), 5_000);
      await closed; // which also removes the file, by its short path
      short[Symbol.dispose]();
      clearTimeout(impatient);
    },
  };
}

/**
 * Runs one operation of the process that listens on the socket.
 *
 * @throws NobodyListensError, or the Problem that the operation raised
 */
export async function callSocket(path: string, name: string, input: unknown, timeoutMs = 60_000): Promise<unknown> {
  const signal = AbortSignal.timeout(timeoutMs);
  const body = JSON.stringify(input);
  if (Buffer.byteLength(body) > bodyBytesMax) throw tooLarge(bodyBytesMax);
  requireOwnSocket(path);
  const headers = { "x-operator": userName() };
  try {
    using short = shortened(path);
    const req = request({ socketPath: short.path, path: `/${name}`, method: "POST", signal, headers });
    req.end(body);
    const [res] = (await once(req, "response")) as [IncomingMessage];
    const value: unknown = JSON.parse(await readText(res, answerBytesMax));
    if (res.statusCode === 200) return value;
    const { code, message } = value as { code: ProblemCode; message: string };
    throw new Problem(code, message);
  } catch (error) {
    if (signal.aborted) throw new Error(`the server did not answer within ${timeoutMs / 1_000} seconds`, { cause: error });
    const { code } = error as { code?: string };
    if (code === "ENOENT" || code === "ECONNREFUSED") throw new NobodyListensError(`nobody listens on ${path}`, { cause: error });
    throw error;
  }
}

/** Whether a process listens on the socket. Waits for a second at most. */
export async function isAnswered(path: string): Promise<boolean> {
  using short = attempt(() => shortened(path)); // its folder may be absent
  if (short === undefined) return false;
  const socket = connect(short.path);
  try {
    await once(socket, "connect", { signal: AbortSignal.timeout(1_000) });
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** The name of the user who runs this process; the number, if the system has no name for it. */
function userName(): string {
  const user = attempt(() => userInfo().username) ?? `${process.getuid?.() ?? ""}`;
  return encodeURIComponent(user).slice(0, 100);
}

function operatorIn({ headers }: IncomingMessage): string | undefined {
  const name = headers["x-operator"];
  return typeof name === "string" && /^[\w.%-]{1,100}$/.test(name) ? name : undefined;
}

/**
 * Returns a spelling of a socket's path that is short enough for the system: absolute, relative to the working directory or, on Linux, through
 * the open folder (proc_pid_fd(5)), which is closed when the result is disposed of.
 *
 * @throws Error if there is none, on other systems than Linux
 */
function shortened(path: string): Disposable & { path: string } {
  const nothing = (): void => undefined;
  if (process.platform === "win32") return { path: `\\\\.\\pipe\\${path.replaceAll("\\", "/")}`, [Symbol.dispose]: nothing };
  const fits = [path, relative(process.cwd(), path)].find((one) => Buffer.byteLength(one) <= pathBytesMax);
  if (fits !== undefined) return { path: fits, [Symbol.dispose]: nothing };
  if (process.platform !== "linux")
    throw new Error(`${path} is too long for a socket (over ${pathBytesMax} bytes): set DATA_DIR to a shorter path`);
  const folder = openSync(dirname(path), constants.O_RDONLY | constants.O_DIRECTORY);
  return { path: `/proc/self/fd/${folder}/${basename(path)}`, [Symbol.dispose]: () => closeSync(folder) };
}

async function readText(message: IncomingMessage, bytesMax: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw tooLarge(bytesMax);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Problem("invalid_request", "The body is not JSON.");
  }
}

function tooLarge(bytesMax: number): Problem {
  return new Problem("payload_too_large", `The body is over ${bytesMax} bytes.`);
}

function send(res: ServerResponse, status: number, value: unknown): void {
  const text = JSON.stringify(value);
  res.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text), connection: "close" }).end(text);
}
