import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { HostileRequest } from "./requests.ts";

/** An answer takes longer only if it waits for events, or if the service hangs. */
const answerMs = 2_000;

export type Place = { port: number; servername?: string };

/** Sends requests of any bytes one after another, on one connection while the service keeps it open. */
export type Sender = {
  /** Returns the status of the answer, or 0 if the service closed the connection without one. */
  send(request: HostileRequest): Promise<number>;
  close(): void;
};

export function openSender({ port, servername }: Place): Sender {
  let socket: Socket | undefined;
  let sent = 0;

  function open(): Socket {
    const opened =
      servername === undefined
        ? connectTcp(port, "127.0.0.1")
        : connectTls({ port, host: "127.0.0.1", servername, rejectUnauthorized: false });
    opened.on("error", () => undefined);
    opened.once("close", () => {
      if (socket === opened) socket = undefined;
    });
    return opened;
  }

  return {
    async send(request) {
      socket ??= open();
      const used = socket;
      const answer = await exchange(used, bytesOf(request, servername ?? "localhost", ++sent), request.method === "HEAD");
      if (!answer.isReusable) {
        used.destroy();
        if (socket === used) socket = undefined;
      }
      return answer.status;
    },
    close: () => void socket?.destroy(),
  };
}

/** Writes a request and waits for its answer, or for the end of the connection. Of an event stream it reads only the head. */
function exchange(socket: Socket, bytes: Buffer, isHead: boolean): Promise<{ status: number; isReusable: boolean }> {
  return new Promise((resolve) => {
    let received: Buffer = Buffer.alloc(0);
    const giveUp = setTimeout(() => socket.destroy(), answerMs);
    const finish = ({ isReusable = false } = {}): void => {
      clearTimeout(giveUp);
      socket.off("data", take).off("close", end);
      resolve({ status: statusOf(received), isReusable });
    };
    const end = (): void => finish();
    const take = (chunk: Buffer): void => {
      received = received.length > 0 ? Buffer.concat([received, chunk]) : chunk;
      while (statusOf(received) === 100) received = received.subarray(received.indexOf("\r\n\r\n") + 4);
      if (isStream(received)) finish();
      else if (isWhole(received, isHead)) finish({ isReusable: !/^connection: close/im.test(headOf(received)) });
    };
    socket.on("data", take).once("close", end);
    socket.write(bytes);
  });
}

function headOf(received: Buffer): string {
  return received.toString("latin1", 0, Math.max(0, received.indexOf("\r\n\r\n")));
}

function statusOf(received: Buffer): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(received.toString("latin1", 0, 12))?.[1] ?? 0);
}

function isStream(received: Buffer): boolean {
  return /^content-type: text\/event-stream/im.test(headOf(received));
}

function isWhole(received: Buffer, isHead: boolean): boolean {
  const head = headOf(received);
  if (head === "") return false;
  const body = received.length - head.length - 4;
  const status = statusOf(received);
  if (isHead || status === 204 || status === 304) return true;
  if (/^transfer-encoding: chunked/im.test(head)) return received.subarray(-5).toString("latin1") === "0\r\n\r\n";
  const length = /^content-length: (\d+)/im.exec(head)?.[1];
  return length !== undefined && body >= Number(length);
}

/** Each `nth` gives another `X-Forwarded-For` address, so that no limit of an address ends the search. */
function bytesOf({ method, url, headers, body, chunkBytes }: HostileRequest, host: string, nth: number): Buffer {
  const own: [string, string][] = [];
  if (!headers.some(([name]) => name === "Host")) own.push(["Host", host]);
  if (!headers.some(([name]) => name === "X-Forwarded-For"))
    own.push(["X-Forwarded-For", `10.${nth >> 16}.${(nth >> 8) & 255}.${nth & 255}`]);
  if (body && chunkBytes === undefined) own.push(["Content-Length", String(body.length)]);
  if (body && chunkBytes !== undefined) own.push(["Transfer-Encoding", "chunked"]);
  const lines = [...own, ...headers].map(([name, value]) => `${name}: ${value}\r\n`);
  const head = Buffer.from(`${method} ${url.replaceAll(/[ \0\r\n]/g, "")} HTTP/1.1\r\n${lines.join("")}\r\n`, "latin1");
  if (!body) return head;
  return Buffer.concat([head, chunkBytes === undefined ? body : chunked(body, chunkBytes)]);
}

function chunked(body: Buffer, bytesEach: number): Buffer {
  const chunks: Buffer[] = [];
  for (let at = 0; at < body.length; at += bytesEach) {
    const part = body.subarray(at, at + bytesEach);
    chunks.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from("\r\n"));
  }
  return Buffer.concat([...chunks, Buffer.from("0\r\n\r\n")]);
}
