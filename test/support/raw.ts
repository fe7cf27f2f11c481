import { once } from "node:events";
import { connect, type Server, type Socket } from "node:net";

/** An answer as it stood on the wire; header names in lower case. */
export type RawAnswer = { status: number; headers: Record<string, string>; body: string };

/** A connection on which a test writes bytes of its own, and reads answers one after the other. */
export type RawConnection = {
  socket: Socket;
  write(text: string | Uint8Array): Promise<void>;
  /** Returns the next answer, interim ones (`100 Continue`) included. @throws if the connection ends before the answer is whole */
  answer(options?: { head?: boolean }): Promise<RawAnswer>;
  close(): void;
};

/** Opens a connection to a service's address. */
export async function openRaw(address: string): Promise<RawConnection> {
  const { hostname, port } = new URL(address);
  const socket = connect(Number(port), hostname);
  let received = Buffer.alloc(0);
  let over = false;
  let wake = (): void => undefined;
  const end = (): void => {
    over = true;
    wake();
  };
  socket
    .on("data", (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      wake();
    })
    .on("close", end)
    .on("end", end)
    .on("error", end);
  await once(socket, "connect");

  async function more(what: string): Promise<void> {
    if (over) throw new Error(`the connection ended before ${what}: ${received.toString("latin1")}`);
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }

  async function answer({ head = false } = {}): Promise<RawAnswer> {
    let at = received.indexOf("\r\n\r\n");
    for (; at < 0; at = received.indexOf("\r\n\r\n")) await more("an answer's headers");
    const [start = "", ...lines] = received.subarray(0, at).toString("latin1").split("\r\n");
    const headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
    );
    const length = head ? 0 : Number(headers["content-length"] ?? 0);
    const bodyAt = at + 4;
    while (received.length < bodyAt + length) await more("an answer's body");
    const body = received.subarray(bodyAt, bodyAt + length).toString("utf8");
    received = received.subarray(bodyAt + length);
    return { status: Number(start.split(" ")[1]), headers, body };
  }

  return {
    socket,
    answer,
    write: (text) =>
      new Promise((resolve, reject) => {
        socket.write(text, (error) => (error ? reject(error) : resolve()));
      }),
    close: () => void socket.destroy(),
  };
}

/** Writes one request on a connection of its own and gives its answer. */
export async function sendRaw(address: string, text: string | Uint8Array, options?: { head?: boolean }): Promise<RawAnswer> {
  const connection = await openRaw(address);
  try {
    await connection.write(text);
    return await connection.answer(options);
  } finally {
    connection.close();
  }
}

/** Sends a part of a request and closes the connection; resolves when the server has noticed. */
export async function breakOff(address: string, server: Server, text: string): Promise<void> {
  const arrived = once(server, "connection") as Promise<[Socket]>;
  const connection = await openRaw(address);
  const [other] = await arrived;
  const seen = once(other, "close");
  await connection.write(text);
  connection.close();
  await seen;
}
