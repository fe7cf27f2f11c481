import { once } from "node:events";
import { setImmediate as nextTurn } from "node:timers/promises";
import { connect, type TLSSocket } from "node:tls";
import type { TestEdge } from "./test-edge.ts";

const frameTypes = ["data", "headers", "priority", "reset", "settings", "push", "ping", "goaway", "window"] as const;
type FrameType = (typeof frameTypes)[number];

/** An HTTP/2 client in frames (RFC 9113): it does what a test says and nothing else, so it opens no window and answers no PING. */
export type RawSession = {
  socket: TLSSocket;
  /** The bytes of DATA that came, and the number of frames of each type. */
  received: { dataBytes: number } & Record<FrameType, number>;
  /** The error codes of the RST_STREAM and GOAWAY frames that came, and the settings of the server by identifier. */
  codes: { reset: number[]; goaway: number[] };
  settings: Map<number, number>;
  /** Sends one frame. */
  send(type: FrameType, flags: number, stream: number, payload: Buffer): void;
  /** Sends a frame over and over until the server closes the connection; returns how many bytes it sent. */
  flood(frame: Buffer): Promise<number>;
  /** Opens streams with a GET of a path, the next ones of this session. */
  open(path: string, count?: number): void;
  ping(): void;
  /** Lets the server send this many more bytes on a stream; stream 0 is the whole connection. */
  widen(stream: number, bytes: number): void;
  /** Resolves when so many streams have headers or are refused, and when the server has closed the connection. */
  settled(streams: number): Promise<void>;
  /** Resolves when so many frames of a type came; rejects where the connection closes before. */
  until(type: FrameType, count: number): Promise<void>;
  closed: Promise<void>;
};

/** Connects to the edge for a host, with `initialWindow` bytes as the window of each stream. */
export async function openRawSession(edge: TestEdge, host: string, initialWindow: number): Promise<RawSession> {
  const { port } = edge.addresses.https!;
  const socket = connect({ host: "127.0.0.1", port, servername: host, ca: edge.certificates.get(host)!.cert, ALPNProtocols: ["h2"] });
  socket.on("error", () => undefined);
  const closed = new Promise<void>((resolve) => void socket.once("close", () => resolve()));
  const received = { dataBytes: 0, ...Object.fromEntries(frameTypes.map((type) => [type, 0])) } as RawSession["received"];
  const codes: RawSession["codes"] = { reset: [], goaway: [] };
  const settings: RawSession["settings"] = new Map();
  await Promise.race([once(socket, "secureConnect"), closed]);
  const read = frameReader((type, payload) => {
    received[type] += 1;
    if (type === "data") received.dataBytes += payload.length;
    if (type === "reset") codes.reset.push(payload.readUInt32BE(0));
    if (type === "goaway") codes.goaway.push(payload.readUInt32BE(4));
    if (type !== "settings") return;
    for (let at = 0; at < payload.length; at += 6) settings.set(payload.readUInt16BE(at), payload.readUInt32BE(at + 2));
  });
  socket.on("data", (bytes: Buffer) => {
    read(bytes);
    socket.emit("frames");
  });
  socket.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  socket.write(Buffer.concat([frame(4, 0, 0, setting(4, initialWindow)), frame(4, 1, 0, Buffer.alloc(0))]));
  let opened = 0;

  async function reached(isReached: () => boolean): Promise<void> {
    while (!isReached() && !socket.closed) await Promise.race([once(socket, "frames"), closed]);
  }

  return {
    socket,
    received,
    codes,
    settings,
    send: (type, flags, stream, payload) => void socket.write(frame(frameTypes.indexOf(type), flags, stream, payload)),
    async flood(repeated) {
      const many = Buffer.concat(Array.from({ length: Math.ceil(65_536 / repeated.length) }, () => repeated));
      let bytes = 0;
      while (!socket.destroyed) {
        bytes += many.length;
        if (!socket.write(many)) await Promise.race([once(socket, "drain"), closed]).catch(() => closed);
        await nextTurn(); // for the server, which shares this process
      }
      return bytes;
    },
    open(path, count = 1) {
      const first = opened;
      opened += count;
      socket.write(Buffer.concat(Array.from({ length: count }, (_, index) => frame(1, 5, 2 * (first + index) + 1, requestOf(host, path)))));
    },
    ping: () => void socket.write(frame(6, 0, 0, Buffer.alloc(8))),
    widen: (stream, bytes) => void socket.write(frame(8, 0, stream, integer(bytes))),
    settled: (streams) => reached(() => received.headers + received.reset >= streams),
    async until(type, count) {
      await reached(() => received[type] >= count);
      if (received[type] < count) throw new Error(`the connection closed after ${received[type]} frames of type ${type}`);
    },
    closed,
  };
}

function frameReader(take: (type: FrameType, payload: Buffer) => void): (bytes: Buffer) => void {
  let rest = Buffer.alloc(0);
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    while (rest.length >= 9 && rest.length >= 9 + rest.readUIntBE(0, 3)) {
      const end = 9 + rest.readUIntBE(0, 3);
      const type = frameTypes[rest[3]!];
      if (type !== undefined) take(type, rest.subarray(9, end));
      rest = rest.subarray(end);
    }
  };
}

/** A frame of any type (RFC 9113, section 4.1). */
export function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

function setting(id: number, value: number): Buffer {
  return Buffer.concat([Buffer.of(0, id), integer(value)]);
}

function integer(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** `:method: GET` or POST, `:scheme: https`, then path and authority as literals without indexing (RFC 7541, section 6.2.2). */
export function requestOf(host: string, path: string, method: "GET" | "POST" = "GET"): Buffer {
  const text = (value: string): Buffer => Buffer.concat([Buffer.of(value.length), Buffer.from(value)]);
  return Buffer.concat([Buffer.of(method === "GET" ? 0x82 : 0x83, 0x87, 0x04), text(path), Buffer.of(0x01), text(host)]);
}
